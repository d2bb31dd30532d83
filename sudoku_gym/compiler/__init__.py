"""Compiled code: `njit` with a cache that follows its sources, LLVM intrinsics, random streams."""

# mypy: disable-error-code="no-untyped-call,attr-defined,import-untyped"

import os
import sys

try:
    os.getcwd()
except FileNotFoundError:
    # Numba imports coverage where it is installed, which fails in a folder that is gone.
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]

from numba.core import config

# Numba takes its settings from a file in the working folder too, which may be a stranger's: with a
# cache below that folder it would load pickles. The environment alone counts.
config._config_fname = os.devnull
config.reload_config()
