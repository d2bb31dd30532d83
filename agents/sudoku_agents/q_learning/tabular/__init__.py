"""Tabular Q-learning and SARSA on a few small puzzles.

Sources: Watkins and Dayan, "Q-learning" (1992); Rummery and Niranjan, "On-line Q-learning using
connectionist systems" (1994), for SARSA.
"""
