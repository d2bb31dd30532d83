"""Read and write lists of puzzles: text with one puzzle a line, CSV, npz."""

SUFFIXES = (".txt", ".csv", ".npz")
