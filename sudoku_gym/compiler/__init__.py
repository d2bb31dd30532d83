"""Compiled code: `njit` with a cache that follows its sources, LLVM intrinsics, random streams."""

import os
import sys

try:
    os.getcwd()
except FileNotFoundError:
    # Numba imports coverage where it is installed, which fails in a folder that is gone.
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
