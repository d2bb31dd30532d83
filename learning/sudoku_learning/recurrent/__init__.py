"""How a recurrent network learns to think for longer than it is trained at once.

`boards` has the boards under training with what the network remembers of them, `updates` the
updates of the network and their losses. Where the labels come from is the caller's business.
"""

from sudoku_learning.recurrent.boards import Labelled, Thinking
from sudoku_learning.recurrent.updates import Losses, Stream, UpdatesConfig, update

__all__ = ["Labelled", "Losses", "Stream", "Thinking", "UpdatesConfig", "update"]
