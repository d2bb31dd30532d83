"""Supervised baselines: networks that learn Sudoku from solutions.

One file a model: `multiverse`, `recurrent_transformer`, `mlp`, `cnn`, `rrn`, `tiny_recursion`, all
trained by `learner`; two with learners of their own: `exact_cover` and `guissart`.
"""
