"""Wrappers for `SudokuEnv`, each with its twin for vector environments."""

from sudoku_gym.wrappers.canonical_cell import CanonicalCell, VectorCanonicalCell
from sudoku_gym.wrappers.encodings import (
    FlatObservation,
    MaskedObservation,
    OneHotBoard,
    VectorFlatObservation,
    VectorMaskedObservation,
    VectorOneHotBoard,
)
from sudoku_gym.wrappers.symmetry import SymmetryAugmentation, VectorSymmetryAugmentation

__all__ = [
    "CanonicalCell",
    "FlatObservation",
    "MaskedObservation",
    "OneHotBoard",
    "SymmetryAugmentation",
    "VectorCanonicalCell",
    "VectorFlatObservation",
    "VectorMaskedObservation",
    "VectorOneHotBoard",
    "VectorSymmetryAugmentation",
]
