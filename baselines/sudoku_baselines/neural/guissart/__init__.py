"""Small networks that fill in what is certain, and search for the rest.

Paper: Guissart, "100% accurate Sudoku solving with deep learning algorithm" (2024), which calls a
placement a digit-cell pair. What is known of a placement is its *state*: 1 where the digit is
present, -1 where it is absent, 0 where it is unknown.
"""
