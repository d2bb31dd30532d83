"""cAlphaZero: tree search, a network, and a curriculum over the number of blanks.

Paper: Agarwal, Han, Kyimpopkin and Klein, "cAlphaZero: a reinforcement-learning Sudoku solver with
curriculum scheduling".
"""
