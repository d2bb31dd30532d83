"""A last line for a run whose process is ended from outside, where no code of its own runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# It reads until the process closes the pipe, or dies and so leaves it to the system to close.
_WATCH = "import sys\nif not sys.stdin.buffer.read():\n    sys.stderr.write(sys.argv[1] + '\\n')"


@contextmanager
def explain_sudden_end(message: str) -> Iterator[None]:
    """Print `message` to stderr if this process dies within the block without raising an error.

    So it is when a Ray node dies: Ray ends all processes on it, the learner's too. The same holds
    for SIGKILL, by which the kernel ends processes when memory is short.
    """
    command = [sys.executable, "-I", "-S", "-c", _WATCH, message]
    # A session of its own: Ctrl-C in a terminal is for this process alone.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        assert watcher.stdin is not None
        try:
            yield
        finally:
            with suppress(BrokenPipeError):  # somebody has ended the watcher
                watcher.stdin.write(b"ended by itself")
                watcher.stdin.close()
