"""Policies, solvers and predictors: protocols, adapters, and how one is found by name."""

from sudoku_gym.policies.loading import load_policy, weights_sha256
from sudoku_gym.policies.protocols import (
    Convergence,
    ModelCard,
    Policy,
    Predictor,
    PredictorPolicy,
    Solver,
    SolverPolicy,
    model_card_of,
)

__all__ = [
    "Convergence",
    "ModelCard",
    "Policy",
    "Predictor",
    "PredictorPolicy",
    "Solver",
    "SolverPolicy",
    "load_policy",
    "model_card_of",
    "weights_sha256",
]
