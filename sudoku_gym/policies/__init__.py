"""Policies, solvers and predictors: protocols, adapters, and how one is found by name."""

from sudoku_gym.policies.loading import load_policy, load_solver, weights_sha256
from sudoku_gym.policies.model_card import ModelCard, model_card_of
from sudoku_gym.policies.protocols import (
    CompleteSolver,
    Convergence,
    Policy,
    Predictor,
    PredictorPolicy,
    Solver,
    SolverPolicy,
)

__all__ = [
    "CompleteSolver",
    "Convergence",
    "ModelCard",
    "Policy",
    "Predictor",
    "PredictorPolicy",
    "Solver",
    "SolverPolicy",
    "load_policy",
    "load_solver",
    "model_card_of",
    "weights_sha256",
]
