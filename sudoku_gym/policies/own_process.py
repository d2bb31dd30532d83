"""A process of their own for policies of another package, as if they were the only ones.

So they share no module, no global variable and no working folder with others, and what ends their
process ends nothing else.
"""

from __future__ import annotations

import atexit
import math
import multiprocessing
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Lock, Thread, local
from typing import Any

from sudoku_gym.plugins import add_import_folder, fallback_folders
from sudoku_gym.policies.processes import (
    SAFE_PATH,
    end_all_below,
    keep_alone,
    kill_all_below,
    kill_group_left_by,
    kill_with_all_below,
    processor_seconds,
    start_process,
    unblock_interrupts,
)
from sudoku_gym.storage.reading import HOW_TO_SEE_MORE, TRACEBACK, describe_error

_SECONDS_TO_MAKE = 120.0
_SECONDS_TO_END, _SECONDS_TO_CLEAN_UP = 5.0, 2.0
_SECONDS_TO_CLOSE = 1.0  # a pipe, by a command that Ctrl+C ends
_LONGEST_ERROR = 2000  # characters
_LOOK, _SHORT_LOOK = 0.2, 0.02  # s between two looks at a process that works, or ends
_HAS_GROUPS = hasattr(os, "setsid")  # of processes, not on Windows
_elsewhere = local()  # `seconds` of other processes that worked for a thread


class OwnProcess:
    """A process that makes objects, and calls their methods, until it is closed.

    Several threads may use it, one at a time.

    Args:
        name: of the policy it is for, for messages.
        longest: seconds of a call, after which the process is ended; None for no limit. To make an
            object may take `_SECONDS_TO_MAKE`, if that is more.
    """

    def __init__(self, name: str, longest: float | None = None) -> None:
        self._name, self._longest = name, longest
        self._dropped = deque[int]()  # objects that nobody here needs any more
        self._lock, self._is_closed = Lock(), False
        self._ends_by = 0.0  # on the clock, once it is let go
        context = get_context("spawn")
        self._pipe: Connection[Any, Any]
        self._pipe, theirs = context.Pipe()
        settings = fallback_folders(), os.environ.get(SAFE_PATH, "")
        self._process: Any = context.Process(target=_serve, args=(theirs, *settings))
        start_process(self._process, {})
        atexit.register(self.close)  # Python itself would wait for it
        theirs.close()

    @property
    def is_alive(self) -> bool:
        """Whether it answers still."""
        return bool(self._process.is_alive())

    def make(self, factory: Callable[[], Any]) -> Elsewhere:
        """Make an object there by a function that can be pickled; raises as `Elsewhere.call`."""
        return Elsewhere(self, self._dropped, self.ask(None, factory))

    def ask(
        self,
        number: int | None,
        what: Callable[[], Any] | str,
        arguments: tuple[Any, ...] = (),
        on_progress: Callable[[float], None] | None = None,
    ) -> Any:
        """Make an object by `what` where `number` is None, and return its number.

        Else call the method `what` of that object, as `Elsewhere.call` does; raises as it does.
        """
        longest = self._longest
        if longest is not None and number is None:
            longest = max(longest, _SECONDS_TO_MAKE)
        with self._lock:
            dropped = [self._dropped.popleft() for _ in range(len(self._dropped))]
            with suppress(OSError):  # it has ended, as is told next
                self._pipe.send((dropped, number, what, arguments, on_progress is not None))
            start, seconds = time.monotonic(), None
            try:
                while isinstance(answer := self._receive(longest), float):
                    if on_progress is not None:
                        on_progress(answer)
                found, error, seconds = answer
            finally:
                if seconds is None:  # nobody can ask a process that has ended
                    seconds = min(time.monotonic() - start, longest or math.inf)
                _elsewhere.seconds = seconds_elsewhere() + seconds
        if error is not None:
            raise error
        return found

    def _receive(self, longest: float | None) -> Any:
        limit = math.inf if longest is None else time.monotonic() + longest
        is_late = False
        with suppress(EOFError, OSError):
            # What it has started may keep the pipe open once it has ended.
            while not is_late and (self.is_alive or self._pipe.poll()):
                left = limit - time.monotonic()
                if self._pipe.poll(min(max(left, 0.0), _LOOK)):
                    return self._pipe.recv()
                is_late = left <= 0
        if is_late:
            self.close()
            raise ValueError(f"{self._name}: it took more than {longest:g} s, and was ended")
        self._wait_for_end(time.monotonic() + _SECONDS_TO_END)  # a thread may keep it
        self.close()
        code = self._process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        raise ValueError(f"{self._name}: its process has ended, {how}")

    def _wait_for_end(self, limit: float) -> None:
        # `join` waits on, with any limit, where the policy has closed all files.
        while self._process.is_alive() and time.monotonic() < limit:
            time.sleep(_SHORT_LOOK)

    def interrupt(self) -> None:
        """Let it write what it has played, and end, as Ctrl+C ends the command."""
        self._pipe.close()
        self._ends_by = time.monotonic() + _SECONDS_TO_END + _SECONDS_TO_CLEAN_UP
        if _HAS_GROUPS and self.is_alive:  # without groups Ctrl+C has reached it too
            os.kill(self._process.pid, signal.SIGINT)

    def let_go(self) -> None:
        """Let it clean up and end by itself, unless it is at work."""
        if self._lock.acquire(blocking=False):
            self._pipe.close()
            self._ends_by = self._ends_by or time.monotonic() + _SECONDS_TO_CLEAN_UP
            self._lock.release()

    def close(self) -> None:
        """End it, and what it has started, once it has had time to clean up if it is let go."""
        self.let_go()
        self._wait_for_end(self._ends_by)
        if self._process.is_alive():
            kill_with_all_below(self._process.pid)
            self._process.kill()
        self._process.join()
        if not self._is_closed:  # later the number may be another's
            kill_group_left_by(self._process.pid)
        self._is_closed = True
        self._pipe.close()
        atexit.unregister(self.close)


