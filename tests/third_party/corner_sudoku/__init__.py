"""A third-party package: a variant, puzzles for it, and what plays and learns them."""
