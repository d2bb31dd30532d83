import numpy as np
import pytest

from sudoku_gym.compiler.interrupts import call_interruptibly
from sudoku_gym.compiler.jit import njit


@njit(nogil=True)
def count_until_stopped(start, is_stopped):
    while not is_stopped[0]:
        start[0] += 1


@njit
def double(values, _is_stopped):
    values *= 2
    return len(values)


def test_the_result_is_the_functions_own():
    values = np.arange(3)
    assert call_interruptibly(double, values) == 3
    assert values.tolist() == [0, 2, 4]


def test_an_error_is_raised_here():
    def fail(_is_stopped):
        raise ValueError("no such board")

    with pytest.raises(ValueError, match="no such board"):
        call_interruptibly(fail)


def test_an_interrupt_stops_the_function(interrupt_after):
    counted = np.zeros(1, np.int64)
    interrupt_after(2)  # it compiles first
    with pytest.raises(KeyboardInterrupt):
        call_interruptibly(count_until_stopped, counted)
    before = counted[0]
    assert before > 0 and counted[0] == before
