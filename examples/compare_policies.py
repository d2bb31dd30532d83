"""Compare policies by how hard the puzzles are: a table with intervals, the time, and a picture.

python examples/compare_policies.py                              # writes comparison.png
python examples/compare_policies.py hidden-singles runs/first --bank 9x9-hard
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sudoku_gym import evaluate, load_policy, puzzles
from sudoku_gym.evaluation import percent

DEFAULT = ["naked-singles", "hidden-singles", "fractional-bp", "expert-iteration"]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="*", default=DEFAULT, help="names, files or run folders")
    parser.add_argument("--bank", default="9x9", help="whose test split is played")
    parser.add_argument("--count", type=int, default=500, help="puzzles at most")
    parser.add_argument("--out", type=Path, default=Path("comparison.png"))
    parser.add_argument("--smoke", action="store_true", help="a few puzzles only")
    options = parser.parse_args(argv)

    test = puzzles.load(options.bank, split="test")
    test = test[:: -(-len(test) // (24 if options.smoke else options.count))]
    grades = [name for i, name in enumerate(puzzles.GRADES) if (test.grades == i).any()]
    print(f"{options.bank}: {len(test)} puzzles of the test split\n")
    print(f"| policy | {' | '.join(grades)} | ms per puzzle |")
    print("|---|" + "---:|" * (len(grades) + 1))

    results = {}
    for name in options.policies:
        policy = load_policy(name)
        evaluate(policy, test[:4])  # what is compiled at the first call is no part of the time
        results[name] = {}
        for grade in grades:
            boards = test[test.grades == puzzles.GRADES.index(grade)]
            results[name][grade] = evaluate(policy, boards)
        cells = []
        for result in results[name].values():
            low, high = result.interval
            cells.append(f"{percent(result.completion_rate)} ({percent(low)} to {percent(high)})")
        seconds = sum(result.seconds for result in results[name].values())
        print(f"| {name} | {' | '.join(cells)} | {1000 * seconds / len(test):.2f} |")

    draw(results, grades, options.out)
    print(f"\npicture  {options.out}")
    return results


def draw(results, grades, path):
    """Draw a line a policy, with its intervals."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="hardest technique that the puzzle takes", ylabel="solved")
    for i, (name, by_grade) in enumerate(results.items()):
        rates = np.array([result.completion_rate for result in by_grade.values()])
        ends = np.array([result.interval for result in by_grade.values()]).T
        places = np.arange(len(grades)) + 0.06 * i  # side by side, so that intervals stay apart
        errors = np.abs(ends - rates)
        axes.errorbar(places, rates, errors, marker="o", capsize=3, label=name)
    axes.set_xticks(range(len(grades)), grades)
    axes.set_ylim(-0.02, 1.02)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
