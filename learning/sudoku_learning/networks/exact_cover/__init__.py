"""stub."""

from dataclasses import dataclass

from sudoku_learning.configs import registered
from sudoku_learning.networks.pooled import PooledConfig


@registered("exact-cover")
@dataclass(frozen=True)
class ExactCoverConfig(PooledConfig):
    pass
