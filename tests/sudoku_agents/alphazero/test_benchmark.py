"""The benchmark of the shipped network runs, and its figures are what it says."""

import json

import calphazero


def test_it_plays_and_writes_what_it_found(tmp_path, capsys):
    out = tmp_path / "figures.json"
    rows = calphazero.main(
        [
            *("--sets", "4x4", "--count", "4", "--retry", "--proofs", "2", "--untrained", "1"),
            *("--evaluations", "2000", "--restarts", "3", "--out", str(out)),
        ]
    )
    found = {row["player"]: row for row in rows}
    greedy = found["greedy, restarts=3"]
    assert found["naked singles"]["solved"] == 4
    assert greedy["solved"] == found["retry search"]["solved"] == 4
    assert found["retry search"]["evaluations"]["most"] >= 1
    assert found["retry search proves no solution"]["solved"] == 2
    assert found["retry search proves several solutions"]["solved"] == 2
    assert "untrained, seed 0" in found
    assert greedy["right of these"] == greedy["converged"] == 4
    saved = json.loads(out.read_text())
    assert saved["rows"] == rows and len({row["weights"] for row in rows}) == 1
    assert "| 4x4 | greedy, restarts=3 | 4 | 100.00 % |" in " ".join(
        capsys.readouterr().out.split()
    )
    saved["rows"][0]["count"] = 5
    out.write_text(json.dumps(saved))
    again = calphazero.main(["--sets", "4x4", "--count", "4", "--no-greedy", "--out", str(out)])
    assert again[0]["count"] == 5  # it is not played again
