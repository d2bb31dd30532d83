"""The rounds of messages in plain torch: any device, any floating dtype, gradients by autograd.

This is the definition that the kernels are held against; `body` states the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear

from sudoku_learning.networks.exact_cover.graph import ExactCoverGraph

LARGEST_MESSAGE = 7.0
FLOOR = 1e-3
REPLY_SCALE = 0.15


class Weights(NamedTuple):
    """The weights of the shared layer, H channels.

    Attributes:
        start: `[H]`, every placement's first state.
        gamma: `[H]`.
        message: `[H, H]` and `message_bias [H]`, from a state to its message.
        message_bias: `[H]`.
        gate: `[2 H, 2 H]`, from state and replies to the gate z, then to the candidate n.
        gate_bias: `[2 H]`.
    """

    start: Tensor
    gamma: Tensor
    message: Tensor
    message_bias: Tensor
    gate: Tensor
    gate_bias: Tensor


@dataclass(frozen=True)
class _Seats:
    """A graph's seats on the device that computes: int64 `[S]` each, and what lies beyond them."""

    occupants: Tensor
    constraints: Tensor
    num_constraints: int
    fulfilled: Tensor  # [P, 1], how many constraints of each placement another cell fulfils

    @staticmethod
    def of(graph: ExactCoverGraph, like: Tensor) -> _Seats:
        first_seat = torch.from_numpy(graph.first_seat).to(like.device).long()
        num_constraints = len(graph.first_seat) - 1
        every = torch.arange(num_constraints, device=like.device)
        fulfilled = (graph.seats_of > len(graph.occupants)).sum(1, keepdims=True)
        return _Seats(
            occupants=torch.from_numpy(graph.occupants).to(like.device).long(),
            constraints=every.repeat_interleave(first_seat.diff()),
            num_constraints=num_constraints,
            fulfilled=torch.from_numpy(fulfilled).to(like),
        )


def run_rounds(
    weights: Weights, graph: ExactCoverGraph, rounds: int, every_round: bool
) -> tuple[Tensor, Tensor]:
    """Return the states of placements `[R, P, H]` and of constraints `[R, C, H]`.

    R is the number of rounds if `every_round`, else 1: the last.
    """
    seats = _Seats.of(graph, weights.start)
    states = weights.start.expand(len(graph.index), -1)
    replies = states.new_zeros(len(graph.occupants), states.shape[1])
    messages = _messages(weights, states, replies, seats)
    kept: list[tuple[Tensor, Tensor]] = []
    for step in range(rounds):
        others = _totals(messages, seats).index_select(0, seats.constraints) - messages
        replies = torch.log(others.to(states.dtype) + FLOOR)
        heard = LARGEST_MESSAGE * seats.fulfilled.expand_as(states)
        heard = REPLY_SCALE * heard.index_add(0, seats.occupants, replies)
        z, n = linear(torch.cat([states, heard], 1), weights.gate, weights.gate_bias).chunk(2, 1)
        states = states + torch.sigmoid(z) * (torch.tanh(n) - states)
        messages = _messages(weights, states, replies, seats)
        if every_round or step == rounds - 1:
            constraints = torch.log(_totals(messages, seats).to(states.dtype) + FLOOR)
            kept.append((states, constraints))
    return torch.stack([s for s, _ in kept]), torch.stack([c for _, c in kept])


def _messages(weights: Weights, states: Tensor, replies: Tensor, seats: _Seats) -> Tensor:
    """The message on each seat, in float64: taken from a sum of larger ones, it leaves no noise."""
    said = linear(states, weights.message, weights.message_bias).index_select(0, seats.occupants)
    logs = torch.addcmul(said, weights.gamma, replies)
    return torch.exp(logs.clamp(-LARGEST_MESSAGE, LARGEST_MESSAGE)).double()


def _totals(messages: Tensor, seats: _Seats) -> Tensor:
    totals = messages.new_zeros(seats.num_constraints, messages.shape[1])
    return totals.index_add(0, seats.constraints, messages)
