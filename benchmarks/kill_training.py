"""Kill a training again and again, and compare its end with that of a run left alone.

The training is `sudoku-gym train` in a process of its own, one thread, a checkpoint after every
iteration. SIGKILL comes at a random moment of a random iteration, or while a checkpoint
is being written, or while the process still starts; each time the run is resumed. In the end
weights, optimizer, replay and state must be those of the other run, byte by byte, and so must the
curves.

    python benchmarks/kill_training.py
    python benchmarks/kill_training.py --kills 3 --iterations 8 --seed 1
    python benchmarks/kill_training.py --trainer expert-iteration
"""

import argparse
import os
import re
import subprocess
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from results import command_of, keep
from sudoku_curricula.curves import STEPS_PER_SECOND, read_curves
from sudoku_gym.evaluation.intervals import wilson_interval

TRAINERS = {  # options, and the parts that follow them
    "calphazero": (
        *("--games", "32", "--validation-games", "32", "--search.simulations", "16"),
        *("network:factor-graph", "--network.channels", "8", "--network.rounds", "4"),
        *("curriculum:success-rate", "--curriculum.threshold", "0.5"),
    ),
    "expert-iteration": (
        *("--env", "Sudoku6x6-v0", "--envs", "Sudoku4x4-v0", "Sudoku6x6-v0"),
        *("--games", "8", "--validation-games", "8", "--evaluate-every", "1"),
        *("--recurrent.updates", "6", "--optimizer.batch-size", "8", "--search.evaluations", "50"),
        *("--network.channels", "8", "--network.rounds", "4", "--network.test-rounds", "8"),
        *("curriculum:success-rate", "--curriculum.threshold", "0.5"),
    ),
    "dqn": (
        *("--games", "16", "--validation-games", "16", "--replay.capacity", "400"),
        *("--replay.priority", "0.6", "--optimizer.batch-size", "16", "--updates.segments", "2"),
        *("network:factor-graph", "--network.channels", "8", "--network.rounds", "4"),
        *("curriculum:success-rate", "--curriculum.threshold", "0.5"),
    ),
    "q-learning": ("--games", "32", "--validation-games", "16"),
}
FILES = ("weights.safetensors", "optimizer.safetensors", "replay.npz", "state.json")
WRITING = 0.01  # seconds that a checkpoint takes, about
LINE = re.compile(r"^ *(\d+)  ", re.MULTILINE)  # the console's line of an iteration


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trainer", choices=TRAINERS, default="calphazero")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0, help="of the training and of the moments")
    parser.add_argument("--out", type=Path, help="a JSON file; other parts in it stay")
    options = parser.parse_args(argv)
    if options.iterations <= 2 * options.kills:
        parser.error(f"{options.kills} kills take more than {2 * options.kills} iterations")
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        start, seconds = run_alone(whole, options)
        print(f"left alone: {start:.1f} s to start, {seconds:.2f} s an iteration")
        kinds = Counter()
        for number, kill in enumerate(moments(options, start, seconds), 1):
            kinds[run_until_killed(killed, options, number, *kill)] += 1
        check_resumed(killed, latest(killed), finish(training(killed, options)))
        compare(killed, whole, options.iterations)
    total = kinds.total()
    print("the end is the same, byte by byte")
    low, high = wilson_interval(total, total)
    row = {
        "kills": total,
        "went on and ended alike": total,
        "95 % interval": f"{100 * low:.1f} to {100 * high:.1f} %",
        **{f"killed {doing}": count for doing, count in kinds.items()},
    }
    keep(options.out, f"kills of {options.trainer}", command_of(__file__, argv), [row])
    return kinds


def moments(options, start, seconds):
    """Draw the moments of the kills.

    Yields:
        The iteration to wait for, whether to wait for the next checkpoint's writing then, and how
        many seconds to wait after that: if the process is still starting, and if not.
    """
    rng = np.random.default_rng(options.seed)
    latest_start = options.iterations - 2 * options.kills  # a kill is late by two at most
    for iteration in np.sort(rng.integers(latest_start, size=options.kills)):
        writing, part = bool(rng.random() < 0.4), rng.random()
        yield int(iteration), writing, part * start, part * (WRITING if writing else seconds)


def run_alone(run, options):
    """Train to the end; return the seconds until the run begins, and those of an iteration."""
    begin = time.perf_counter()
    process = training(run, options)
    wait_for(lambda: (run / "config.json").exists(), process)
    start = time.perf_counter() - begin
    finish(process)
    return start, (time.perf_counter() - begin - start) / options.iterations


def run_until_killed(run, options, number, iteration, writing, while_starting, while_running):
    """Start or resume the training and kill it; return what it was doing."""
    before = latest(run)
    process = training(run, options)
    if before >= iteration and not writing:
        time.sleep(while_starting)
    else:
        wait_for(lambda: latest(run) >= iteration, process)
        if writing:
            wait_for(lambda: unfinished(run), process)
        time.sleep(while_running)
    if process.poll() is not None:
        raise SystemExit(f"kill {number}: the training was over: give it more --iterations")
    process.kill()
    output = process.communicate()[0]
    check_resumed(run, before, output)
    if unfinished(run):
        doing = "writing a checkpoint"
    else:
        doing = "iterating" if LINE.search(output) else "starting or in its first iteration"
    print(
        f"kill {number:2d}: started after iteration {before}, killed after {latest(run)}, {doing}"
    )
    return doing


def training(run, options):
    """Start the training; resume if there is something to resume."""
    resume = ["--resume"] if (run / "config.json").exists() else []
    counts = [f"--{name}={options.iterations}" for name in ("iterations", "extra-iterations")]
    program = Path(sysconfig.get_path("scripts")) / "sudoku-gym"
    common = ["--run", str(run), "--seed", str(options.seed), "--checkpoint-every", "1"]
    return subprocess.Popen(
        [
            *(str(program), "train", options.trainer),
            *(*common, *counts, *resume, *TRAINERS[options.trainer]),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process):
    """Wait for the end of a training and return its output."""
    output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"the training failed:\n{output}")
    return output


def wait_for(condition, process):
    """Wait until the condition holds or the process has ended."""
    while not condition() and process.poll() is None:
        time.sleep(0.001)


def latest(run):
    """Return the iteration of the latest checkpoint, 0 if there is none."""
    names = (path.name for path in (run / "checkpoints").glob("*"))
    return max((int(name) for name in names if name.isdigit()), default=0)


def unfinished(run):
    """Say whether a checkpoint is half written or half removed."""
    return any(not path.name.isdigit() for path in (run / "checkpoints").glob("*"))


def check_resumed(run, before, output):
    """Hold the training to have gone on after the checkpoint of iteration `before`."""
    first = LINE.search(output)
    if (first and int(first[1]) != before + 1) or "Error" in output or "sudoku-gym:" in output:
        raise SystemExit(f"{run} was to continue after iteration {before}, but:\n{output}")


def compare(killed, whole, iterations):
    """Hold the two runs to be equal in all but their speed."""
    name = f"checkpoints/{iterations:06d}"
    for file in FILES:
        if (killed / name / file).read_bytes() != (whole / name / file).read_bytes():
            raise SystemExit(f"{file} of iteration {iterations} is another one")
    found, wanted = read_curves(killed), read_curves(whole)
    for tag in wanted.keys() - {STEPS_PER_SECOND}:
        if found[tag] != wanted[tag]:
            raise SystemExit(f"the curve {tag} is another one: {found[tag]}, not {wanted[tag]}")


if __name__ == "__main__":
    main()
