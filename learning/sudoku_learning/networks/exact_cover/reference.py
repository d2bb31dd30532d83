"""The rounds of messages in plain torch: any device, any floating dtype, gradients by autograd.

This is the definition that the kernels are held against; `body` states the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

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
class _Edges:
    """A graph's index arrays on the device that computes."""

    seats_of: Tensor
    occupants: Tensor
    constraint_of: Tensor
    num_constraints: int

    @staticmethod
    def of(graph: ExactCoverGraph, device: torch.device) -> _Edges:
        first_seat = torch.from_numpy(graph.first_seat).to(device).long()
        num_constraints = len(graph.first_seat) - 1
        every = torch.arange(num_constraints, device=device)
        return _Edges(
            seats_of=torch.from_numpy(graph.seats_of).to(device).long(),
            occupants=torch.from_numpy(graph.occupants).to(device).long(),
            constraint_of=every.repeat_interleave(first_seat.diff()),
            num_constraints=num_constraints,
        )


def run_rounds(
    weights: Weights, graph: ExactCoverGraph, rounds: int, every_round: bool
) -> tuple[Tensor, Tensor]:
    """Return the states of placements `[R, P, H]` and constraints `[R, C, H]`.

    R is the number of rounds if `every_round`, else 1: the last.
    """
    device = weights.start.device
    edges = _Edges.of(graph, device)
    states = weights.start.expand(len(graph.index), -1)
    replies = states.new_zeros(len(graph.occupants), states.shape[1])
    beyond = torch.tensor([[0.0], [LARGEST_MESSAGE]], dtype=states.dtype, device=device)
    beyond = beyond.expand(2, states.shape[1])
    messages = _messages(weights, states, replies, edges)
    kept: list[tuple[Tensor, Tensor]] = []
    for step in range(rounds):
        totals = _totals(messages, edges)
        others = (totals.index_select(0, edges.constraint_of) - messages).clamp(min=0).to(states.dtype)
        replies = torch.log(others + FLOOR)
        heard = torch.cat([replies, beyond]).index_select(0, edges.seats_of.flatten())
        heard = heard.view(*edges.seats_of.shape, -1).sum(1)
        gates = torch.nn.functional.linear(
            torch.cat([states, REPLY_SCALE * heard], 1), weights.gate, weights.gate_bias
        )
        z, n = gates.chunk(2, 1)
        states = states + torch.sigmoid(z) * (torch.tanh(n) - states)
        messages = _messages(weights, states, replies, edges)
        if every_round or step == rounds - 1:
            constraints = torch.log(_totals(messages, edges).to(states.dtype) + FLOOR)
            kept.append((states, constraints))
    return torch.stack([s for s, _ in kept]), torch.stack([c for _, c in kept])


def _messages(weights: Weights, states: Tensor, replies: Tensor, edges: _Edges) -> Tensor:
    """The message of each seat, wide enough to take one from the sum of all without loss."""
    said = torch.nn.functional.linear(states, weights.message, weights.message_bias)
    logs = said.index_select(0, edges.occupants) + weights.gamma * replies
    messages = torch.exp(logs.clamp(-LARGEST_MESSAGE, LARGEST_MESSAGE))
    return messages if messages.device.type == "mps" else messages.double()


def _totals(messages: Tensor, edges: _Edges) -> Tensor:
    totals = messages.new_zeros(edges.num_constraints, messages.shape[1])
    return totals.index_add(0, edges.constraint_of, messages)
