"""Networks that learn Sudoku from solutions: the supervised baselines.

`puzzles` says which puzzles are trained on and which are kept back, `model` what a network is here,
`config`, `drawing` and `learner` train any of them on the shared loop, `policies` plays them. One
file a model: `multiverse`, `recurrent_transformer`, `mlp`, `cnn`, `rrn`, `tiny_recursion`; two
train in ways of their own: `exact_cover` and `guissart`.
"""
