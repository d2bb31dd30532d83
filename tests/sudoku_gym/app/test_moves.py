"""Threads of the page's games: what waits is told its place, what takes long is given up."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from unittest.mock import Mock

import pytest

from sudoku_gym.app import moves
from sudoku_gym.app.moves import Workers


def test_work_is_done_and_its_errors_are_raised():
    done = []
    assert list(Workers().run(lambda: done.append(1))) == [] and done == [1]

    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        list(Workers().run(fail))


def test_what_waits_is_told_how_many_are_before_it():
    workers, go_on = Workers(at_once=1), Event()
    first, second, third = (workers.run(go_on.wait) for _ in range(3))
    assert next(first).startswith("Computing for 0 s; Stop gives it up.")
    assert next(second) == "Waiting for a free processor: you are next."
    assert next(third) == "Waiting for a free processor: 1 before you."
    second.close()  # its visitor has left
    assert next(third) == "Waiting for a free processor: you are next."
    go_on.set()
    assert list(first) == [] and not [note for note in third if "free processor" not in note]


def test_work_that_takes_too_long_is_given_up():
    go_on = Event()
    with pytest.raises(TimeoutError, match=r"more than 0\.3 s for a move"):
        list(Workers().run(go_on.wait, longest=0.3))
    go_on.set()


def test_work_that_nobody_wants_is_given_up():
    go_on, wanted = Event(), [True]
    running = Workers().run(go_on.wait, lambda: wanted[0])
    next(running)
    wanted[0] = False
    assert list(running) == []
    go_on.set()


def test_a_visitor_has_one_thread_at_a_time():
    """Also while what was given up runs on, so that nobody holds all threads."""
    workers, go_on = Workers(), Event()
    first, second = (workers.run(go_on.wait, visitor="a") for _ in range(2))
    assert next(first).startswith("Computing")
    first.close()
    assert next(second) == "Waiting for the end of another move of yours."
    assert list(workers.run(lambda: None, visitor="b")) == []
    go_on.set()
    assert not [note for note in second if not note.startswith(("Waiting", "Computing"))]
    assert list(workers.run(lambda: None, visitor="a")) == []


def test_a_policy_of_others_has_one_thread_at_a_time(monkeypatch):
    """Its games play in one process: who waits for it long keeps nothing from others."""
    monkeypatch.setattr(moves, "_KEPT_FOR", 0)
    workers, go_on = Workers(), Event()
    first = workers.run(go_on.wait, visitor="a", policies=["theirs"])
    second = workers.run(go_on.wait, visitor="b", policies=["theirs", "other"])
    assert next(first).startswith("Computing")
    first.close()
    assert next(second) == "Waiting for the end of another move of theirs."
    assert list(workers.run(lambda: None, visitor="b", policies=["other"])) == []
    go_on.set()
    assert not [note for note in second if not note.startswith(("Waiting", "Computing"))]


def test_who_has_waited_longer_comes_first():
    """Nobody keeps a policy by asking for the next move at once."""
    workers, done = Workers(), []

    def play(name, count):
        for _ in range(count):
            work = partial(time.sleep, 0.02)
            assert {*workers.run(work, visitor=name, policies=["p"])} <= {
                "Waiting for the end of another move of p.",
                "Computing for 0 s; Stop gives it up.",
            }
            done.append(name)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(play, "a", 60)
        time.sleep(0.1)
        pool.submit(play, "b", 3).result()
        first.result()
    places = [place for place, name in enumerate(done) if name == "b"]
    assert len(done) == 63 and places[2] - places[0] <= 4 and places[0] <= 15


def test_visitors_take_turns_however_many_pages_they_have(monkeypatch):
    monkeypatch.setattr(moves, "_BETWEEN_NOTES", 0.02)
    workers, done = Workers(), []

    def play(name):
        work = partial(time.sleep, 0.02)
        list(workers.run(work, visitor=name, policies=["p"]))
        done.append(name)

    def play_on(name, count):
        for _ in range(count):
            play(name)

    with ThreadPoolExecutor(7) as pool:
        pages = [pool.submit(play_on, "a", 10) for _ in range(6)]
        time.sleep(0.1)
        pool.submit(play_on, "b", 5).result()
        for page in pages:
            page.result()
    places = [place for place, name in enumerate(done) if name == "b"]
    assert len(done) == 65 and places[-1] - places[0] <= 3 * 4 and places[0] <= 15
    assert len(workers._next_rounds) <= 2


@pytest.mark.parametrize("seconds", [30, 0])
def test_a_policy_is_kept_for_who_needs_two(monkeypatch, seconds):
    """Not for long, as another one's move may last."""
    monkeypatch.setattr(moves, "_KEPT_FOR", seconds)
    workers, go_on, done = Workers(3), [Event(), Event()], []
    first, second = (workers.run(go_on[i].wait, policies=["pq"[i]]) for i in range(2))
    both = workers.run(lambda: done.append("both"), visitor="a", policies=["p", "q"])
    later = workers.run(lambda: done.append("later"), visitor="b", policies=["p"])
    for each in (first, second, both, later):
        next(each)
    go_on[0].set()
    list(first)
    assert next(both) == "Waiting for the end of another move of q."
    if seconds:
        assert next(later) == "Waiting for the end of another move of p."
        go_on[1].set()
        list(both)
    list(later)
    go_on[1].set()
    list(second), list(both)
    assert done == (["both", "later"] if seconds else ["later", "both"])


