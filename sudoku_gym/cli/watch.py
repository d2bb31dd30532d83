"""`sudoku-gym watch`: see a policy play a puzzle, in the terminal or as a film."""

from __future__ import annotations

import sys
from pathlib import Path
from time import sleep

from sudoku_gym.app.game import Game
from sudoku_gym.cli.puzzle_arguments import Board, Puzzles, Split, draw_puzzle
from sudoku_gym.envs.rendering import save_film
from sudoku_gym.policies import load_policy

_TO_TOP = "\x1b[H\x1b[J"  # clears the screen of the terminal


def watch(
    policy: str = "hidden-singles",
    /,
    *,
    puzzles: Puzzles = "9x9",
    board: Board = "",
    trust: bool = False,
    split: Split | None = None,
    blanks: str = "",
    seed: int = 0,
    out: str = "",
    heat: bool = False,
    fps: float = 4.0,
) -> int:
    """Watch a policy play a puzzle, in the terminal or as a film.

    The exit code is 0 if it is solved, else 1.

    Args:
        policy: An installed policy, module:attribute, or the folder of a checkpoint; with options,
            if any, as in 'expert-iteration?simulations=64'.
        puzzles: What to play; one of several is drawn.
        board: Its board.
        trust: Allow checkpoints to load and run arbitrary code.
        split: Part of a bank to draw from; the test split if the bank has one.
        blanks: Reveal cells until this many blanks are left: a number, or a range such as 30-40.
        seed: Seed for drawing the puzzle and for the policy.
        out: Save a film, .gif or .mp4, instead of playing in the terminal.
        heat: Colour the candidates in the film by their probability under the policy; needs a
            policy with a method probabilities(boards, action_masks).
        fps: Moves per second, 0.1 to 1000.
    """
    if not 0.1 <= fps <= 1000:
        raise ValueError(f"fps={fps}: use 0.1 to 1000")
    if heat and not out:
        raise ValueError("--heat colours the frames of a film: name one with --out film.gif")
    player = load_policy(policy, trust=trust)
    if heat and not hasattr(player, "probabilities"):
        raise ValueError(
            f"{policy} has no probabilities: leave --heat out, or add a method "
            "probabilities(boards, action_masks) -> [B, A]"
        )
    start, geometry = draw_puzzle(puzzles, board, split, blanks, seed)
    game = Game(player, start, geometry, seed, heat)
    if out:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        save_film((game.draw(size=None) for _ in game.play()), Path(out), fps)
    else:
        _show(game, 1 / fps)
    print(f"{policy}: {game.result}{f', film in {out}' if out else ''}")
    return 0 if game.is_solved else 1


def _show(game: Game, pause: float) -> None:
    """Show every board in a terminal; else print the first, a line for each move, and the last."""
    in_terminal = sys.stdout.isatty()
    for number, frame in enumerate(game.play()):
        line = f"{number}. {frame.move}" if number else ""
        if in_terminal:
            print(f"{_TO_TOP}{game.text}\n{line}", flush=True)
            sleep(pause)
        else:
            print(line or game.text)
    if not in_terminal:
        print(game.text)
