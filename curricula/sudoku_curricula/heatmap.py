"""Heat maps of success and weight by task over time: for TensorBoard and for `sudoku-gym plot`."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula import curves

_HEIGHT, _WIDTH = 12, 6  # pixels of a task and of an update
_MOST = 128  # updates shown; a longer history is thinned out
# viridis at nine points, from the darkest; between them colours are interpolated
_COLOURS = np.array(
    [
        (68, 1, 84), (71, 45, 123), (59, 82, 139), (44, 114, 142), (33, 145, 140),
        (40, 174, 128), (94, 201, 98), (173, 220, 48), (253, 231, 37),
    ]
)  # fmt: skip


def task_history(
    run: curves.Curves, group: str
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return tasks, steps `[S]` and values `[T, S]` of the curves `group/task` of a run.

    A value holds until the next one; before the first it is nan. Tasks are in the order of the
    numbers in their names, since some loggers write them by the alphabet.
    """
    tags = [tag for tag in run if tag.startswith(f"{group}/")]
    tags.sort(key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)])
    steps = np.unique(np.concatenate([run[tag][0] for tag in tags])) if tags else np.empty(0)
    values = np.full((len(tags), len(steps)), np.nan)
    for row, tag in zip(values, tags, strict=True):
        at, heights = (np.asarray(each, np.float64) for each in run[tag])
        latest = np.searchsorted(at, steps, "right") - 1
        row[latest >= 0] = heights[latest[latest >= 0]]
    return [tag.partition("/")[2] for tag in tags], steps.astype(np.float64), values


def heat_image(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return a picture of values `[T, S]`, uint8 `[H, W, 3]`: the first task below.

    Values are scaled to the largest; what is nan is white.
    """
    every = max(1, -(-values.shape[1] // _MOST))
    shown = values[::-1, ::every]
    largest = np.nanmax(shown, initial=0) or 1.0
    places = np.nan_to_num(shown) / largest * (len(_COLOURS) - 1)
    points = np.arange(len(_COLOURS))
    picture = np.stack([np.interp(places, points, channel) for channel in _COLOURS.T], axis=-1)
    picture[np.isnan(shown)] = 255
    return np.kron(picture.round(), np.ones((_HEIGHT, _WIDTH, 1))).astype(np.uint8)
