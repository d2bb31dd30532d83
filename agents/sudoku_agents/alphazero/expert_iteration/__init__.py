"""Expert iteration: the retry search labels puzzles, the network learns from them.

`config` has the settings, `labels` the worker that searches and the pool of what it solved,
`thinking` the boards under training with what the network remembers of them, `learner` the rest.
"""
