"""The `sudoku-gym` command and its sub-commands, `COMMANDS`."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial, wraps
from importlib.metadata import version
from typing import Any

import tyro

from sudoku_gym import plugins
from sudoku_gym.cli.terminal import strip_control

PROGRAM = "sudoku-gym"
BAD_INPUT = 2

# What each command does, and the function that does it: its arguments are those of the command,
# and it returns the exit code.
COMMANDS = {
    "train": ("Train an agent.", "sudoku_gym.cli.launch:train"),
    "compare": ("Let policies play the same puzzles.", "sudoku_gym.cli.comparison:compare"),
    "plot": ("Draw the curves of runs.", "sudoku_curricula.plots:plot"),
    "solve": ("Solve puzzles.", "sudoku_gym.cli.solve:solve"),
    "generate": ("Make puzzles.", "sudoku_gym.cli.generate:generate"),
    "watch": ("Watch a policy play.", "sudoku_gym.cli.watch:watch"),
    "record": ("Record games for Minari.", "sudoku_gym.cli.data:record"),
    "push": ("Send a checkpoint to the Hub.", "sudoku_gym.cli.data:push"),
    "app": ("Show a page on which policies play.", "sudoku_gym.cli.launch:app"),
    "info": ("Show what is installed.", "sudoku_gym.cli.info:info"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; `argv` None takes the arguments of the process.

    Returns:
        The exit code: 0 if all went well, 1 if the answer is no (a puzzle without a single
        solution, say), 2 for bad input, of which one line on standard error tells.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if os.getcwd() not in sys.path:  # module:attribute finds the user's own files
            sys.path.append(os.getcwd())
        with plugins.suggest_extra(" ".join([PROGRAM, *words[:1]])):
            code = parse(words)()
        sys.stdout.flush()
        return code
    except SystemExit as end:  # of tyro: --help, or an option that it does not know
        return end.code if isinstance(end.code, int) else BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # nobody reads on, as after `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{where}{error.strerror or error}")
    except (ValueError, ModuleNotFoundError) as error:
        return _refuse(str(error))


def parse(words: list[str]) -> Callable[[], int]:
    """Return what a command line asks for, ready to be called.

    A ValueError says if there is no such command; options that do not parse raise SystemExit.
    """
    if not words or words[0] in ("-h", "--help"):
        return _print_help
    if words[0] in ("-V", "--version"):
        return _print_version
    name, *arguments = words
    if name not in COMMANDS:
        near = get_close_matches(name, [*COMMANDS, "evaluate"], 1)  # as it is called in Python
        near = [f"{'compare' if each == 'evaluate' else each}, or " for each in near]
        raise ValueError(f"no command {name!r}: use {''.join(near)}one of {', '.join(COMMANDS)}")
    function = plugins.load_attribute(COMMANDS[name][1])
    if name == "train":  # the trainer reads the rest
        return partial(function, arguments)
    # In tyro's help an argument's lines are one.
    function.__doc__ = re.sub(r"\n {8,}", " ", inspect.getdoc(function) or "")

    @wraps(function)
    def bind(*args: Any, **options: Any) -> Callable[[], int]:
        return partial(function, *args, **options)

    return tyro.cli(
        bind,
        prog=f"{PROGRAM} {name}",
        args=arguments,
        config=(
            tyro.conf.DisallowNone,
            tyro.conf.FlagCreatePairsOff,
            tyro.conf.PositionalMetavarFromFieldName,
        ),
    )


def _print_help() -> int:
    print(f"usage: {PROGRAM} COMMAND [--help]\n\nSudoku environments, baselines and agents.\n")
    for name, (what, _) in COMMANDS.items():
        print(f"  {name:9} {what}")
    return 0


def _print_version() -> int:
    print(PROGRAM, version(PROGRAM))
    return 0


def _refuse(why: str) -> int:
    """Print an error in one line."""
    print(f"{PROGRAM}: {strip_control(why)}", file=sys.stderr)
    return BAD_INPUT
