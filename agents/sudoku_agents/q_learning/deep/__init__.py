"""Deep Q-learning that never considers an illegal placement.

`config` has the settings, `games` the worker that plays, `replay` what was played (`sum_tree` draws
from it by priority), `targets` what the values should have been, `updates` the network's steps
towards that, `learner` the rest, `agent` the policy.
"""
