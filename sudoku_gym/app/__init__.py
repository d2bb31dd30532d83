"""The page of `sudoku-gym app`, on which a person watches policies play.

`choices` checks what a visitor asks for, `game` plays and draws it, `handlers` do what the buttons
say, `page` lays it out and serves it. Only the last two need gradio.
"""