def close_all(processes: Collection[OwnProcess]) -> None:
    """End several processes, which have the same time to clean up."""
    for process in processes:
        process.let_go()
    for process in processes:
        process.close()


@contextmanager
def closing_all() -> Iterator[list[OwnProcess]]:
    """Give a list of processes, which end with the block."""
    processes = list[OwnProcess]()
    try:
        yield processes
    except KeyboardInterrupt:
        for process in processes:
            process.interrupt()
        raise
    finally:
        close_all(processes)


class Elsewhere:
    """An object in another process, which is let go there when this one is."""

    def __init__(self, process: OwnProcess, dropped: deque[int], number: int) -> None:
        self._process, self._dropped, self._number = process, dropped, number

    def call(
        self, method: str, *arguments: Any, on_progress: Callable[[float], None] | None = None
    ) -> Any:
        """Call a method of the object; arguments and result are those that can be pickled.

        The method gets a function for the share that is done, 0 to 1, as its last argument where
        `on_progress` is given.

        Raises:
            ValueError: with the words of what is raised there, or if the process ends.
            ModuleNotFoundError: if it is raised there.
            OSError: if it is raised there.
        """
        return self._process.ask(self._number, method, arguments, on_progress)

    def __del__(self) -> None:
        self._dropped.append(self._number)


def seconds_elsewhere() -> float:
    """Return the processor seconds that other processes have worked for this thread so far."""
    return float(getattr(_elsewhere, "seconds", 0.0))


def _serve(pipe: Connection[Any, Any], folders: Iterable[str], safe_path: str) -> None:
    """Make objects and call their methods; send shares, then what came of it, and the seconds.

    These are processor seconds within the call, of the first one since this process began.
    """
    _set_up(pipe, safe_path)
    for folder in folders:
        add_import_folder(folder)
    objects, numbers = dict[int, Any](), count()
    start = None
    with suppress(EOFError, OSError), pipe:  # a policy may have closed it itself
        while True:
            found, failure = None, None
            try:
                dropped, number, what, arguments, tells = pipe.recv()
            except KeyboardInterrupt:  # the command's, which closes the pipe, or a policy's own
                continue
            start = 0.0 if start is None else _clock()
            for each in dropped:
                objects.pop(each, None)
            if tells:
                arguments += (partial(_send_share, pipe),)
            try:
                if number is None:
                    found = next(numbers)
                    objects[found] = what()
                else:
                    found = getattr(objects[number], what)(*arguments)
            except SystemExit as end:
                _end(end.code)  # at once: Python waits for threads
            except BaseException as error:  # a third-party policy may raise any
                if isinstance(error, KeyboardInterrupt) and pipe.poll(_SECONDS_TO_CLOSE):
                    break  # the command's; what was played is written
                if TRACEBACK in os.environ:
                    traceback.print_exc()
                found, failure = None, _portable(error)
            pipe.send((found, failure, max(_clock() - start, 0.0)))


def _set_up(pipe: Connection[Any, Any], safe_path: str) -> None:
    """Let this process be the policy's own."""
    atexit.register(_end_group)  # the last that is done
    Thread(target=_end_with_the_command, daemon=True).start()
    if _HAS_GROUPS:
        os.setsid()  # or what it starts could not be told from others once it has ended
    keep_alone(pipe)
    os.environ[SAFE_PATH] = safe_path  # of what a policy starts; empty is as good as none
    multiprocessing.set_start_method(None, force=True)  # a policy may choose one, once
    with suppress(OSError):
        os.dup2(2, 1)  # what a policy prints is no result
    with suppress(OSError), open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # nor is it asked anything
    with suppress(KeyboardInterrupt):
        unblock_interrupts()


def _clock() -> float:
    """Return the processor seconds of this process and, on Linux, of all below it."""
    return processor_seconds(os.getpid()) or time.process_time()


def _send_share(pipe: Connection[Any, Any], share: float) -> None:
    pipe.send(float(share))


def _portable(error: BaseException) -> Exception:
    """Return an error without its class, if that is another's, and without what it refers to."""
    said = describe_error(error, _LONGEST_ERROR)
    with suppress(Exception):  # an error of another's may fail itself
        if isinstance(error, OSError) and error.errno is not None:
            file = None if error.filename is None else os.fsdecode(error.filename)
            return OSError(int(error.errno), str(error.strerror), file)
        if isinstance(error, ModuleNotFoundError):
            return ModuleNotFoundError(str(error)[:_LONGEST_ERROR])
        if isinstance(error, ValueError) and str(error):
            return ValueError(str(error)[:_LONGEST_ERROR])
    return ValueError(said if isinstance(error, OSError) else f"{said} ({HOW_TO_SEE_MORE})")


def _end_with_the_command() -> None:
    """End this process once the command has ended."""
    command = parent_process()
    assert command is not None  # this is no main process
    wait([command.sentinel])
    kill_all_below(os.getpid())
    _kill_group()
    _end()


def _end_group() -> None:
    """End what this process has started, and what has lost its parent if the command is gone."""
    end_all_below()
    command = parent_process()
    if command is not None and not command.is_alive():  # else it does that
        _kill_group()


def _kill_group() -> None:
    with suppress(OSError, AttributeError):  # not on Windows
        os.killpg(os.getpid(), signal.SIGKILL)


def _end(code: object = 1) -> None:
    """End this process, and what its policy has started."""
    kill_all_below(os.getpid())
    os._exit(code if isinstance(code, int) else int(code is not None))
