"""Policies, solvers and predictors: protocols, adapters, and how one is found by name."""

from sudoku_gym.policies.loading import load_policy
from sudoku_gym.policies.protocols import (
    Convergence,
    Policy,
    Predictor,
    PredictorPolicy,
    Solver,
    SolverPolicy,
)

__all__ = [
    "Convergence",
    "Policy",
    "Predictor",
    "PredictorPolicy",
    "Solver",
    "SolverPolicy",
    "load_policy",
]
