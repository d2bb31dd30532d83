"""What must stand beside the figures of a network, so that they can be compared with others'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ModelCard:
    """A trained network and how it is played.

    A policy, solver or predictor that can tell has it as its attribute `model_card`.

    Source: Mitchell et al., "Model cards for model reporting" (2019), for the word.
    """

    sees: Literal["grid", "constraints"]
    """`grid`: digits and their positions are all it is given; `constraints`: it passes messages, or
    takes sums, along rows, columns and boxes"""
    weights: int
    """trained numbers, of all its networks"""
    solutions: int
    """different puzzles whose solution it was shown in training"""
    play: Literal["one shot", "sequential", "search"]
    """`one shot`: all blanks are read off one evaluation; `sequential`: one digit after the other,
    none taken back; `search`: moves are tried, or taken back"""
    restarts: int = 0
    """further starts of its rounds, at most, on a board that has not converged"""


def model_card_of(policy: object) -> ModelCard | None:
    """Return the model card of a policy, solver or predictor; None if it has none."""
    card = getattr(policy, "model_card", None)
    return card if isinstance(card, ModelCard) else None
