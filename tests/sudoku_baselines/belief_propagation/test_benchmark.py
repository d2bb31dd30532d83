import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "belief_propagation.py"


def run(*arguments):
    command = [sys.executable, str(SCRIPT), "--smoke", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_tables_and_figure(tmp_path):
    path, figure = tmp_path / "mine.txt", tmp_path / "figure.png"
    path.write_text(".23.3.1.21......\n...4..1..14..3..\n", encoding="utf-8")
    out = tmp_path / "figures.json"
    written = ("--out", str(out), "--plot", str(figure))
    done = run("--puzzles", str(path), *written, "--methods", "eq. 5", "fractional")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]  # cells are padded
    assert any(
        line.startswith("| + placements (fractional-bp) | 100.0 | 100.0 |") for line in lines
    )
    assert "| eq. 5, check " in done.stdout and "max-product, check" not in done.stdout
    assert "mine, 2 puzzles, 10.5 blanks on average" in done.stdout
    assert "one wrong given in each puzzle" in done.stdout
    rows = json.loads(out.read_text())["rows"]
    assert [row["N"] for row in rows if row["part"] == "time"] == [4, 6]
    assert figure.read_bytes().startswith(b"\x89PNG")
