"""The rounds of messages in plain torch: any device, any floating dtype, gradients by autograd.

The kernels are tested against this; docs/design.md states the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear

from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.messages import EPSILON, MAX_LOG_MESSAGE, MESSAGE_SCALE
from sudoku_learning.networks.factor_graph.recurrent_state import (
    InitialStates,
    RecurrentState,
    join_states,
    split_states,
    state_ptrs,
)


class LayerWeights(NamedTuple):
    """The weights of the shared layer, H channels; P is 3 with intersections and 2 without.

    Without intersections the last three have no rows.
    """

    start: Tensor  # [H], every variable's first state
    gamma: Tensor  # [H], the share of a factor's last message in the next message to it
    message: Tensor  # [H, H], from a state to the unary term of its messages
    message_bias: Tensor  # [H]
    gate: Tensor  # [2 H, P H], from x_v to z, then n
    gate_bias: Tensor  # [2 H]
    intersection_start: Tensor  # [H], every intersection's first state
    intersection_gate: Tensor  # [2 H, 3 H], from a state and two messages to z, then n
    intersection_gate_bias: Tensor  # [2 H]


class Carried(NamedTuple):
    """What a round hands to the next: states, and messages on all edges; `[..., n, H]` each."""

    variables: Tensor  # [V, H]
    to_variable: Tensor  # [E, H]
    intersections: Tensor  # [Q, H]
    to_factor: Tensor  # float64 [E, H]


@dataclass(frozen=True)
class Intersections:
    """A graph's intersections on the device that computes."""

    lists: Tensor
    """int64 `[4, Q, n]`, the edges of the four kinds of lists; E stands for none"""
    of_variable: Tensor
    """int64 `[V, J]`, the intersections of each variable; Q stands for none"""
    is_member: Tensor | None = None
    """bool `[..., V, J, 1]`, whether a variable is in an intersection of it; None: in all"""

    @staticmethod
    def of(graph: FactorGraph, like: Tensor) -> Intersections:
        """Read them off a graph."""
        lists = _padded(graph.list_ptr, graph.list_edges, len(graph.edge_variable))
        return Intersections(
            torch.from_numpy(lists[graph.intersection_lists.T]).to(like.device),
            torch.from_numpy(graph.variable_intersections).to(like.device).long(),
        )

    def step(self, weights: LayerWeights, states: Tensor, to_factor: Tensor) -> Tensor:
        """Return the new states, given the messages on all edges."""
        sums = (EPSILON + _rows(to_factor, self.lists).sum(-2)).to(states.dtype)
        inside, outside, also_inside, also_outside = sums.unbind(-3)
        messages = [torch.log(inside * also_inside), torch.log(outside * also_outside)]
        x = torch.cat([states, *(MESSAGE_SCALE * message for message in messages)], -1)
        gates = linear(x, weights.intersection_gate, weights.intersection_gate_bias)
        return _gru_step(states, gates)

    def aggregate(self, states: Tensor) -> Tensor:
        """Return the sum of the states of each variable's intersections."""
        members = _rows(states, self.of_variable)
        return (members if self.is_member is None else members * self.is_member).sum(-2)


@dataclass(frozen=True)
class Edges:
    """A graph's edges on the device that computes; E stands for none."""

    variables: Tensor
    """int64 `[E]`"""
    factors: Tensor
    """int64 `[E]`"""
    of_variable: Tensor
    """int64 `[V, K]`, the edges of each variable"""
    of_factor: Tensor
    """int64 `[F, n]`, the edges of each factor"""
    fulfilled: Tensor
    """`[..., V, 1]`, how many constraints of each placement another cell fulfils"""
    is_open: Tensor | None = None
    """bool `[..., E, 1]`, the edges that messages go along; None: all"""

    @staticmethod
    def of(graph: FactorGraph, like: Tensor) -> Edges:
        """Read them off a graph."""
        count = len(graph.edge_variable)
        factor_of = np.arange(len(graph.factor_ptr) - 1).repeat(np.diff(graph.factor_ptr))
        fulfilled = (graph.variable_edges > count).sum(1, keepdims=True)
        variables, factors, of_variable, of_factor = (
            torch.from_numpy(array).to(like.device).long()
            for array in (
                graph.edge_variable,
                factor_of,
                np.minimum(graph.variable_edges, count),
                _padded(graph.factor_ptr, np.arange(count), count),
            )
        )
        return Edges(
            variables, factors, of_variable, of_factor, torch.from_numpy(fulfilled).to(like)
        )

    def totals(self, numbers: Tensor) -> Tensor:
        """Return the sum over the edges of each factor, `[..., F, H]`, of numbers of edges."""
        return _rows(numbers, self.of_factor).sum(-2)

    def along_open(self, messages: Tensor) -> Tensor:
        """Return the messages with 0 on the edges that are not open."""
        return messages if self.is_open is None else torch.where(self.is_open, messages, 0.0)

    def sums(self, numbers: Tensor) -> Tensor:
        """Return the sum over the edges of each variable, `[..., V, H]`, of numbers of edges."""
        return _rows(numbers, self.of_variable).sum(-2)

    def to_factor(self, weights: LayerWeights, variables: Tensor, to_variable: Tensor) -> Tensor:
        """The messages to factors, in float64: subtracting them from their sum leaves no noise."""
        unary = linear(variables, weights.message, weights.message_bias)
        logs = torch.addcmul(unary.index_select(-2, self.variables), weights.gamma, to_variable)
        messages = torch.exp(logs.clamp(-MAX_LOG_MESSAGE, MAX_LOG_MESSAGE)).double()
        return self.along_open(messages)


