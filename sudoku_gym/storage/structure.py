"""Whether what a state file says has the form of a state, before any of it is believed."""

from __future__ import annotations

from math import isfinite
from typing import Any

_MOST = 2**63


def check_form(found: Any, like: Any, name: str = "it") -> None:
    """Hold what JSON held to have the form of another state, in which numbers are counts.

    Names and kinds must be the same; where the other has None, and in lists, anything may stand.
    No number may be negative, as large as 2**63, or no number.

    Args:
        found: in the file.
        like: a state of the same origin, e.g. that of a run that has not begun.
        name: of the place, for the message.

    Raises:
        ValueError: if it has another form; the message names the place.
    """
    if like is not None and type(found) is not type(like):
        raise ValueError(f"{name} must be of type {type(like).__name__}, not {found!r:.60}")
    if isinstance(like, dict):
        if found.keys() != like.keys():
            raise ValueError(f"{name} must hold {', '.join(like)}")
        for key in like:
            check_form(found[key], like[key], key)
    elif isinstance(found, list | dict):
        for each in found.values() if isinstance(found, dict) else found:
            check_form(each, None, name)
    elif isinstance(found, int | float) and not (isfinite(found) and 0 <= found < _MOST):
        raise ValueError(f"{name} must be a count, not {found!r:.60}")
