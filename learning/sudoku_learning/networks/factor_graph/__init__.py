"""The factor-graph body; `body` has the equations.

Files: `graph` (with `crossings` and `walks`) builds the open part of a board's exact-cover problem.
`reference` runs the rounds in plain torch; `forward` and `backward` run them compiled, out of
`messages`, `intersections` and `gates`, which stand on `products` and `vectors`; `function` makes
them one function that torch can differentiate. `recurrent_state` keeps the states
after the last round.
"""

from sudoku_learning.networks.factor_graph.body import FactorGraphBody, FactorGraphConfig
from sudoku_learning.networks.factor_graph.features import (
    BoardReadout,
    ExtensiveReadout,
    FactorGraphFeatures,
    PlacementReadout,
)
from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState

__all__ = [
    "BoardReadout",
    "ExtensiveReadout",
    "FactorGraphBody",
    "FactorGraphConfig",
    "FactorGraphFeatures",
    "PlacementReadout",
    "RecurrentState",
]
