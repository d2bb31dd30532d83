"""Records are concatenated and indexed field by field, and read arrays are checked."""

from dataclasses import dataclass

import numpy as np
import pytest

from sudoku_learning.training.records import Concatenable, Records, check_arrays


@dataclass(frozen=True)
class Rows(Records):
    boards: np.ndarray
    returns: np.ndarray


@dataclass(frozen=True)
class Counted(Concatenable):
    rows: Rows
    tried: int


def rows(*numbers):
    returns = np.array(numbers, np.float32)
    return Rows(np.repeat(returns[:, None], 4, 1).astype(np.int8), returns)


def test_records():
    whole = Counted.concatenate([Counted(rows(1, 2), 5), Counted(rows(), 1), Counted(rows(3), 2)])
    assert whole.tried == 8 and len(whole.rows) == 3
    assert whole.rows.boards.dtype == np.int8 and whole.rows.boards.shape == (3, 4)
    assert whole.rows[np.array([2, 0])].returns.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "it must hold returns"),
        ({"returns": np.zeros(2, np.float32), "more": np.zeros(1)}, "it must hold returns"),
        ({"returns": np.zeros(2)}, r"returns must be float32 \[2\], not float64 \[2\]"),
        ({"returns": np.zeros(3, np.float32)}, r"returns must be float32 \[2\], not float32 \[3\]"),
        ({"returns": np.array([0, np.nan], np.float32)}, "numbers of returns are not all finite"),
    ],
)
def test_damaged_arrays(arrays, message):
    with pytest.raises(ValueError, match=rf"replay\.npz: .*{message}"):
        check_arrays(arrays, {"returns": ((2,), np.float32)})
