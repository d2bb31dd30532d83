"""The part of a model's text that holds its answer, and the values in JSON in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST_TEXT = 100_000
"""Characters of a model's text that are read, from its end."""

_MOST_VALUES = 20  # places at which a value in JSON may begin, from the end
_DECODER = json.JSONDecoder()
_TAGGED = re.compile(r"<(answer|move|action)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)


def answer_regions(text: str) -> list[str]:
    """Return where to look for an answer, the surest place first.

    What stands in `<think>` is left out, also where the tag is not closed. Then the last
    `<answer>`, `<move>` or `<action>` is looked at, then the last fenced block, then everything.

    Raises:
        TypeError: if it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a model's turn is a text, not {text!r:.60}")
    text = text[-LONGEST_TEXT:]
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    regions = []
    tags = list(_TAGGED.finditer(text))
    if tags:
        regions.append(text[tags[-1].end() :].partition("</")[0])
    fences = [match.span() for match in _FENCE.finditer(text)]
    if len(fences) % 2:  # the last block is not closed
        fences.append((len(text), len(text)))
    if fences:
        regions.append(text[fences[-2][1] : fences[-1][0]])
    return [*regions, text]


def last_values(text: str, opening: re.Pattern[str]) -> Iterator[tuple[Any, int]]:
    """Yield the values in JSON that begin where a pattern matches, and where each ends.

    The last comes first; the last 20 places are tried.
    """
    starts = [match.start() for match in opening.finditer(text)]
    for start in reversed(starts[-_MOST_VALUES:]):
        try:
            found = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield found
