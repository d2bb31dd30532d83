"""A network of some five hundred weights that fills in what is certain, and tries the rest.

Paper: Guissart, "100% accurate Sudoku solving with deep learning algorithm" (2024). `features` has
what a placement sees of the board, `network` the small network with its thresholds, `filling` the
steps that fill a board and say when it is wrong, `trying` trial and error with backtracking,
`learner` the training, `solver` the whole as a solver.

The paper calls a placement a digit-cell pair. What is known of each of them is its *mark*: 1 where
the digit is present, -1 where it is absent, 0 where nobody knows yet.
"""
