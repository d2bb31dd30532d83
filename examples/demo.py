"""Train a network to solve 9x9 by itself, then let it play puzzles it has never seen.

python examples/demo.py            # two minutes of one core; writes runs/demo
tensorboard --logdir runs/demo

Expert iteration (`sudoku-gym train expert-iteration`): a backtracking search, guided by the
network, solves training puzzles, and the network learns from the solutions that it finds. The
better it is, the better it searches. No stored solution and no other solver is used.
"""

import argparse
import time
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_curricula.curves import COMPLETION_RATE
from sudoku_curricula.plots import plot_runs
from sudoku_curricula.schedules import TargetConfig
from sudoku_gym import compare, evaluate, load_policy, puzzles
from sudoku_gym.app.game import Game
from sudoku_gym.envs.rendering import save_film
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.storage.atomic import write_json
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, Network, seeded
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Training, free_folder

TASKS = "board=4x4 + board=9x9 x blanks=40,45,50,stored"  # from easy to hard
FLOORS = ("masked-random", "naked-singles", "hidden-singles")
SEED = 3  # chosen because with it the network solves nothing before training
LUCKIEST = 6  # of ten untrained networks, seeds 0 to 9
ROUNDS = 256  # of messages each time it is asked, at most; while it trains, held-out games take 32


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--run",
        type=Path,
        default=Path("runs/demo"),
        help="folder to write to; if it is taken, another one beside it",
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the training; default: 3")
    parser.add_argument("--smoke", action="store_true", help="two iterations and few puzzles")
    options = parser.parse_args(argv)
    smoke, rounds = options.smoke, 16 if options.smoke else ROUNDS
    config = configuration(free_folder(options.run), options.seed, smoke)
    torch.set_num_threads(1)  # more threads on a small network are slower
    console = Console()
    start = time.perf_counter(), time.process_time()

    console.rule("1. Train from 4x4 to minimal 9x9: training puzzles only, no solver")
    training = Training(config, ExpertIterationLearner)
    before = deepcopy(training.learner.network)
    validation = puzzles.load("9x9", split="validation")
    with SummaryWriter(config.run) as writer:  # where the curve of minimal puzzles begins
        begin = evaluate(training.learner.policy(), validation[: config.validation_games])
        writer.add_scalar(COMPLETION_RATE, begin.completion_rate, 0)
    training.run(console)
    print(f"{training.seconds:.0f} processor seconds, held-out games included\n")
    floors = {name: load_policy(name) for name in FLOORS}
    draw_curves(config.run, compare(floors, validation, seed=SEED))

    console.rule("2. Minimal 9x9 puzzles of the test split")
    untrained = {
        "before training": policy_of(before, rounds, config.threshold),
        "untrained, luckiest of ten": policy_of(luckiest(config), rounds, config.threshold),
    }
    trained = load_policy(config.run, rounds=rounds, restarts=8)
    retry = load_policy(config.run, rounds=rounds, restarts=0, search="best-first")
    test = puzzles.load("9x9", split="test")
    test = test[:: len(test) // 256][: 8 if smoke else 256]
    minimal = compare(floors, test, seed=SEED)
    few = test[::4]  # an untrained network is in doubt about every move, so it thinks for long
    minimal |= compare({f"{name}*": policy for name, policy in untrained.items()}, few, seed=SEED)
    minimal |= compare({"trained, greedy": trained, "trained, best-first search": retry}, test)
    print(f"\n{to_markdown(minimal)}\n\n* on every 4th of the {len(test)} puzzles: {len(few)}")
    asked = retry.solver.search(test.puzzles, test.geometry).nodes
    half, nearly_all = np.quantile(asked, [0.5, 0.95], method="higher")
    print(
        "Evaluations of the network that the best-first search took for a puzzle: "
        f"median {half}, for 95 % of them at most {nearly_all}, most {asked.max()}\n"
    )

    console.rule("3. Other sizes; it has never seen 6x6 and 16x16")
    policies = floors | untrained | {"trained, greedy": trained}
    others = {}
    for name, boards in other_sizes(smoke).items():
        others[name] = compare(policies, boards, seed=SEED)
        print(f"\n{name}: {len(boards)} puzzles of the test split\n{to_markdown(others[name])}")

    film = config.run / "9x9.gif"
    solved = minimal["trained, greedy"].solved & ~minimal["hidden-singles"].solved
    fits = solved & (test.grades == GRADES.index("search"))
    game = Game(trained, test.puzzles[fits.argmax()], test.geometry, SEED, heat=False)
    save_film((game.draw(size=None) for _ in game.play()), film)

    seconds, processor = time.perf_counter() - start[0], time.process_time() - start[1]
    figures = {
        "command": f"python examples/demo.py --seed {options.seed}",
        "seed": options.seed,
        "processor seconds": {"training": round(training.seconds), "all": round(processor)},
        "minimal 9x9": figures_of(minimal),
        **{name: figures_of(results) for name, results in others.items()},
    }
    write_json(config.run / "figures.json", figures, indent=1)
    console.rule(f"Done in {seconds:.0f} s, {processor:.0f} processor seconds")
    print(f"curves      {config.run / 'curves.png'}, or: tensorboard --logdir {config.run}")
    print(f"figures     {config.run / 'figures.json'}")
    print(f"one solve   {film}, a puzzle that takes more than singles, locked candidates and pairs")
    print(f"checkpoint  {config.run}: sudoku-gym compare hidden-singles {config.run} --puzzles 9x9")
    return minimal, others


def configuration(run, seed, smoke):
    """Return the configuration; tasks get harder while held-out success is above a half."""
    config = ExpertIterationConfig(
        run=run,
        seed=seed,
        iterations=18,
        games=32,
        as_stored=0.0,  # the curriculum says how many blanks
        validation_games=32,
        evaluate_every=1,
        curriculum=TargetConfig(tasks=TASKS),
        optimizer=OptimizerConfig(4e-3, 24, constant_share=0.3),
        recurrent=RecurrentConfig(updates=40),
        network=FactorGraphConfig(
            16, 16, test_rounds=32, intersections=True, convergence_margin=1.0
        ),
    )
    if not smoke:
        return config
    few = {"iterations": 2, "games": 4, "validation_games": 2}
    optimizer = replace(config.optimizer, batch_size=4, constant_share=0.4)
    recurrent = RecurrentConfig(updates=4)
    network = replace(config.network, test_rounds=16)
    return replace(config, optimizer=optimizer, recurrent=recurrent, network=network, **few)


def draw_curves(run, floors):
    """Draw the curves of the run, that of minimal puzzles beside what needs no learning."""
    singles = FLOORS[1:]  # random play solves none, and so would lie on the axis
    rates = {name.replace("-", " "): floors[name].completion_rate for name in singles}
    plot_runs([run], run / "curves.png", floors={COMPLETION_RATE: rates})


def luckiest(config):
    """Return the untrained network that plays best of ten.

    The structure alone makes random weights compare the placements of each cell and unit, and some
    happen to prefer those that few others rival; a trained network has learned what it solves
    beyond this one.
    """
    return seeded(
        LUCKIEST, partial(Network, config.network, POLICY_AND_VALUE, Geometry.standard(9))
    )


def policy_of(network, rounds, threshold):
    """Return the greedy policy of a network with the given number of rounds an evaluation."""
    network.body.rounds = rounds
    return CAlphaZeroPolicy(network, threshold=threshold)


def other_sizes(smoke):
    """Return puzzles of the test splits: minimal 4x4 and 6x6, and 16x16 with 130 blanks."""
    source = BankSource(puzzles.load("16x16", split="test"))
    large, _ = source.sample(1 if smoke else 8, 130, np.random.default_rng(SEED))
    step = 20 if smoke else 1
    return {
        "minimal 4x4": puzzles.load("4x4", split="test")[:: 60 * step],
        "minimal 6x6": puzzles.load("6x6", split="test")[:: 4 * step],
        "16x16 with 130 blanks": large,
    }


def figures_of(results):
    """Return what a file says of some policies: the share solved with its 95 % interval, in %."""
    return {
        name.rstrip("*"): {
            "solved": int(result.solved.sum()),
            "count": len(result.solved),
            "percent": round(100 * result.completion_rate, 1),
            "interval": [round(100 * end, 1) for end in result.interval],
        }
        for name, result in results.items()
    }


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:  # of an option: one line says what is wrong
        raise SystemExit(f"demo.py: {error}") from None
