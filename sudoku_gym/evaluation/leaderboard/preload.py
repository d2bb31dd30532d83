"""What the processes of policies share, done once before they are forked.

Torch takes most of the time that such a process needs to start, and numba most of the rest, which
gets ready with the first kernel. Where torch is not installed, or can't be loaded, only the
policies that need it are told so.
"""

from contextlib import suppress
from importlib import import_module

from sudoku_gym import board

with suppress(Exception):
    import_module("torch")
with suppress(Exception):
    board.candidates(board.parse("1234....21.34..1")[None])
