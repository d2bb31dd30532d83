"""Processes of policies: what several of them cost when they end."""

import time
from functools import partial

import pytest

from sudoku_gym.policies.own_process import OwnProcess, closing_all

_STARTS_A_THREAD = (
    "__import__('threading').Thread(target=__import__('time').sleep, args=[99]).start()"
)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_several_have_the_same_time_to_end(error):
    """Python waits for threads, so each of these is killed once it has had its time."""
    with pytest.raises(error), closing_all() as processes:
        for number in range(3):
            processes.append(OwnProcess(str(number)))
            processes[-1].make(partial(eval, _STARTS_A_THREAD))
        began = time.monotonic()
        raise error
    assert time.monotonic() - began < {KeyboardInterrupt: 14, ValueError: 4}[error]
    assert not any(process.is_alive for process in processes)
