"""Boards as tables of units: the standard ones, and variants."""

from sudoku_gym.geometry.units import (
    MAX_SIZE,
    Geometry,
    geometry_for,
    jigsaw,
    latin_square,
    sudoku_x,
    windows,
)

__all__ = ["MAX_SIZE", "Geometry", "geometry_for", "jigsaw", "latin_square", "sudoku_x", "windows"]
