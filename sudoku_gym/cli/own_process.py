"""A process for each policy of another's, which plays there as if it were the only one.

So policies share no module, no global variable and no working folder with each other.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, Protocol

from sudoku_gym.cli.puzzle_list import PuzzleList
from sudoku_gym.cli.terminal import HOW_TO_SEE_MORE, TRACEBACK, OnProgress
from sudoku_gym.evaluation import Evaluation
from sudoku_gym.evaluation.leaderboard.processes import (
    SAFE_PATH,
    hear_interrupts,
    kill_all_below,
    kill_with_all_below,
    start_process,
)
from sudoku_gym.evaluation.list_results import ListFile
from sudoku_gym.storage.reading import describe_error

_SECONDS_TO_WRITE = 5.0  # after Ctrl+C


class Player(Protocol):
    """A policy that has been loaded."""

    def play(
        self, chosen: PuzzleList, file: ListFile, on_progress: OnProgress
    ) -> tuple[Evaluation, PuzzleList, ListFile]:
        """Play what a file lacks of a list; return the result, and both as they are then."""


@contextmanager
def in_own_process(name: str, make: Callable[[], Player]) -> Iterator[Player]:
    """Let a process make a player, which plays there; what it has started ends with the block.

    Args:
        name: of its policy, for messages.
        make: makes it; can be pickled.

    Raises:
        ValueError: with the words of what is raised there, or if the process ends; by `play` too.
        ModuleNotFoundError: if it is raised there.
        OSError: if it is raised there.
    """
    context = get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, make, os.environ.get(SAFE_PATH, "")))
    start_process(process, {})
    theirs.close()
    try:
        yield _Remote(name, pipe, process)
    except KeyboardInterrupt:
        pipe.close()
        process.join(_SECONDS_TO_WRITE)  # it writes what it has played, and ends
        raise
    finally:
        if process.is_alive() and process.pid is not None:
            kill_with_all_below(process.pid)
            process.kill()
        process.join()


class _Remote:
    """A player in another process, once that has said that it is made."""

    def __init__(self, name: str, pipe: Connection[Any, Any], process: Any) -> None:
        self._name, self._pipe, self._process = name, pipe, process
        self._wait_for_end(lambda share: None)

    def play(
        self, chosen: PuzzleList, file: ListFile, on_progress: OnProgress
    ) -> tuple[Evaluation, PuzzleList, ListFile]:
        """Let it play."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, as is told next
            self._pipe.send((chosen, file))
        found: tuple[Evaluation, PuzzleList, ListFile] = self._wait_for_end(on_progress)
        return found

    def _wait_for_end(self, on_progress: OnProgress) -> Any:
        try:
            while isinstance(answer := self._pipe.recv(), float):
                on_progress(answer)
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise ValueError(f"{self._name}: its process has ended, {how}") from None
        found, error = answer
        if error is not None:
            raise error
        return found


def _serve(pipe: Connection[Any, Any], make: Callable[[], Player], safe_path: str) -> None:
    """Make a player and let it play; send shares, and pairs of a result and an error."""
    Thread(target=_end_with_the_command, daemon=True).start()
    os.environ[SAFE_PATH] = safe_path  # of what a policy starts; empty is as good as none
    with suppress(OSError):
        os.dup2(2, 1)  # what a policy prints is no result
    with pipe, suppress(EOFError, OSError):
        try:
            hear_interrupts()
            player = make()
            pipe.send((None, None))
            chosen, file = pipe.recv()
            found = player.play(chosen, file, lambda share: pipe.send(float(share)))
            pipe.send((found, None))
        except KeyboardInterrupt:
            pass  # what was played is written
        except SystemExit:
            raise
        except BaseException as error:  # a third-party policy may raise any
            if TRACEBACK in os.environ:
                traceback.print_exc()
            pipe.send((None, _portable(error)))
        pipe.recv()  # until the command closes the pipe, or ends this process
    _end()


def _portable(error: BaseException) -> Exception:
    """Return an error without its class, if that is another's, and without what it refers to."""
    if isinstance(error, OSError):
        return OSError(error.errno, error.strerror, error.filename)
    if isinstance(error, ModuleNotFoundError):
        return ModuleNotFoundError(str(error))
    if isinstance(error, ValueError) and str(error):
        return ValueError(str(error))
    return ValueError(f"{describe_error(error, 2000)} ({HOW_TO_SEE_MORE})")


def _end_with_the_command() -> None:
    """End this process once the command has ended."""
    command = parent_process()
    assert command is not None  # this is no main process
    wait([command.sentinel])
    _end()


def _end() -> None:
    """End this process, and what its policy has started."""
    kill_all_below(os.getpid())
    os._exit(1)
