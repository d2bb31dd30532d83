import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def run(name, *arguments):
    """Run a script as a person does: one of them starts processes, which import it again."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--smoke", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_named_boards_the_figure_and_a_list_of_ones_own(tmp_path):
    path, figure = tmp_path / "mine.txt", tmp_path / "figure.png"
    path.write_text(".23.3.1.21......\n...4..1..14..3..\n", encoding="utf-8")
    written = ["--out", str(tmp_path / "figures.json"), "--plot", str(figure)]
    done = run("classical", "--parts", "named", "sizes", "--puzzles", str(path), *written)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["|", "easy", "(36)", "|", "2,"] in [line[:5] for line in lines]
    assert "mine, 10-11 blanks" in done.stdout
    assert ["|", "dancing", "links", "|", "2", "|", "100.00", "%"] in [line[:8] for line in lines]
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_dancing_links_beside_the_package(tmp_path):
    done = run("dancing_links", "--out", str(tmp_path / "figures.json"))
    assert done.returncode == 0 and "| failures | " in done.stdout, done.stderr
    assert "exact_cover is not installed" in done.stdout or "exact_cover, handed" in done.stdout
