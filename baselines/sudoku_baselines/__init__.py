"""Solvers as policies, so that all compete on the same puzzles."""

COMPARED_BY_DEFAULT = ("masked-random", "naked-singles", "hidden-singles")  # `sudoku-gym compare`
WATCHED_BY_DEFAULT = ("hidden-singles",)  # by `sudoku-gym watch`

BASELINE_TRAINERS = {  # what `sudoku-gym train` says of them, and how long a run takes on one core
    "exact-cover": ("the factor-graph body, on solutions", "1 h"),
    "guissart": ("small networks that fill what is certain, on solutions", "10 min"),
    "multiverse": ("Multiverse networks, 4x4, on solutions", "10 min"),
    "recurrent-transformer": ("a recurrent transformer, 4x4, on solutions", "5 min"),
    "rrn": ("a recurrent relational network, on solutions", "30 min"),
    "cnn": ("convolutions, on solutions", "2 min"),
    "mlp": ("a perceptron, on solutions", "3 min"),
    "tiny-recursion": ("a tiny recursive model, on solutions", "40 min"),
}
