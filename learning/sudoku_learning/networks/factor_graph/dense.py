"""The rounds of messages on arrays of one shape, for formats that can't build a graph, as ONNX.

Every placement of the board has a row, legal or not, and every constraint and intersection of the
geometry has one; what a board's graph does not hold sends nothing. `reference` has the same rounds
on packed graphs.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import (
    constraint_members,
    constraint_table,
    intersection_table,
)
from sudoku_learning.networks.factor_graph.body import FactorGraphBody
from sudoku_learning.networks.factor_graph.messages import EPSILON, MAX_LOG_MESSAGE, MESSAGE_SCALE


class DenseFactorGraphBody(nn.Module):
    """The states of all placements after a number of rounds, by the weights of a body.

    Args:
        body: its weights are shared, not copied; it must have no walks.
        geometry: of the boards.
        rounds: how many.

    Raises:
        ValueError: if the body has walks.
    """

    table: Tensor
    """int64 `[P, K]`, the constraints of each placement"""
    is_real: Tensor
    """bool `[P, K]`, False in the padding of `table`"""
    members: Tensor
    """int64 `[C, N]`, the placements of each constraint"""
    edges: Tensor
    """int64 `[C, N]`, their edges: edge `p * K + k` leads from placement p to constraint k of it"""
    intersections_of: Tensor
    """int64 `[P, J]`, the intersections of each placement"""
    side_edges: Tensor
    """int64 `[P, J, 2]`, its edges to the two constraints of each of them"""
    inside: Tensor
    """int64 `[2 Q, ...]`, edges inside of each intersection in its first, then in its second
    constraint"""
    outside: Tensor
    """int64 `[2 Q, ...]`, the other edges of these constraints"""

    def __init__(self, body: FactorGraphBody, geometry: Geometry, rounds: int) -> None:
        super().__init__()
        if body.config.walks:
            raise ValueError(f"walks={body.config.walks}: random walks have no form without graphs")
        self.body, self.rounds, self.size = body, rounds, geometry.size
        table = constraint_table(geometry).astype(np.int64)  # [P, K]
        members = constraint_members(geometry).astype(np.int64)  # [C, N]
        self.num_edges = table.size
        self._keep("table", table)
        self._keep("members", members)
        self._keep("is_real", table < len(members))
        columns = (table[members] == np.arange(len(members))[:, None, None]).argmax(2)
        edges = members * table.shape[1] + columns  # [C, N], of each constraint
        self._keep("edges", edges)
        if body.config.intersections:
            self._keep_intersections(table, edges, intersection_table(geometry))

    def forward(self, boards: Tensor, masks: Tensor) -> Tensor:
        """Return the states float32 `[B, P, H]` of boards int64 `[B, N, N]`, masks bool `[B, P]`.

        Those of placements that are not legal mean nothing.
        """
        weights = self.body._weights()
        batch, (placements, columns) = boards.shape[0], self.table.shape
        digits = torch.arange(1, self.size + 1, device=boards.device)
        filled = (boards.reshape(batch, -1, 1) == digits).reshape(batch, placements)
        fulfilled = filled[:, self.members].any(2)  # [B, C]
        fulfilled = torch.cat([fulfilled, fulfilled.new_zeros(batch, 1)], 1)[:, self.table]
        legal = masks[:, :, None]
        is_edge = (legal & self.is_real & ~fulfilled)[..., None]  # [B, P, K, 1]
        of_fulfilled = MAX_LOG_MESSAGE * (legal & fulfilled).sum(2, keepdim=True).float()
        states = weights.start.expand(batch, placements, -1)
        width = states.shape[2]
        to_variable = states.new_zeros(batch, placements, columns, width)
        intersections = None
        if self.body.config.intersections:
            first = weights.intersection_start
            intersections = first.expand(batch, len(self.inside) // 2, -1)
            is_member = self._membership(is_edge)
        to_factor = self._to_factor(states, to_variable, is_edge)
        for _ in range(self.rounds):
            flat = to_factor.reshape(batch, self.num_edges, width)
            totals = flat[:, self.edges].sum(2)  # [B, C, H]
            totals = torch.cat([totals, totals.new_zeros(batch, 1, width)], 1)
            others = totals[:, self.table] - to_factor
            to_variable = torch.where(is_edge, torch.log(others.float() + EPSILON), 0.0)
            x = [states, MESSAGE_SCALE * (of_fulfilled + to_variable.sum(2))]
            if intersections is not None:
                intersections = self._step(intersections, flat)
                none = intersections.new_zeros(batch, 1, width)
                around = torch.cat([intersections, none], 1)[:, self.intersections_of]
                x.append((around * is_member).sum(2))
            gates = linear(torch.cat(x, 2), weights.gate, weights.gate_bias)
            states = _gated(states, gates)
            to_factor = self._to_factor(states, to_variable, is_edge)
        return states

    def _to_factor(self, states: Tensor, to_variable: Tensor, is_edge: Tensor) -> Tensor:
        """The messages to factors float64 `[B, P, K, H]`, 0 where there is no edge."""
        weights = self.body._weights()
        unary = linear(states, weights.message, weights.message_bias)[:, :, None]
        logs = unary + weights.gamma * to_variable
        messages = torch.exp(logs.clamp(-MAX_LOG_MESSAGE, MAX_LOG_MESSAGE)).double()
        return torch.where(is_edge, messages, 0.0)

    def _step(self, states: Tensor, to_factor: Tensor) -> Tensor:
        """Return the new states of the intersections `[B, Q, H]`."""
        weights = self.body._weights()
        batch, count, width = states.shape
        none = to_factor.new_zeros(batch, 1, width)
        messages = torch.cat([to_factor, none], 1)
        x = [states]
        for lists in (self.inside, self.outside):
            sums = (messages[:, lists].sum(2) + EPSILON).float()  # [B, 2 Q, H]
            product = sums[:, :count] * sums[:, count:]
            x.append(MESSAGE_SCALE * torch.log(product))
        gates = linear(torch.cat(x, 2), weights.intersection_gate, weights.intersection_gate_bias)
        return _gated(states, gates)

    def _membership(self, is_edge: Tensor) -> Tensor:
        """Whether each placement is in each of its intersections: `[B, P, J, 1]`, 0 or 1."""
        flat = is_edge.reshape(is_edge.shape[0], self.num_edges)
        flat = torch.cat([flat, flat.new_zeros(flat.shape[0], 1)], 1)
        return (flat[:, self.side_edges].all(3)[..., None]).float()

    def _keep_intersections(
        self, table: NDArray[np.int64], edges: NDArray[np.int64], cells: NDArray[np.int32]
    ) -> None:
        """Number the intersections, and list the edges inside and outside of them.

        Number Q, or an edge past the last, stands for none.
        """
        size, columns, no_edge = self.size, table.shape[1], self.num_edges
        of_cells = cells.astype(np.int64).repeat(size, 0)  # [P, J, 3]
        digits = np.arange(len(table)) % size
        keys = np.where(of_cells[..., 0] >= 0, of_cells[..., 0] * size + digits[:, None], -1)
        numbers = np.unique(keys[keys >= 0])
        count = len(numbers)
        intersections_of = np.where(keys >= 0, np.searchsorted(numbers, keys), count)
        own = np.arange(len(table))[:, None, None] * columns + of_cells[..., 1:]
        side_edges = np.where(keys[..., None] >= 0, own, no_edge)
        inside: list[list[int]] = [[] for _ in range(2 * count)]
        for p, j in zip(*np.nonzero(keys >= 0), strict=True):
            for side in range(2):
                inside[side * count + intersections_of[p, j]].append(side_edges[p, j, side])
        constraint = table.ravel()
        outside = [sorted({*edges[constraint[lane[0]]].tolist()} - {*lane}) for lane in inside]
        self._keep("intersections_of", intersections_of)
        self._keep("side_edges", side_edges)
        self._keep("inside", _padded_rows(inside, no_edge))
        self._keep("outside", _padded_rows(outside, no_edge))

    def _keep(self, name: str, array: NDArray[np.generic]) -> None:
        self.register_buffer(name, torch.from_numpy(np.ascontiguousarray(array)), persistent=False)


def _gated(states: Tensor, gates: Tensor) -> Tensor:
    z, n = gates.chunk(2, -1)
    return states + torch.sigmoid(z) * (torch.tanh(n) - states)


def _padded_rows(rows: list[list[int]], padding: int) -> NDArray[np.int64]:
    padded = np.full((len(rows), max(map(len, rows), default=0)), padding, np.int64)
    for row, numbers in zip(padded, rows, strict=True):
        row[: len(numbers)] = numbers
    return padded
