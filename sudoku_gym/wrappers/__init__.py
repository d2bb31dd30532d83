"""Wrappers for `SudokuEnv`, each with its twin for vector environments."""

from sudoku_gym.wrappers.canonical_cell import CanonicalCell, VectorCanonicalCell
from sudoku_gym.wrappers.cover_tensor import ExactCoverTensor, VectorExactCoverTensor
from sudoku_gym.wrappers.dictionary import MaskedObservation, VectorMaskedObservation
from sudoku_gym.wrappers.flat import FlatObservation, VectorFlatObservation
from sudoku_gym.wrappers.one_hot import OneHotBoard, VectorOneHotBoard
from sudoku_gym.wrappers.propagation import SinglesPropagation, VectorSinglesPropagation
from sudoku_gym.wrappers.shaping import PotentialShaping, VectorPotentialShaping
from sudoku_gym.wrappers.symmetry import SymmetryAugmentation, VectorSymmetryAugmentation

__all__ = [
    "CanonicalCell",
    "ExactCoverTensor",
    "FlatObservation",
    "MaskedObservation",
    "OneHotBoard",
    "PotentialShaping",
    "SinglesPropagation",
    "SymmetryAugmentation",
    "VectorCanonicalCell",
    "VectorExactCoverTensor",
    "VectorFlatObservation",
    "VectorMaskedObservation",
    "VectorOneHotBoard",
    "VectorPotentialShaping",
    "VectorSinglesPropagation",
    "VectorSymmetryAugmentation",
]
