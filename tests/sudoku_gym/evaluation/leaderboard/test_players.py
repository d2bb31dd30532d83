"""The process of a policy may write anything into its pipe, in part, or nothing, and never read."""

import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pytest

from sudoku_gym.evaluation.leaderboard import players
from sudoku_gym.geometry import Geometry

BOARDS, MASKS = np.zeros((25, 9, 9), np.int8), np.ones((25, 729), np.bool_)
DESCRIBED = {"package": "", "code": "", "weights": "", "config": "", "num_weights": 0}
SAID = {"error": "", "kind": "", "seconds": 0}
LIMIT = 0.05


@contextmanager
def against(answer, limit=LIMIT):
    """Yield a policy whose process does what a function of its pipe does, until an event is set."""
    (ours, theirs), over = Pipe(), Event()
    thread = Thread(target=answer, args=(theirs, over))
    thread.start()
    with ours:
        yield players.RemotePolicy(ours, os.getpid(), limit)
    over.set()
    thread.join()
    theirs.close()


def answering(head, body=b""):
    """Return a process that answers one message."""

    def answer(pipe, over):
        pipe.recv()
        pipe.send_bytes(head + b"\n" + body)

    return answer


def test_a_process_that_reads_nothing_is_stopped():
    with against(lambda pipe, over: over.wait()) as policy, pytest.raises(players.OutOfTimeError):
        policy.act(np.zeros((9_000, 9, 9), np.int8), np.ones((9_000, 729), np.bool_))


def test_a_process_that_answers_in_part_is_stopped():
    def answer(pipe, over):
        pipe.recv()
        os.write(pipe.fileno(), (1000).to_bytes(4, "big"))
        over.wait()

    with against(answer) as policy, pytest.raises(players.OutOfTimeError):
        policy.act(BOARDS, MASKS)


@pytest.mark.parametrize("seconds", ["1e999", "1e300", "1" + 400 * "0"])
def test_seconds_that_no_file_could_hold_are_no_answer(seconds):
    head = f'{{"error": "", "kind": "", "seconds": {seconds}}}'.encode()
    with pytest.raises(ValueError, match="its process answers"):
        players._read_answer(head + b"\n")


@pytest.mark.parametrize("seconds", [float("nan"), -1e9])
def test_a_process_can_t_put_the_clock_back(seconds):
    head = json.dumps({**SAID, "seconds": seconds}).encode()

    def answer(pipe, over):
        for _ in range(2):
            pipe.recv()
            pipe.send_bytes(head + b"\n" + bytes(200))
        pipe.recv()
        over.wait()

    with against(answer, 0.2) as policy:
        for _ in range(2):
            assert policy.act(BOARDS, MASKS).tolist() == [0] * 25
        assert policy.seconds >= 0
        with pytest.raises(players.OutOfTimeError):
            policy.act(BOARDS, MASKS)


def test_what_is_computed_between_calls_counts():
    def answer(pipe, over):
        with suppress(EOFError, OSError):
            while True:
                pipe.recv()
                pipe.send_bytes(json.dumps(SAID).encode() + b"\n" + bytes(200))

    with against(answer, 100.0) as policy:
        policy.act(BOARDS, MASKS)
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        policy.act(BOARDS, MASKS)
        assert policy.seconds > 0.19


def test_a_policy_can_t_exchange_the_clock_of_its_process(monkeypatch):
    clock = time.process_time

    class Forges:
        def reset(self, puzzles, geometry, rng):
            time.process_time = float

        def act(self, boards, action_masks):
            end = clock() + 5e-4
            while clock() < end:
                pass
            return np.zeros(len(boards), np.int64)

    monkeypatch.setattr(time, "process_time", clock)  # what is exchanged is put back
    monkeypatch.setattr(players, "load_described", lambda name: (Forges(), dict(DESCRIBED)))
    monkeypatch.setattr(players, "processor_seconds", lambda pid: None)
    with against(lambda pipe, over: players.serve_policy(pipe), 100.0) as policy:
        policy.load("forges")
        policy.reset(BOARDS, Geometry.standard(9), np.random.default_rng(0))
        for _ in range(10):
            policy.act(BOARDS, MASKS)
        assert policy.seconds >= 5e-3


