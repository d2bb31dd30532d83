"""The page of `sudoku-gym app`: `game` plays and draws, `page` lays it out in gradio."""
