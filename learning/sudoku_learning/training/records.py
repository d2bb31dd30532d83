"""Dataclasses of arrays: concatenated, indexed, and checked where a checkpoint is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sudoku_learning.training.checkpoint import REPLAY


class Concatenable:
    """A dataclass whose fields are arrays, counts, or concatenable themselves."""

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return all parts, at least one, as one: arrays row after row, counts summed."""
        return cls(*(_concatenate(column) for column in zip(*map(_columns, parts), strict=True)))


class Records(Concatenable):
    """A dataclass whose fields all have one row a record."""

    def __len__(self) -> int:
        return len(_columns(self)[0])

    def __getitem__(self, index: NDArray[Any] | slice) -> Self:
        """Return some of the records."""
        return type(self)(*(column[index] for column in _columns(self)))


def check_arrays(
    arrays: Mapping[str, NDArray[Any]], wanted: Mapping[str, tuple[tuple[int, ...], DTypeLike]]
) -> None:
    """Check the names of a replay's arrays, their shapes and dtypes, and that they are finite.

    Raises:
        ValueError: if they are not as wanted.
    """
    if arrays.keys() != wanted.keys():
        raise ValueError(f"{REPLAY}: it must hold {', '.join(wanted)}")
    for name, (shape, dtype) in wanted.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{REPLAY}: {name} must be {np.dtype(dtype)} {list(shape)}, not {array.dtype} "
                f"{list(array.shape)}"
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{REPLAY}: the numbers of {name} are not all finite")


def _columns(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in fields(record)]


def _concatenate(column: Sequence[Any]) -> Any:
    if isinstance(column[0], int):
        return sum(column)
    if isinstance(column[0], np.ndarray):
        return np.concatenate(column)
    return type(column[0]).concatenate(column)
