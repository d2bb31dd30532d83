"""The benchmark of restarts runs, and says of each policy what it solved and what that took."""

import json

import restarts


def test_it_makes_puzzles_plays_them_and_writes_what_it_found(tmp_path, capsys):
    out = tmp_path / "figures.json"
    small = ("--count", "3", "--parents", "4", "--steps", "20", "--out", str(out))
    names = ("hidden-singles", "calphazero?rounds=256&restarts=1")
    untrained, floor, network = restarts.main([*small, "--policies", *names])
    assert untrained["policy"] == "untrained, seed 0"
    assert untrained["count"] == floor["count"] == network["count"] == 3
    assert network["solved"] > max(untrained["solved"], floor["solved"])
    assert network["converged"] >= network["wrong of these"] == 0 and network["rounds"] >= 16
    assert "rounds" not in floor
    saved = json.loads(out.read_text())
    assert saved["rows"] == [untrained, floor, network] and len(saved["ratings"]) == 3
    assert capsys.readouterr().out.startswith("ratings ")
