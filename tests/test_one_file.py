"""The programs of `examples/one_file`: short, on their own, the same for a seed, and they learn."""

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sudoku_curricula.curves import read_curves

FOLDER = Path(__file__).parent.parent / "examples/one_file"
MOST_LINES = 300
IMPORTS = {*sys.stdlib_module_names, "gymnasium", "numpy", "torch", "tyro", "sudoku_gym"}


class Program(NamedTuple):
    """What holds for a program; `main` returns results by player, "trained" among them."""

    tiny: str  # arguments that make it a matter of seconds
    learned: Callable[[dict[str, Any]], bool]  # whether a run with its defaults reached its figure
    curves: set[str]
    imports: frozenset[str] = frozenset()  # beside IMPORTS


def solves(rate: float) -> Callable[[dict[str, Any]], bool]:
    return lambda results: results["trained"].completion_rate >= rate


PROGRAMS = {
    "calphazero": Program(
        "--num-iterations 3 --num-envs 16 --num-simulations 8 --max-blanks 4 --test-puzzles 20",
        lambda results: results["train split, 100 simulations"].completion_rate > 0.9,
        {"losses/policy_loss", "losses/value_loss", "losses/entropy", "curriculum/blanks"},
    ),
    "expert_iteration": Program(
        "--size 4 --total-updates 20 --test-puzzles 50",
        solves(0.93),
        {"losses/placement_loss", "losses/policy_loss", "charts/search_evaluations"},
    ),
    "gflownet": Program(
        "--total-timesteps 6400 --num-envs 8 --puzzle 1...............",
        lambda results: results["trained"]["total_variation"] < 0.01,
        {"losses/trajectory_balance", "charts/total_variation", "charts/elbo", "charts/eubo"},
    ),
    "ppo": Program(
        "--total-timesteps 1024 --num-envs 32 --num-steps 16 --test-puzzles 100",
        solves(0.99),
        {
            *("losses/policy_loss", "losses/value_loss", "losses/entropy", "losses/approx_kl"),
            *("charts/learning_rate", "charts/episodic_return", "charts/episodic_length"),
            *("curriculum/blanks", "curriculum/success_rate"),
        },
        frozenset({"sudoku_curricula"}),
    ),
    "q_learning": Program(
        "--total-timesteps 3200 --num-envs 16 --learning-starts 160 --window 32 --test-puzzles 100",
        solves(0.99),
        {"losses/td_loss", "losses/q_values", "charts/episodic_return", "curriculum/blanks"},
    ),
}


def run(name: str, *arguments: str) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return module.main(arguments)
    finally:
        del sys.modules[name]


def test_every_program_has_a_row():
    assert sorted(PROGRAMS) == sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_short_and_on_its_own(name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    assert found <= IMPORTS | PROGRAMS[name].imports


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_and_a_seed_decides_all(name, tmp_path):
    curves = []
    for part in ("first", "second"):
        results = run(name, "--run-dir", str(tmp_path / part), *PROGRAMS[name].tiny.split())
        assert {"masked-random", "untrained", "trained"} <= set(results)
        (folder,) = (tmp_path / part).iterdir()
        curves.append(read_curves(folder))
    assert PROGRAMS[name].curves <= set(curves[0])
    assert curves[0] == curves[1]


@pytest.mark.nightly
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_learns(name, tmp_path):
    assert PROGRAMS[name].learned(run(name, "--run-dir", str(tmp_path)))
