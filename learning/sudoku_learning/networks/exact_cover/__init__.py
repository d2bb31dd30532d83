"""The exact-cover body; `body` has the equations.

Files: `graph` builds the open part of a board's exact-cover problem, `reference` runs the rounds in
plain torch, `kernels` compiled, out of `messages` and `intersections`, which are written with the
`vectors` and `products` below them; `function` makes the kernels differentiable.
"""

from sudoku_learning.networks.exact_cover.body import ExactCoverBody, ExactCoverConfig
from sudoku_learning.networks.exact_cover.features import (
    BoardReadout,
    ExactCoverFeatures,
    PlacementReadout,
)

__all__ = [
    "BoardReadout",
    "ExactCoverBody",
    "ExactCoverConfig",
    "ExactCoverFeatures",
    "PlacementReadout",
]
