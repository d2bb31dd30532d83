"""The rounds of messages in plain torch: any device, any floating dtype, gradients by autograd.

The kernels are tested against this; docs/networks.md states the equations.
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
from sudoku_learning.networks.factor_graph.messages import EPSILON, MAX_LOG_MESSAGE, MESSAGE_SCALE
from sudoku_learning.networks.factor_graph.recurrent_state import (
    InitialStates,
    RecurrentState,
    join_states,
    split_states,
    state_ptrs,
)


class _Carried(NamedTuple):
    """What a round hands to the next: states, and messages on all edges."""

    variables: Tensor  # [V, H]
    to_variable: Tensor  # [E, H]
    intersections: Tensor  # [Q, H]
    to_factor: Tensor  # float64 [E, H]


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


class _Intersections:
    """A graph's intersections on the device that computes."""

    def __init__(self, graph: FactorGraph, like: Tensor) -> None:
        self.count = len(graph.list_ptr) // 4
        edges = torch.from_numpy(graph.list_edges).to(like.device).long()
        lengths = np.diff(graph.list_ptr)
        list_of = np.empty(4 * self.count, np.int64)  # 4 q, 4 q + 1, ...: the four lists of q
        list_of[graph.intersection_lists.ravel()] = np.arange(4 * self.count)
        owners = torch.from_numpy(list_of.repeat(lengths)).to(like.device)
        # edges and intersections int64 `[n]` of each of the four kinds of lists
        self.lists = [
            (edges[owners % 4 == kind], owners[owners % 4 == kind] // 4) for kind in range(4)
        ]
        variables, column = np.nonzero(graph.variable_intersections < self.count)
        members = graph.variable_intersections[variables, column]
        self.variables = torch.from_numpy(variables).to(like.device)
        self.of_variables = torch.from_numpy(members).to(like.device).long()

    def step(self, weights: LayerWeights, states: Tensor, to_factor: Tensor) -> Tensor:
        """Return the new states, given the messages on all edges."""
        inside, outside, also_inside, also_outside = (
            to_factor.new_full((self.count, to_factor.shape[1]), EPSILON)
            .index_add(0, intersections, to_factor.index_select(0, edges))
            .to(states.dtype)
            for edges, intersections in self.lists
        )
        messages = [torch.log(inside * also_inside), torch.log(outside * also_outside)]
        x = torch.cat([states, *(MESSAGE_SCALE * message for message in messages)], 1)
        gates = linear(x, weights.intersection_gate, weights.intersection_gate_bias)
        return _gru_step(states, gates)

    def aggregate(self, states: Tensor, like: Tensor) -> Tensor:
        """Return the sum of the states of each variable's intersections."""
        members = states.index_select(0, self.of_variables)
        return torch.zeros_like(like).index_add(0, self.variables, members)


@dataclass(frozen=True)
class _Edges:
    """A graph's edges on the device that computes: int64 `[E]` each."""

    variables: Tensor
    factors: Tensor
    num_factors: int
    fulfilled: Tensor  # [V, 1], how many constraints of each placement another cell fulfils

    @staticmethod
    def of(graph: FactorGraph, like: Tensor) -> _Edges:
        factor_ptr = torch.from_numpy(graph.factor_ptr).to(like.device).long()
        num_factors = len(graph.factor_ptr) - 1
        every = torch.arange(num_factors, device=like.device)
        fulfilled = (graph.variable_edges > len(graph.edge_variable)).sum(1, keepdims=True)
        return _Edges(
            variables=torch.from_numpy(graph.edge_variable).to(like.device).long(),
            factors=every.repeat_interleave(factor_ptr.diff()),
            num_factors=num_factors,
            fulfilled=torch.from_numpy(fulfilled).to(like),
        )

    def totals(self, to_factor: Tensor) -> Tensor:
        totals = to_factor.new_zeros(self.num_factors, to_factor.shape[1])
        return totals.index_add(0, self.factors, to_factor)


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
    edges = _Edges.of(graph, weights.start)
    has_intersections = len(weights.intersection_start) > 0
    intersections = _Intersections(graph, weights.start) if has_intersections else None
    variables = weights.start.expand(len(graph.positions), -1)
    first = weights.intersection_start if intersections else weights.start
    intersection_states = first.expand(len(graph.list_ptr) // 4, -1)
    to_variable = variables.new_zeros(len(graph.edge_variable), variables.shape[1])
    if states is not None:
        initial = join_states(states, graph, variables.shape[1])
        new = variables, to_variable, intersection_states
        variables, to_variable, intersection_states = _loaded(new, initial, graph)
    to_factor = _to_factor(weights, variables, to_variable, edges)
    carried = _Carried(variables, to_variable, intersection_states, to_factor)
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
    weights: LayerWeights,
    edges: _Edges,
    intersections: _Intersections | None,
    carried: _Carried,
) -> _Carried:
    """Run one round."""
    variables, to_variable, intersection_states, to_factor = carried
    others = edges.totals(to_factor).index_select(0, edges.factors) - to_factor
    to_variable = torch.log(others.to(variables.dtype) + EPSILON)
    fulfilled = MAX_LOG_MESSAGE * edges.fulfilled.expand_as(variables)
    sums = fulfilled.index_add(0, edges.variables, to_variable)
    x = [variables, MESSAGE_SCALE * sums]
    if intersections:
        intersection_states = intersections.step(weights, intersection_states, to_factor)
        x.append(intersections.aggregate(intersection_states, variables))
    variables = _gru_step(variables, linear(torch.cat(x, 1), weights.gate, weights.gate_bias))
    to_factor = _to_factor(weights, variables, to_variable, edges)
    return _Carried(variables, to_variable, intersection_states, to_factor)


def _loaded(new: tuple[Tensor, ...], initial: InitialStates, graph: FactorGraph) -> list[Tensor]:
    """Replace the first states and messages of boards that are not new."""
    loaded = []
    for first, old, ptr in zip(new, initial.states, state_ptrs(graph), strict=True):
        is_new = torch.from_numpy(initial.is_new.repeat(ptr[1:] - ptr[:-1])[:, None])
        loaded.append(torch.where(is_new.to(first.device), first, torch.from_numpy(old).to(first)))
    return loaded


def _gru_step(states: Tensor, gates: Tensor) -> Tensor:
    z, n = gates.chunk(2, 1)
    return states + torch.sigmoid(z) * (torch.tanh(n) - states)


def _to_factor(
    weights: LayerWeights, variables: Tensor, to_variable: Tensor, edges: _Edges
) -> Tensor:
    """The messages to factors, in float64: subtracting them from their sum leaves no noise."""
    unary = linear(variables, weights.message, weights.message_bias)
    logs = torch.addcmul(unary.index_select(0, edges.variables), weights.gamma, to_variable)
    return torch.exp(logs.clamp(-MAX_LOG_MESSAGE, MAX_LOG_MESSAGE)).double()