def test_little_is_hidden_from_the_clock_outside(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(players, "processor_seconds", lambda pid: 5e-4 * next(clock))
    head = json.dumps(SAID).encode()
    with against(answering(head, bytes(200)), 100.0) as policy:
        policy.act(BOARDS, MASKS)
        assert policy.seconds >= 2e-4


def test_loading_has_a_limit_and_the_words_say_which(monkeypatch):
    monkeypatch.setattr(players, "_MORE_TO_START", 0.05)
    with against(lambda pipe, over: over.wait()) as policy:
        with pytest.raises(players.OutOfTimeError, match=r"^0\.4 s of wall time to load"):
            policy.load("a policy")


def test_a_module_that_is_missing_is_named_once():
    said = {**SAID, "error": "ModuleNotFoundError: no torch", "kind": "ModuleNotFoundError"}
    with against(answering(json.dumps(said).encode()), 5.0) as policy:
        with pytest.raises(ModuleNotFoundError, match=r"^no torch$"):
            policy.act(BOARDS, MASKS)


@pytest.mark.parametrize("error", [EOFError, ConnectionResetError, BrokenPipeError])
def test_a_policy_whose_games_have_ended_ends_without_a_word(error):
    class Ended:
        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

        def recv(self):
            raise error

    players.serve_policy(Ended())


def test_wall_time_counts_over_all_calls():
    def answer(pipe, over):
        with suppress(EOFError, OSError):
            while True:
                pipe.recv()
                over.wait(LIMIT)  # less than a call may take
                pipe.send_bytes(json.dumps(SAID).encode() + b"\n" + bytes(200))

    with against(answer) as policy, pytest.raises(players.OutOfTimeError):
        for _ in range(50):
            policy.act(BOARDS, MASKS)


def test_hours_in_which_all_processes_were_stopped_do_not_count(monkeypatch):
    stopped = [0.0]
    clock = SimpleNamespace(
        monotonic=lambda: time.monotonic() + sum(stopped), process_time=time.process_time
    )
    monkeypatch.setattr(players, "time", clock)

    def answer(pipe, over):
        with suppress(EOFError, OSError):
            while True:
                pipe.recv()
                stopped.append(1e5)
                pipe.send_bytes(json.dumps(SAID).encode() + b"\n" + bytes(200))

    with against(answer, 30.0) as policy:
        for _ in range(5):
            assert len(policy.act(BOARDS, MASKS)) == 25


@pytest.mark.parametrize(
    "head", [b"", b"{", b"[]", b"7", b"{}", b'{"error": ""}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_answer_is_told_in_a_line(head):
    with against(answering(head), 5.0) as policy:
        with pytest.raises(ValueError, match="its process answers b") as told:
            policy.act(BOARDS, MASKS)
    assert "\n" not in str(told.value) and len(str(told.value)) < 200


def test_an_answer_that_is_too_long_ends_the_process_s_part(monkeypatch):
    monkeypatch.setattr(players, "_LONGEST", 100)
    with against(answering(b"x" * 200), 5.0) as policy, pytest.raises(EOFError):
        policy.act(BOARDS, MASKS)


def test_a_process_that_has_died_is_noticed_when_it_is_asked():
    with against(lambda pipe, over: pipe.close(), 5.0) as policy:
        for _ in range(2):
            with pytest.raises(EOFError):
                policy.act(BOARDS, MASKS)


def test_errors_are_short_and_descriptions_are_checked():
    said = {**SAID, "error": "x" * 10_000, "kind": "KeyError"}
    with against(answering(json.dumps(said).encode()), 5.0) as policy:
        with pytest.raises(ValueError) as told:
            policy.reset(BOARDS, Geometry.standard(9), np.random.default_rng(0))
    assert len(str(told.value)) == 400
    for body in (b"[]", b'{"package": 7, "weights": "", "num_weights": 0}', b'{"package": ""}'):
        with against(answering(json.dumps(SAID).encode(), body)) as policy:
            with pytest.raises(ValueError, match=r"^a policy: .* must (be of type|hold)"):
                policy.load("a policy")
    half = b'{"package": "\\ud800"}'  # of a pair: it could not be written to a file
    for body in (b"{", b"[" * 900, b'{"package": "' + b"x" * 10_000 + b'"}', half):
        with against(answering(json.dumps(SAID).encode(), body)) as policy:
            with pytest.raises(ValueError, match="its process answers b"):
                policy.load("a policy")


def test_a_policy_goes_before_it_is_made_again(tmp_path, monkeypatch):
    """It may hold a port, or most of the memory; a folder does not make it twice."""
    (tmp_path / "one_only.py").write_text(ONE_ONLY)
    (tmp_path / "weights").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "one_only", raising=False)
    with against(lambda pipe, over: players.serve_policy(pipe), limit=60.0) as policy:
        for made in (1, 2):
            policy.load(f"one_only:One?folder={tmp_path / 'weights'}")
            assert sys.modules["one_only"].made == made


ONE_ONLY = """
alive = made = 0
class One:
    def __init__(self, folder):
        global alive, made
        alive, made, self.itself = alive + 1, made + 1, self
        if alive > 1: raise OSError("Address already in use")
    def __del__(self):
        global alive
        alive -= 1
    def reset(self, puzzles, geometry, rng): ...
    def act(self, boards, action_masks): return action_masks.argmax(1)
"""


def test_what_is_no_usual_exception_is_told_too(monkeypatch):
    """As `asyncio.CancelledError`."""

    class Odd(BaseException): ...

    def load_described(name):
        raise Odd("no more")

    monkeypatch.setattr(players, "load_described", load_described)
    with (
        against(lambda pipe, over: players.serve_policy(pipe), 100.0) as policy,
        pytest.raises(ValueError, match="Odd: no more"),
    ):
        policy.load("odd")
