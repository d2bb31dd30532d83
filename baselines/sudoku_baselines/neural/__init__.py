"""Supervised baselines: networks that learn Sudoku from solutions.

One file a model: its network, its training (`main`), and the trained network that comes with the
package (`policy`). `learner` trains all but `exact_cover` and `guissart`.
"""
