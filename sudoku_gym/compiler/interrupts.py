"""Long calls of compiled functions, which Ctrl+C ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np


def call_interruptibly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a compiled function that needs no GIL, in a thread, so that Ctrl+C is answered here.

    Its last argument, bool `[1]`, tells it to end early once that is True. What it has written by
    then is lost with the KeyboardInterrupt.
    """
    is_stopped = np.zeros(1, np.bool_)
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(function, *arguments, is_stopped).result()
        finally:
            is_stopped[0] = True
