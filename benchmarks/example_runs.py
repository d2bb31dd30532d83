"""The figures of the examples that train with other libraries, seed by seed.

Runs an example as a user does, lets it play its test puzzles, and writes down what each of its
players solved, masked-random and the untrained network among them.

    python benchmarks/example_runs.py train_sb3_maskable_ppo --seeds 0 1 2
    python benchmarks/example_runs.py train_sb3_maskable_ppo --seeds 0 1 2 --options --no-curriculum
    python benchmarks/example_runs.py train_rllib_ppo --seeds 0 1 2
    python benchmarks/example_runs.py torchrl_ppo_masked --no-folder
"""

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

from results import Results, command_of, played
from sudoku_gym.evaluation import Evaluation

EXAMPLES = Path(__file__).parent.parent / "examples"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("example", help="name of a file in examples/ whose `main` compares players")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--out", type=Path, default=Path("runs/example-runs.json"))
    parser.add_argument("--no-folder", action="store_true", help="the example has no --run")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="of the example")
    options = parser.parse_args(argv)
    results = Results(options.out, command_of(__file__, argv))
    sys.path.insert(0, str(EXAMPLES))
    example = importlib.import_module(options.example)
    sys.path.remove(str(EXAMPLES))
    for seed in options.seeds:
        key = {"example": options.example, "options": " ".join(options.options), "seed": seed}
        if not results.lacks(key):
            continue
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            place = [] if options.no_folder else ["--run", folder]
            found = example.main([*place, "--seed", str(seed), *options.options])
        minutes = round((time.process_time() - start) / 60, 1)
        is_one = isinstance(next(iter(found.values())), Evaluation)
        for chosen, result in ({None: found} if is_one else found).items():
            name = "puzzles" if isinstance(chosen, str) else "blanks"
            where = {name: chosen or "minimal", "processor minutes in all": minutes}
            for player, evaluation in result.items():
                results.add({**key, **where, "player": player, **played(evaluation)})


if __name__ == "__main__":
    main()
