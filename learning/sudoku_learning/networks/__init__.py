"""Networks: a body that reads boards, heads that answer, and the policy that plays them."""

from sudoku_learning.networks.attention import AttentionBlock, AttentionConfig
from sudoku_learning.networks.bodies import Body, BodyConfig, Features, chunks
from sudoku_learning.networks.convergence import NO_RESTARTS, NetworkOutput, Restarts
from sudoku_learning.networks.factor_graph import FactorGraphBody, FactorGraphConfig, RecurrentState
from sudoku_learning.networks.heads import (
    ILLEGAL_LOGIT,
    HeadConfig,
    LogFlowConfig,
    PolicyConfig,
    ValueConfig,
)
from sudoku_learning.networks.mlp import MLPConfig
from sudoku_learning.networks.network import BODIES, POLICY_AND_VALUE, Network, seeded
from sudoku_learning.networks.policy import NetworkPolicy, PlacementPolicy, evaluate_boards

__all__ = [
    "BODIES",
    "ILLEGAL_LOGIT",
    "NO_RESTARTS",
    "POLICY_AND_VALUE",
    "AttentionBlock",
    "AttentionConfig",
    "Body",
    "BodyConfig",
    "FactorGraphBody",
    "FactorGraphConfig",
    "Features",
    "HeadConfig",
    "LogFlowConfig",
    "MLPConfig",
    "Network",
    "NetworkOutput",
    "NetworkPolicy",
    "PlacementPolicy",
    "PolicyConfig",
    "RecurrentState",
    "Restarts",
    "ValueConfig",
    "chunks",
    "evaluate_boards",
    "seeded",
]
