"""The factor-graph body: recurrent message passing; docs/design.md has the equations.

`graph` packs boards. `reference` runs rounds in plain torch; `forward` and `backward` run them
compiled, out of `messages` and `products`, which use `vectors`; `function` makes them
differentiable in torch.
"""

from sudoku_learning.networks.factor_graph.body import (
    BoardReadout,
    ExtensiveReadout,
    FactorGraphBody,
    FactorGraphConfig,
    FactorGraphFeatures,
    PlacementReadout,
)
from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState, add_noise

__all__ = [
    "BoardReadout",
    "ExtensiveReadout",
    "FactorGraphBody",
    "FactorGraphConfig",
    "FactorGraphFeatures",
    "PlacementReadout",
    "RecurrentState",
    "add_noise",
]
