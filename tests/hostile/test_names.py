"""Names that look like something else to what prints them: each is shown as it was written."""

import io
import warnings

import pytest
from rich.console import Console

from sudoku_gym import cli
from sudoku_gym.cli.terminal import strip_control, table
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.evaluation.games import evaluate
from sudoku_gym.policies import load_policy
from sudoku_gym.puzzles import load

# The next one found is one more line.
NAMES = [
    "runs/a[/b]",
    "runs/[lr=0.1] x",
    "[bold]",
    "[/]",
    "[link=x]y[/link]",
    "a\\",
    "\\[a]",
    ":smile:",
    "$a_1$",
    "$\\frac{$",
    "_run",
    "__",
    "a%b{c}",
    "λ",
    "a|b",
    " a  b ",
]
CONTROLS = ["\x1b[31mred", "two\nlines", "back\b\b\b", "\x9b2J", "\u202eleft", "\r", "\udce9"]


def printed(rendered):
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    console.print(rendered)
    return console.file.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_a_table_shows_names_as_they_are(name):
    shown = printed(table(["policy", name], [[name, name]], title=f"bank {name}, seed 0"))
    assert shown.count(name) == 4


@pytest.mark.parametrize("name", CONTROLS)
def test_a_table_obeys_no_name(name):
    shown = printed(table(["policy"], [[name]], title=name))
    assert name not in shown and "\x1b" not in shown
    assert strip_control(name).isprintable()
    strip_control(name).encode()


@pytest.mark.parametrize("name", NAMES)
def test_markdown_keeps_its_columns(name):
    results = {name: evaluate(load_policy("naked-singles"), load("4x4")[:2])}
    head, rule, row = to_markdown(results).replace(r"\|", "").splitlines()
    assert head.count("|") == rule.count("|") == row.count("|")


@pytest.mark.parametrize("name", [*NAMES, *CONTROLS])
def test_the_command_repeats_a_name_in_one_line(capsys, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["evaluate", name]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and captured.err[:-1].isprintable()


def test_a_run_in_a_folder_of_such_a_name_ends_well(capsys, tmp_path):
    command = pytest.importorskip("sudoku_learning.training.command")

    class Nothing:
        def __init__(self, config, make_learner):
            self.config = config

        def run(self, console):
            pass

    config = pytest.importorskip("sudoku_agents.calphazero.config").CAlphaZeroConfig
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "Training", Nothing)
        for name in NAMES:
            arguments = ["--run", f"runs/{name}"]
            assert command.train_cli(config, None, "any", arguments) == 0
            assert f"The run is in runs/{name}: " in capsys.readouterr().out


def test_a_legend_shows_names_as_they_are(tmp_path):
    plots = pytest.importorskip("sudoku_curricula.plots")
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure()
    legend = figure.legend([Line2D([], []) for _ in NAMES], plots._legend_safe(NAMES))
    plots._disable_mathtext(legend)
    assert [text.get_text().strip() for text in legend.get_texts()] == [n.strip() for n in NAMES]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(tmp_path / "legend.png")


OPTIONS = ["a=1&" * 50_000, "node_limit=" + "9" * 5_000, "node_limit=" + "[" * 100_000, "1" * 9_999]
OPTIONS += ["node_limit=[" + "1," * 10_000 + "1]", "node_limit=" + "9" * 400]


@pytest.mark.parametrize("options", OPTIONS)
def test_options_of_any_length_are_refused_in_a_few_words(options):
    with pytest.raises(ValueError) as told:
        load_policy(f"dlx?{options}")
    assert len(str(told.value)) < 1_000


def test_a_policy_of_the_script_itself():
    """`__main__` has no specification, as other modules have."""
    with pytest.raises(ValueError, match=r"the module __main__ .*has no 'NoPolicy'"):
        load_policy("__main__:NoPolicy")


@pytest.mark.parametrize("name", ["missing_module:{}", "missing_{}:x", "numpy:{}", "{}-:x"])
def test_a_long_path_is_refused_in_a_few_words(name):
    with pytest.raises(ValueError) as told:
        load_policy(name.format("x" * 100_000))
    assert len(str(told.value)) < 700
