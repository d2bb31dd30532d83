"""Solvers as policies, so that all compete on the same puzzles."""

COMPARED_BY_DEFAULT = ("masked-random", "naked-singles", "hidden-singles")  # `sudoku-gym compare`
WATCHED_BY_DEFAULT = ("hidden-singles",)  # by `sudoku-gym watch`
