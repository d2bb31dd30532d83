"""`python -m sudoku_gym`: the `sudoku-gym` command."""

import sys

from sudoku_gym.cli import main

if __name__ == "__main__":
    sys.exit(main())
