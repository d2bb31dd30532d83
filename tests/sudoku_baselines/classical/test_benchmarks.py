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
    parts = ["--parts", "named", "sizes", "--puzzles", str(path), "--plot", str(figure)]
    done = run("classical", *parts)
    assert done.returncode == 0, done.stderr
    assert "| easy (36) |" in done.stdout and "| Platinum Blonde (21) | 4736, " in done.stdout
    assert "mine.txt, 10-11 blanks | dancing links | 2 of 2 |" in done.stdout
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_dancing_links_beside_the_package():
    done = run("dancing_links")
    assert done.returncode == 0 and "| failures | " in done.stdout, done.stderr
    assert "exact_cover is not installed" in done.stdout or "exact_cover, handed" in done.stdout
