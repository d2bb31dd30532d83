"""The page of `sudoku-gym demo`, on which a person watches policies play.

`choices` says what a visitor may ask for, `game` plays it, `picture` draws it, `page` lays it out
and serves it. Only `page` needs gradio.
"""