def run_rounds(
    weights: LayerWeights,
    graph: FactorGraph,
    rounds: int,
    all_rounds: bool,
    states: Sequence[RecurrentState | None] | None = None,
) -> tuple[Tensor, Tensor, list[RecurrentState]]:
    """Return the states of variables `[R, V, H]`, features of factors `[R, F, H]`, and states.

    R is the number of rounds if `all_rounds`, else 1: the last. With `states`, each board begins
    with its own (None: a new board), and those after the last round come back, one a board.

    Raises:
        ValueError: if there is not a state for each board, or one belongs to another board.
    """
    edges = Edges.of(graph, weights.start)
    has_intersections = len(weights.intersection_start) > 0
    intersections = Intersections.of(graph, weights.start) if has_intersections else None
    variables = weights.start.expand(len(graph.positions), -1)
    first = weights.intersection_start if intersections else weights.start
    intersection_states = first.expand(len(graph.list_ptr) // 4, -1)
    to_variable = variables.new_zeros(len(graph.edge_variable), variables.shape[1])
    if states is not None:
        width = variables.shape[1]
        initial = join_states(states, graph, width, width)
        new = variables, to_variable, intersection_states
        variables, to_variable, intersection_states = _loaded(new, initial, graph)
    to_factor = edges.to_factor(weights, variables, to_variable)
    carried = Carried(variables, to_variable, intersection_states, to_factor)
    kept: list[tuple[Tensor, Tensor]] = []
    for step in range(rounds):
        carried = plain_round(weights, edges, intersections, carried)
        if all_rounds or step == rounds - 1:
            factors = torch.log(edges.totals(carried.to_factor).to(variables.dtype) + EPSILON)
            kept.append((carried.variables, factors))
    final = []
    if states is not None:
        ends = (array.detach().float().cpu().numpy() for array in carried[:3])
        final = split_states(RecurrentState(*ends), graph)
    return torch.stack([v for v, _ in kept]), torch.stack([f for _, f in kept]), final


def plain_round(
    weights: LayerWeights, edges: Edges, intersections: Intersections | None, carried: Carried
) -> Carried:
    """Run one round."""
    variables, to_variable, intersection_states, to_factor = carried
    others = edges.totals(to_factor).index_select(-2, edges.factors) - to_factor
    to_variable = edges.along_open(torch.log(others.to(variables.dtype) + EPSILON))
    x = [variables, MESSAGE_SCALE * (MAX_LOG_MESSAGE * edges.fulfilled + edges.sums(to_variable))]
    if intersections:
        intersection_states = intersections.step(weights, intersection_states, to_factor)
        x.append(intersections.aggregate(intersection_states))
    variables = _gru_step(variables, linear(torch.cat(x, -1), weights.gate, weights.gate_bias))
    to_factor = edges.to_factor(weights, variables, to_variable)
    return Carried(variables, to_variable, intersection_states, to_factor)


def _loaded(new: tuple[Tensor, ...], initial: InitialStates, graph: FactorGraph) -> list[Tensor]:
    """Replace the first states and messages of boards that are not new."""
    loaded = []
    for first, old, ptr in zip(new, initial.states, state_ptrs(graph), strict=True):
        is_new = torch.from_numpy(initial.is_new.repeat(ptr[1:] - ptr[:-1])[:, None])
        loaded.append(torch.where(is_new.to(first.device), first, torch.from_numpy(old).to(first)))
    return loaded


def _gru_step(states: Tensor, gates: Tensor) -> Tensor:
    z, n = gates.chunk(2, -1)
    return states + torch.sigmoid(z) * (torch.tanh(n) - states)


def _rows(numbers: Tensor, groups: Tensor) -> Tensor:
    """Return the rows `[..., *groups.shape, H]` of numbers `[..., n, H]`; row n is of zeros."""
    none = numbers.new_zeros(*numbers.shape[:-2], 1, numbers.shape[-1])
    rows = torch.cat([numbers, none], -2).index_select(-2, groups.flatten())
    return rows.view(*numbers.shape[:-2], *groups.shape, numbers.shape[-1])


def _padded(ptr: NDArray[np.int32], numbers: NDArray[Any], none: int) -> NDArray[np.int64]:
    """Return a row of numbers for each range of `ptr`, as in CSR, padded with `none`."""
    lengths = np.diff(ptr)[:, None]
    column = np.arange(lengths.max(initial=0))
    padded = np.append(numbers, none).astype(np.int64)
    found: NDArray[np.int64] = padded[np.where(column < lengths, ptr[:-1, None] + column, -1)]
    return found
