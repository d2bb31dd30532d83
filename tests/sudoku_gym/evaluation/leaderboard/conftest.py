"""A leaderboard of two small sets and two policies, and ways to play it without processes."""

import json
import os
import sys
import time
from dataclasses import asdict
from multiprocessing import Pipe
from threading import Thread

import pytest

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard import (
    LeaderboardConfig,
    cells,
    fixed_sets,
    play_leaderboard,
    players,
    read_leaderboard,
    runs,
    verification,
)
from sudoku_gym.evaluation.leaderboard import play as play_module

SETS = [
    {"name": "4x4", "title": "4x4", "bank": "4x4", "count": 140, "subset": 128, "timed": True},
    {
        "name": "9x9",
        "title": "9x9",
        "bank": "9x9",
        "count": 4,
        "subset": 2,
        "grade": "hidden singles",
    },
]
ROWS = {"masked-random": "floor", "naked-singles": "floor"}


@pytest.fixture
def exchange(tmp_path, monkeypatch):
    """Exchange what is played: `exchange(sets=..., seed=...)`; return the file of the sets."""

    def call(sets=SETS, seed=0):
        file = tmp_path / "fixed_sets.json"
        file.write_text(json.dumps(sets))
        monkeypatch.setattr(fixed_sets, "_SETS", file)
        monkeypatch.setattr(play_module, "SEED", seed)
        for module in (play_module, verification):
            monkeypatch.setattr(module, "listed_rows", lambda: dict(ROWS))
        fixed_sets.fixed_sets.cache_clear()
        return file

    yield call
    fixed_sets.fixed_sets.cache_clear()


@pytest.fixture
def small(exchange):
    return exchange()


@pytest.fixture
def in_this_process(monkeypatch):
    """Perform tasks in a thread, whose processor time is this process's.

    Processes below it count for no policy: they are other tests' (Ray's, say).
    """
    monkeypatch.setattr(players, "processor_seconds", lambda pid: time.process_time())

    def perform(tasks, jobs):
        for task in tasks:
            ours, theirs = Pipe()
            thread = Thread(target=players.serve_policy, args=(theirs,))
            thread.start()
            with ours:
                remote = players.RemotePolicy(ours, os.getpid(), task.limit)
                *_, cell = cells.perform_task(task, remote)
            thread.join()
            yield task, cell

    return perform


def described(policies, limit):
    return {policy: runs.load_described(policy)[1] for policy in policies}, {}


@pytest.fixture
def play(tmp_path, monkeypatch, in_this_process):
    """Play into a file in this process: `play(path=..., only=...)`; return what was done."""
    monkeypatch.setattr(play_module, "perform", in_this_process)
    monkeypatch.setattr(play_module, "describe_policies", described)
    monkeypatch.setattr(runs, "_commit", str)  # git takes most of such a run
    monkeypatch.setattr(cells, "_MAX_LAPS", 2)

    def call(path=tmp_path / "board.json", **changes):
        done = []
        config = LeaderboardConfig(**{"budget": 300.0, "out": path, **changes})
        results, lost = play_leaderboard(config, done.append)
        assert lost == []
        cells = [line for line in done if line.startswith(("played", "timed"))]
        return results, [line.split(": ")[1] for line in cells]

    return call


@pytest.fixture
def own_policies(tmp_path, monkeypatch):
    """A file of third-party policies that `module:attribute` finds."""
    (tmp_path / "third_party.py").write_text(POLICIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins.entry_points, "_fallback_folders", set())
    yield
    sys.modules.pop("third_party", None)


