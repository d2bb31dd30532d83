"""What does not count of the folders that the command lies in, and is given in."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module


def leave_folder_of_programs() -> None:
    """Take the folder of this program, where no modules are, out of `sys.path`.

    Others install programs there that end in .py: `models.py` of python-sat would hide the user's.
    """
    if sys.path[:1] == [os.path.dirname(os.path.realpath(sys.argv[0]))]:
        del sys.path[0]


def import_matplotlib_elsewhere() -> None:
    """Import matplotlib from another folder if the working one has settings for it.

    It would read them first of all, and the folder may be a stranger's: they may be a pipe, endless
    or no text. What imports matplotlib later, gradio or igraph perhaps, finds it imported.
    """
    if not os.path.lexists("matplotlibrc"):
        return
    here = os.getcwd()
    os.chdir(os.path.dirname(__file__))
    try:
        with suppress(Exception):  # whoever needs it will be told
            import_module("matplotlib")
    finally:
        os.chdir(here)
