"""Compiled rules: the state of many boards, how it moves, and what may be played."""
