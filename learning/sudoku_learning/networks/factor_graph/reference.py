"""The rounds of messages in plain torch: any device, any floating dtype, gradients by autograd.

This is the definition that the kernels are held against; `body` states the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.recurrent_state import (
    Beginning,
    RecurrentState,
    first_rows,
    join,
    split,
)

LARGEST_MESSAGE = 7.0
FLOOR = 1e-3
REPLY_SCALE = 0.15


class Weights(NamedTuple):
    """The weights of the shared layer, H channels; F is 3 with intersections and 2 without.

    Attributes:
        start: `[H]`, every placement's first state.
        gamma: `[H]`, how much of a constraint's last reply the message to it takes in.
        message: `[H, H]`, from a state to its message.
        message_bias: `[H]`.
        gate: `[2 H, F H]`, from a placement's state, what it heard and what it read of its
            intersections to the gate z, then to the candidate n.
        gate_bias: `[2 H]`.
        view_start: `[H]`, every intersection's first state; `[0]` without them, as the next two.
        view_gate: `[2 H, 3 H]`, from an intersection's state and its two views to z, then n.
        view_gate_bias: `[2 H]`.
    """

    start: Tensor
    gamma: Tensor
    message: Tensor
    message_bias: Tensor
    gate: Tensor
    gate_bias: Tensor
    view_start: Tensor
    view_gate: Tensor
    view_gate_bias: Tensor


@dataclass(frozen=True)
class _Parts:
    """The seats inside (or outside) intersections, with the intersection of each: int64 `[n]`."""

    seats: Tensor
    intersections: Tensor

    def total(self, messages: Tensor, count: int) -> Tensor:
        sums = messages.new_full((count, messages.shape[1]), FLOOR)
        return sums.index_add(0, self.intersections, messages.index_select(0, self.seats))


class _Intersections:
    """A graph's intersections on the device that computes."""

    def __init__(self, graph: FactorGraph, like: Tensor) -> None:
        self.count = len(graph.first_part) // 4
        seats = torch.from_numpy(graph.parts).to(like.device).long()
        lengths = np.diff(graph.first_part)
        part_of = np.empty(4 * self.count, np.int64)  # 4 q, 4 q + 1, ...: the four lists of q
        part_of[graph.parts_of.ravel()] = np.arange(4 * self.count)
        owners = torch.from_numpy(part_of.repeat(lengths)).to(like.device)
        self.parts = [
            _Parts(seats[owners % 4 == part], owners[owners % 4 == part] // 4) for part in range(4)
        ]
        readers, column = np.nonzero(graph.intersections_of < self.count)
        read = graph.intersections_of[readers, column]
        self.readers = torch.from_numpy(readers).to(like.device)
        self.read = torch.from_numpy(read).to(like.device).long()

    def advance(self, weights: Weights, states: Tensor, messages: Tensor) -> Tensor:
        """Return the new states, given the messages on all seats."""
        inside, outside, also_inside, also_outside = (
            part.total(messages, self.count).to(states.dtype) for part in self.parts
        )
        views = [torch.log(inside * also_inside), torch.log(outside * also_outside)]
        x = torch.cat([states, *(REPLY_SCALE * view for view in views)], 1)
        return _turn(states, linear(x, weights.view_gate, weights.view_gate_bias))


@dataclass(frozen=True)
class _Seats:
    """A graph's seats on the device that computes: int64 `[S]` each, and what lies beyond them."""

    occupants: Tensor
    constraints: Tensor
    num_constraints: int
    fulfilled: Tensor  # [P, 1], how many constraints of each placement another cell fulfils

    @staticmethod
    def of(graph: FactorGraph, like: Tensor) -> _Seats:
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
    weights: Weights,
    graph: FactorGraph,
    rounds: int,
    all_rounds: bool,
    parts: Sequence[RecurrentState | None] | None = None,
) -> tuple[Tensor, Tensor, list[RecurrentState]]:
    """Return the states of placements `[R, P, H]` and of constraints `[R, C, H]`, and memories.

    R is the number of rounds if `all_rounds`, else 1: the last. With `parts`, the rounds of each
    board begin with its memory (None: anew), and the memory of their end comes back, one a board.

    Raises:
        ValueError: if there is not a part for each board, or one belongs to another board.
    """
    seats = _Seats.of(graph, weights.start)
    intersections = _Intersections(graph, weights.start) if len(weights.view_start) else None
    returns = torch.from_numpy(graph.returns).to(weights.start)
    spare = len(weights.start) - returns.shape[1]
    told = torch.nn.functional.pad(returns, (0, spare))
    states = weights.start.expand(len(graph.positions), -1)
    view_start = weights.view_start if intersections else weights.start
    views = view_start.expand(len(graph.first_part) // 4, -1)
    replies = states.new_zeros(len(graph.occupants), states.shape[1])
    if parts is not None:
        beginning = join(parts, graph, states.shape[1])
        firsts = states, replies, views
        states, replies, views = _recalled(firsts, beginning, graph)
    messages = _messages(weights, states, replies, seats)
    kept: list[tuple[Tensor, Tensor]] = []
    for step in range(rounds):
        others = _totals(messages, seats).index_select(0, seats.constraints) - messages
        replies = torch.log(others.to(states.dtype) + FLOOR)
        heard = LARGEST_MESSAGE * seats.fulfilled.expand_as(states)
        x = [states, REPLY_SCALE * heard.index_add(0, seats.occupants, replies) + told]
        if intersections:
            views = intersections.advance(weights, views, messages)
            read = views.index_select(0, intersections.read)
            x.append(torch.zeros_like(states).index_add(0, intersections.readers, read))
        states = _turn(states, linear(torch.cat(x, 1), weights.gate, weights.gate_bias))
        messages = _messages(weights, states, replies, seats)
        if all_rounds or step == rounds - 1:
            constraints = torch.log(_totals(messages, seats).to(states.dtype) + FLOOR)
            kept.append((states, constraints))
    memories = []
    if parts is not None:
        ends = (x.detach().float().cpu().numpy() for x in (states, replies, views))
        memories = split(RecurrentState(*ends), graph)
    return torch.stack([s for s, _ in kept]), torch.stack([c for _, c in kept]), memories


def _recalled(firsts: tuple[Tensor, ...], beginning: Beginning, graph: FactorGraph) -> list[Tensor]:
    """Replace the first states, replies and views of boards that go on by what they remember."""
    recalled = []
    for first, memory, start in zip(firsts, beginning.memory, first_rows(graph), strict=True):
        is_fresh = torch.from_numpy(beginning.is_fresh.repeat(start[1:] - start[:-1])[:, None])
        old = torch.from_numpy(memory).to(first)
        recalled.append(torch.where(is_fresh.to(first.device), first, old))
    return recalled


def _turn(states: Tensor, gates: Tensor) -> Tensor:
    z, n = gates.chunk(2, 1)
    return states + torch.sigmoid(z) * (torch.tanh(n) - states)


def _messages(weights: Weights, states: Tensor, replies: Tensor, seats: _Seats) -> Tensor:
    """The message on each seat, in float64: taken from a sum of larger ones, it leaves no noise."""
    said = linear(states, weights.message, weights.message_bias).index_select(0, seats.occupants)
    logs = torch.addcmul(said, weights.gamma, replies)
    return torch.exp(logs.clamp(-LARGEST_MESSAGE, LARGEST_MESSAGE)).double()


def _totals(messages: Tensor, seats: _Seats) -> Tensor:
    totals = messages.new_zeros(seats.num_constraints, messages.shape[1])
    return totals.index_add(0, seats.constraints, messages)
