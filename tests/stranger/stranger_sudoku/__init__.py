"""A package of somebody else's: a variant, puzzles for it, and what plays and learns them."""
