"""Expert iteration: the best-first search labels puzzles, the network learns from them.

`config` has the settings, `labels` the worker that searches and the pool of what it solved,
`learner` the rest; the updates themselves are those of `sudoku_learning.recurrent`.
"""
