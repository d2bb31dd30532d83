"""Compiled code: `njit` with a cache that follows its sources, LLVM intrinsics, random streams."""
# mypy: disable-error-code="no-untyped-call,attr-defined,import-untyped"

import os
import sys
import warnings

try:
    os.getcwd()
except FileNotFoundError:
    # Numba imports coverage where it is installed, which fails in a folder that is gone.
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]

# Numba takes its settings from a file in the working folder too, which may be a stranger's: with a
# cache below that folder it would load pickles. The environment alone counts: the file is not read
# where YAML can't be, nor later, by another name.
_yaml = sys.modules.get("yaml")
sys.modules["yaml"] = None  # type: ignore[assignment]
try:
    with warnings.catch_warnings(action="ignore"):  # of a file that is there
        from numba.core import config
finally:
    del sys.modules["yaml"]
    if _yaml is not None:
        sys.modules["yaml"] = _yaml
config._config_fname = os.devnull
config.reload_config()