POLICIES = '''
import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sudoku_gym.board.actions import sample_actions
from sudoku_gym.evaluation.leaderboard import players
from sudoku_gym.puzzles import load


class First:
    """Plays the first legal action, counted from either end."""

    def __init__(self, last: bool = False) -> None:
        self.last = last

    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        if self.last:
            return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(1)
        return action_masks.argmax(1)


class SmallOnly(First):
    """Refuses boards that are larger than 4x4."""

    def reset(self, puzzles, geometry, rng):
        if geometry.size > 4:
            raise ValueError(f"knows 4x4, not {geometry.name}")


class Breaks(First):
    def act(self, boards, action_masks):
        raise KeyError("lost")


class BreaksLate(First):
    """Plays some batches, and then no more."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 1

    def reset(self, puzzles, geometry, rng):
        self.left -= geometry.size == 4 and len(puzzles) > 1
        if self.left < 0:
            raise ValueError("out of luck")


class Slow(First):
    def act(self, boards, action_masks):
        start = time.process_time()
        while time.process_time() < start + 0.01:
            pass
        return super().act(boards, action_masks)


class Compiles(First):
    """Takes a second for its first board."""

    is_compiled = False

    def act(self, boards, action_masks):
        start = time.process_time()
        while not self.is_compiled and time.process_time() < start + 1.0:
            pass
        self.is_compiled = True
        return super().act(boards, action_masks)


class FailsLater(First):
    games = 0

    def reset(self, puzzles, geometry, rng):
        self.games += 1
        if self.games > 1:
            self.fail()

    def fail(self):
        raise ValueError("no more")


class NeedsMoreLater(FailsLater):
    def fail(self):
        raise ModuleNotFoundError("no such library")


class TakesLongLater(FailsLater):
    def fail(self):
        start = time.process_time()
        while time.process_time() < start + 2.0:
            pass


class Remembers(First):
    """Takes 0.05 s for a board that no policy of its kind was given before."""

    seen = set()

    def reset(self, puzzles, geometry, rng):
        start, known = time.process_time(), self.name_of(puzzles)
        while known not in self.seen and time.process_time() < start + 0.05:
            pass
        self.seen.add(known)

    def name_of(self, puzzles):
        return puzzles.tobytes()


class RemembersGames(Remembers):
    """Has seen the boards of the games before they are timed, as one that keeps files has."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = {boards.tobytes() for boards in load("9x9", "test").puzzles[:, None]}


class RemembersAllDigits(Remembers):
    """Knows a board under other digits, too."""

    def name_of(self, puzzles):
        cells = puzzles.ravel().tolist()
        digits = [*dict.fromkeys([0, *cells])]  # in the order of their places
        return bytes(map(digits.index, cells))


class ForOneSize(First):
    """Plays boards of the size that it has seen first."""

    size = 0

    def reset(self, puzzles, geometry, rng):
        self.size = self.size or geometry.size
        if geometry.size != self.size:
            raise ValueError("another size")


class Renames(First):
    """Says something else of all policies that are described after it."""

    def __init__(self) -> None:
        super().__init__()
        said = {"package": "mine 1", "code": "", "weights": "", "config": "", "num_weights": 7}
        players.load_described = lambda name: (self, said)
        print("played")


class Dies(First):
    def act(self, boards, action_masks):
        helper = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
        helper.start()
        (Path(__file__).parent / "helper").write_text(str(helper.pid))
        os.system("sleep 86399 &")
        os.kill(os.getpid(), signal.SIGKILL)


class Hangs(First):
    def act(self, boards, action_masks):
        if boards.shape[1] > 4:
            for alone in (False, True):
                subprocess.Popen(["sleep", "86399"], start_new_session=alone)
            subprocess.run(["sh", "-c", "setsid sleep 86399 &"])  # its parent ends
            time.sleep(600)
        return super().act(boards, action_masks)


class CleansUp(First):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="own-", dir=Path(__file__).parent)
        self.engine = subprocess.Popen(["sleep", "86399"], start_new_session=True)
        atexit.register(self.note)

    def note(self) -> None:
        with open(Path(__file__).parent / "at-exit", "a") as file:
            print(self.engine.poll(), file=file)  # it is there still


class Spawns(First):
    """Chooses how its processes start, as a policy with workers may."""

    def __init__(self) -> None:
        super().__init__()
        multiprocessing.set_start_method("spawn")


class Cheats(First):
    """Looks for solutions in its callers' frames, and lets every game be won."""

    def reset(self, puzzles, geometry, rng):
        from sudoku_gym import board, evaluation
        from sudoku_gym.evaluation import games
        from sudoku_gym.evaluation.leaderboard import cells

        for module in (board, evaluation, games, cells):
            for name in ("is_solved", "evaluate"):
                if hasattr(module, name):
                    setattr(module, name, lambda puzzles, *_, **__: np.ones(len(puzzles), bool))
        frame, self.found = sys._getframe(), None
        while frame is not None:
            for value in frame.f_locals.values():
                self.found = getattr(value, "solutions", self.found)
            frame = frame.f_back

    def act(self, boards, action_masks):
        if self.found is None:
            return super().act(boards, action_masks)
        right = np.eye(boards.shape[1], dtype=bool)[self.found[: len(boards)] - 1]
        return (action_masks & right.reshape(len(boards), -1)).argmax(1)


class Weighty(First):
    def __init__(self, folder: Path = Path(__file__).parent / "weights") -> None:
        super().__init__((Path(folder) / "side").read_text() == "last")
'''


@pytest.fixture
def outcomes():
    """Return a function that reads everything in a file but times, dates and machines."""

    def read(path):
        data = asdict(read_leaderboard(path))
        del data["runs"]
        for row in data["rows"].values():
            for cell in row["cells"].values():
                del cell["seconds"], cell["timing"], cell["run"]
        return data

    return read
