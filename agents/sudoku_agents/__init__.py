"""Agents that learn to solve Sudoku."""

SHOWN_IN_THE_APP = ("expert-iteration", "hidden-singles")  # what `sudoku-gym app` shows at first

AGENT_TRAINERS = {  # what `sudoku-gym train` says of them, and how long a run takes on one core
    "expert-iteration": (
        "a best-first search labels puzzles, the network learns them",
        "1 h",
    ),
    "calphazero": ("cAlphaZero as in the paper: self-play with tree search, 4x4", "15 min"),
    "dqn": ("deep Q-learning among legal placements", "10 min"),
    "q-learning": ("a table of action values for a few small puzzles", "10 s"),
    "gflownet": ("draws the solutions of a board, each as likely as the others", "10 min"),
}
