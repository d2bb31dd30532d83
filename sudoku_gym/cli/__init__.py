"""The `sudoku-gym` command and its sub-commands, `COMMANDS`.

Policies and trainers are found by entry point, so the command knows no package above its own.
Each sub-command is a frozen dataclass: its fields are the options, its `run` does the work and
returns the exit code.
"""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import tyro

from sudoku_gym.cli.comparison import Compare, Evaluate
from sudoku_gym.cli.export import Export
from sudoku_gym.cli.generate import Generate
from sudoku_gym.cli.info import Info
from sudoku_gym.cli.launch import App, Plot, Train
from sudoku_gym.cli.play import Play
from sudoku_gym.cli.push import Push
from sudoku_gym.cli.record import Record
from sudoku_gym.cli.solve import Solve
from sudoku_gym.cli.surroundings import import_matplotlib_elsewhere, leave_folder_of_programs
from sudoku_gym.cli.terminal import occupy_closed_streams, replace_unprintable, strip_control
from sudoku_gym.cli.text import Text
from sudoku_gym.cli.watch import Watch
from sudoku_gym.policies.processes import restore_child_signals
from sudoku_gym.storage.checks import check_seed
from sudoku_gym.storage.reading import HOW_TO_SEE_MORE, TRACEBACK, describe_error

PROGRAM = "sudoku-gym"
BAD_INPUT = 2
UNREAD = 141  # as shells say of a program that a closed pipe has ended
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
COMMANDS: dict[str, Callable[..., Any]] = {
    "train": Train,
    "evaluate": Evaluate,
    "compare": Compare,
    "plot": Plot,
    "solve": Solve,
    "generate": Generate,
    "play": Play,
    "watch": Watch,
    "text": Text,
    "record": Record,
    "export": Export,
    "push": Push,
    "app": App,
    "info": Info,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; `argv` None takes the arguments of the process.

    Returns:
        The exit code: 0 if all went well, 1 if the answer is no (a puzzle without a single
        solution, say), 2 for bad input, of which one line on standard error tells, 141 if nobody
        reads on and there is work left.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    occupy_closed_streams()
    replace_unprintable()
    restore_child_signals()
    command, printed_nowhere = None, _prints_nowhere()
    try:
        if arguments in (["--version"], ["-V"]):
            print(f"{PROGRAM} {version(PROGRAM)}", flush=True)
            return 0
        if argv is None:
            leave_folder_of_programs()
        try:
            import_matplotlib_elsewhere()
            sys.path.append(os.getcwd())  # so that module:attribute finds the user's file
        except FileNotFoundError:  # processes can't be started there, nor torch's libraries loaded
            raise ValueError("the working folder has been removed: change to another") from None
        _check_out(arguments)
        command = _parse(arguments or ["--help"])
        check_seed(command)
        code = int(command.run())
        if sys.stdout is not None:
            sys.stdout.flush()  # a disk may be full
        return code
    except SystemExit as end:
        unread = isinstance(end.__context__, BrokenPipeError) and not printed_nowhere
        if unread and _prints_nowhere():  # rich ends the program so, where nobody reads on
            return _end_unread(command)
        if command is not None and not isinstance(command, Train):  # not after --help
            return _refuse(f"a policy or another's code has ended the program ({end!r:.200})")
        return end.code if isinstance(end.code, int) else BAD_INPUT
    except OSError as error:
        if isinstance(error, BrokenPipeError) and not _has_reader():  # else it is a policy's pipe
            return _end_unread(command)
        if not _can_be_written():  # now or ever
            sys.stdout = open(os.devnull, "w", encoding="utf-8")
        if error.errno in _DISK_ERRORS:
            error.filename = error.filename or "output"
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{where}{error.strerror or _words_of(error)}")
    except (ValueError, ModuleNotFoundError) as error:
        return _refuse(_words_of(error))
    except KeyboardInterrupt:
        return 130
    except BaseException as error:  # from a third-party policy, for example, or a bug
        if _is_interruption(error):
            return 130
        if TRACEBACK in os.environ:
            raise
        return _refuse(f"{describe_error(error, 2000)} ({HOW_TO_SEE_MORE})")


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error came of a Ctrl+C, of which the compiler makes errors of its own."""
    seen = list[BaseException]()  # a chain may go in a circle
    while error is not None and not any(error is each for each in seen):
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def _has_reader() -> bool:
    """Whether nobody has closed the pipes of the standard streams, as `head` does."""
    if not hasattr(select, "poll"):  # Windows
        return False
    ends = select.poll()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError):  # it is no file, or closed
            ends.register(stream.fileno(), 0)  # for POLLERR and POLLHUP, which need not be named
    return not ends.poll(0)


def _can_be_written() -> bool:
    """Whether what was printed can be written; not where the disk is full, say."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        return False
    return True


def _prints_nowhere() -> bool:
    """Whether standard output is the null device, or none."""
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))
    except (OSError, ValueError, AttributeError):  # no file, closed, or none at all
        return True


def _end_unread(command: object) -> int:
    """Return the exit code of a command that ends since nobody reads on."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")
    works_on = isinstance(command, Train | Record)
    works_on |= isinstance(command, Solve) and bool(command.file)
    return UNREAD if works_on else 0


def _words_of(error: Exception) -> str:
    """Return the message of an error, or its kind where there is none."""
    try:
        return str(error) or describe_error(error)
    except Exception:  # of another's class
        return describe_error(error)


def _refuse(why: str) -> int:
    """Print an error in one line."""
    try:
        print(f"{PROGRAM}: {strip_control(why)}", file=sys.stderr)
    except OSError:  # as on a full disk; the exit code says something still
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    return BAD_INPUT


def _check_out(arguments: Sequence[str]) -> None:
    """Raise ValueError if `--out` is empty, which would count as none: nothing would be kept."""
    if "--out=" in arguments or ("--out", "") in pairwise(arguments):
        raise ValueError(
            "--out is empty, as a variable of the shell that is not set: name a file, or leave it "
            "out"
        )


def _parse(arguments: list[str]) -> Any:
    """Return the sub-command's dataclass, filled in."""
    if arguments[0] == "train" and not {"-h", "--help"} & set(arguments[1:2]):
        return Train("".join(arguments[1:2]), tuple(arguments[2:]))  # the trainer reads the rest
    conf = tyro.conf
    return tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog=PROGRAM,
        description="Sudoku environments, baselines and agents. `sudoku-gym COMMAND --help` "
        "explains a command.",
        args=arguments,
        config=(
            conf.DisallowNone,
            conf.FlagCreatePairsOff,
            conf.PositionalMetavarFromFieldName,
        ),
    )
