"""Solvers as policies, so that all compete on the same puzzles."""
