"""What is said of an option that does not parse: one line, as of any other bad input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO

_COLOUR = re.compile(r"\x1b\[[\d;]*m")  # tyro asks standard output whether it shows them
_BORDER = "│|+ \t"
_RULE = re.compile(r"[\W_]*")  # a line of a panel without a word in it


@contextmanager
def short_usage_errors(program: str) -> Iterator[None]:
    """Turn the panel that tyro draws about an option into the message of a ValueError.

    The message names the `--help` of `program`, a command with its sub-command.
    """
    panel = StringIO()
    try:
        with redirect_stderr(panel):
            yield
    except SystemExit as end:
        if end.code == 2:
            words = _first_words(_COLOUR.sub("", panel.getvalue()))
            raise ValueError(f"{words} (see {program} --help)") from None
        raise
    finally:
        if sys.stderr is not None and sys.exc_info()[0] is None:
            sys.stderr.write(panel.getvalue())


def _first_words(panel: str) -> str:
    """Return what stands between the head of a panel and the first rule or empty line below."""
    lines = [line.strip(_BORDER) for line in panel.splitlines()]
    is_rule = [_RULE.fullmatch(line) is not None for line in lines]
    start = next((i for i in range(1, len(lines)) if not is_rule[i]), len(lines))
    end = next((i for i in range(start, len(lines)) if is_rule[i]), len(lines))
    words = lines[start:end]
    if words and words[0].startswith("Missing from"):  # what follows explains the argument
        words = words[:2]
    return " ".join(words).rstrip(".") or " ".join(panel.split())