def test_who_gives_up_and_asks_again_has_one_turn_a_round():
    workers, end = Workers(), Event()

    def asking():
        waiting = workers.run(end.wait, visitor="a", policies=["p"])
        next(waiting)
        return waiting

    asked = [asking() for _ in range(4)]  # the first has a thread
    asked.pop(1).close()
    asked += [asking(), asking()]
    rounds = [place for place, _ in workers._asking]
    end.set()
    assert len(rounds) == 4 and len({*rounds}) == 4
    for each in asked:
        list(each)


def test_who_has_played_alone_owes_nobody_more_than_a_turn():
    workers, go_on, done = Workers(), Event(), []
    for _ in range(20):
        list(workers.run(lambda: None, visitor="a", policies=["p"]))
    games = {"c": workers.run(go_on.wait, visitor="c", policies=["p"])}
    assert next(games["c"]).startswith("Computing")
    for name in ("a", "b1", "b2"):
        work = partial(done.append, name)
        games[name] = workers.run(work, visitor=name[0], policies=["p"])
        assert next(games[name]).startswith("Waiting for the end of another move of")
    games["a2"] = workers.run(go_on.wait, visitor="a", policies=["p"])
    next(games["a2"])
    for _ in range(5):  # nor are turns counted that nobody took, as of games that are replaced
        before = games["a2"]
        games["a2"] = workers.run(partial(done.append, "a2"), visitor="a", policies=["p"])
        next(games["a2"])
        before.close()
    for name in ("b3", "b4"):
        games[name] = workers.run(partial(done.append, name), visitor="b", policies=["p"])
        next(games[name])
    go_on.set()
    with ThreadPoolExecutor(7) as pool:
        list(pool.map(list, games.values()))
    assert done.index("a2") < done.index("b4") and done[:3] == ["b1", "a", "b2"]


def test_who_waits_and_does_not_ask_again_is_passed_over(monkeypatch):
    monkeypatch.setattr(moves, "_GONE_AFTER", 0.1)
    workers, go_on = Workers(), Event()
    first, gone, second = (
        workers.run(go_on.wait, visitor=name, policies=["p"]) for name in ("a", "b", "c")
    )
    assert next(first).startswith("Computing")
    assert next(gone) == next(second) == "Waiting for the end of another move of p."
    go_on.set()
    assert list(first) == []
    time.sleep(0.2)
    assert list(second) == []


def test_a_thread_that_can_not_be_started_holds_nobody(monkeypatch):
    workers = Workers()
    with monkeypatch.context() as patch:
        patch.setattr(workers._pool, "submit", Mock(side_effect=RuntimeError("no thread")))
        with pytest.raises(RuntimeError):
            list(workers.run(time.sleep, visitor="a", policies=["p"]))
    assert list(workers.run(lambda: None, visitor="a", policies=["p"])) == []


def test_what_never_had_a_thread_holds_no_visitor():
    workers, go_on = Workers(at_once=1), Event()
    first, second = workers.run(go_on.wait, visitor="a"), workers.run(go_on.wait, visitor="b")
    assert next(first).startswith("Computing") and next(second).startswith("Waiting for a free")
    second.close()
    go_on.set()
    assert list(first) == [] and list(workers.run(lambda: None, visitor="b")) == []


@pytest.mark.parametrize(("end", "status"), [("raise KeyboardInterrupt", 130), ("return", 0)])
def test_the_command_does_not_wait_for_moves_when_it_is_interrupted(end, status):
    code = f"""
import sys, time
from sudoku_gym import cli
from sudoku_gym.app import page
from sudoku_gym.app.moves import Workers

def serve(*options):
    moves = Workers().run(lambda: time.sleep(60))
    next(moves)
    {end}

page.serve = serve
sys.exit(cli.main(["app"]))
"""
    pytest.importorskip("gradio")
    began = time.monotonic()
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == status
    assert time.monotonic() - began < 50
