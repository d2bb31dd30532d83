"""Networks as ONNX files, and the check that onnxruntime plays the same moves."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import (
    constraint_members,
    constraint_table,
    intersection_table,
)
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.atomic import atomic_write, check_suffix
from sudoku_learning.networks.factor_graph import PlacementReadout
from sudoku_learning.networks.factor_graph.body import FactorGraphBody
from sudoku_learning.networks.factor_graph.messages import EPSILON, MAX_LOG_MESSAGE, MESSAGE_SCALE
from sudoku_learning.networks.heads import ILLEGAL_LOGIT, PlacementHead
from sudoku_learning.networks.network import Network
from sudoku_learning.networks.policy import NetworkPolicy

OPSET = 18
"""The version of ONNX's operators."""

TIE = 1e-3
"""Logits that are closer count as equal: symmetric placements have equal ones but for rounding."""

_CHECKED_AT_ONCE = 16


@dataclass(frozen=True)
class OnnxCheck:
    """How a file plays beside its network."""

    puzzles: int
    positions: int
    """boards that were evaluated by both"""
    different: int
    """boards where the file's best placement was not one of the network's best, up to `TIE`"""
    largest_error: float
    """of the logits of legal placements"""


class _Logits(nn.Module):
    """Boards and masks to the logits of all placements."""

    def __init__(self, network: Network, head: str, geometry: Geometry, rounds: int) -> None:
        super().__init__()
        body, chosen = network.body, network.heads[head]
        assert isinstance(body, FactorGraphBody) and isinstance(chosen, PlacementHead)
        assert isinstance(chosen.readout, PlacementReadout)
        self.body = DenseFactorGraphBody(body, geometry, rounds)
        self.linear = chosen.readout.linear

    def forward(self, boards: Tensor, action_mask: Tensor) -> Tensor:
        scores: Tensor = self.linear(self.body(boards, action_mask)).squeeze(2)
        return torch.where(action_mask, scores, ILLEGAL_LOGIT)


def export(
    policy: str,
    /,
    *,
    onnx: Path,
    puzzles: str = "9x9",
    rounds: int = 32,
    check: int = 200,
    trust: bool = False,
) -> int:
    """Write the network of a policy as an ONNX file, and see that it plays the same moves.

    The exit code is 1 if the file plays other moves.

    Args:
        policy: A policy's name with options, or the folder of a checkpoint.
        onnx: The file to write.
        puzzles: The bank whose boards it plays, and on which it is checked.
        rounds: Rounds of messages, always as many; the file grows with them, and takes some seconds
            each.
        check: Puzzles of the test split on which onnxruntime must play the network's moves; 0 for
            none.
        trust: Allow checkpoints to load and run arbitrary code.
    """
    if check < 0:
        raise ValueError(f"check={check}: use 0 or more puzzles")
    bank = banks.load(puzzles, "test")
    loaded = load_policy(policy, trust=trust)
    print(f"writing {rounds} rounds, some seconds each", file=sys.stderr)
    export_onnx(loaded, onnx, bank.geometry, rounds)
    print(f"{onnx}: {bank.geometry.name}, {rounds} rounds")
    if not check:
        return 0
    found = check_onnx(loaded, onnx, bank[:check], rounds)
    same = found.positions - found.different
    print(
        f"onnxruntime plays the same move on {same:,} of {found.positions:,} boards of "
        f"{found.puzzles} puzzles; its logits differ by {found.largest_error:.1g} at most"
    )
    return 1 if found.different else 0


def export_onnx(policy: Policy, file: Path, geometry: Geometry, rounds: int) -> None:
    """Write the network of a policy, with a fixed number of rounds, as an ONNX file.

    Its inputs are `boards`, int64 `[B, N, N]` with 0 = blank, and `action_mask`, bool `[B, N**3]`;
    its output is `logits`, float32 `[B, N**3]`, `ILLEGAL_LOGIT` where the mask is False. The best
    logit is the policy's move; what a policy adds to that (restarts, queued moves, boards that
    converge early) is not in the file.

    Args:
        policy: one that plays a network with the factor-graph body.
        file: to write.
        geometry: of the boards; any number of them fits.
        rounds: of messages; the file grows with them.

    Raises:
        ValueError: if the policy is none of these, `rounds` is not positive, or the name of the
            file does not end in `.onnx`.
        ModuleNotFoundError: if onnx or onnxscript is not installed.
        OSError: if the file can't be written.
    """
    check_suffix(file, "an ONNX file", ".onnx")
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: use at least one")
    model = _Logits(*_parts(policy), geometry, rounds).eval()
    examples = torch.zeros(2, geometry.size, geometry.size, dtype=torch.int64)
    masks = torch.ones(2, geometry.num_placements, dtype=torch.bool)
    batch = torch.export.Dim("batch")
    import onnx
    import onnxscript  # noqa: F401 - torch needs it

    with _quiet():
        program = torch.onnx.export(
            model,
            (examples, masks),
            input_names=["boards", "action_mask"],
            output_names=["logits"],
            opset_version=OPSET,
            dynamic_shapes=({0: batch}, {0: batch}),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as temporary:
        onnx.save(program.model_proto, os.fspath(temporary))


def check_onnx(policy: Policy, file: Path, puzzles: PuzzleSet, rounds: int) -> OnnxCheck:
    """Let the network and its file evaluate puzzles, and again with half of their blanks filled in.

    Raises:
        ValueError: as `export_onnx`.
        ModuleNotFoundError: if onnxruntime is not installed.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported
    import onnxruntime

    network, head = _parts(policy)
    session: Any = onnxruntime.InferenceSession(os.fspath(file), providers=["CPUExecutionProvider"])
    is_shown = np.random.default_rng(0).random(puzzles.puzzles.shape) < 0.5
    half = np.where(is_shown, puzzles.solutions, puzzles.puzzles)
    boards = np.concatenate([puzzles.puzzles, half])
    masks = board.candidates(boards, puzzles.geometry).reshape(len(boards), -1).astype(np.bool_)
    different, largest = 0, 0.0
    for start in range(0, len(boards), _CHECKED_AT_ONCE):
        part = slice(start, start + _CHECKED_AT_ONCE)
        wanted = _evaluate(network, head, boards[part], masks[part], puzzles.geometry, rounds)
        if not np.isfinite(wanted[masks[part]]).all():
            raise ValueError("the network's logits are not finite: its weights are damaged")
        given = {"boards": boards[part].astype(np.int64), "action_mask": masks[part]}
        found = session.run(["logits"], given)[0]
        largest = max(largest, float(np.abs(found - wanted)[masks[part]].max(initial=0)))
        of_moves = wanted[np.arange(len(found)), found.argmax(1)]
        different += int((of_moves < wanted.max(1) - TIE).sum())
    return OnnxCheck(len(puzzles), len(boards), different, largest)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back what torch's exporter says of its own insides."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _parts(policy: Policy) -> tuple[Network, str]:
    """Return the network of a policy and the name of the head that it plays by."""
    if not isinstance(policy, NetworkPolicy) or not isinstance(
        policy.network.body, FactorGraphBody
    ):
        raise ValueError(
            f"a {type(policy).__name__} has no form in ONNX: export a policy that plays a network "
            "with the factor-graph body, as expert-iteration"
        )
    head = policy.network.heads[policy.head]
    if not isinstance(head, PlacementHead) or head.has_limits:
        raise ValueError(
            f"the head {policy.head!r} is no plain readout of placements, as ONNX needs"
        )
    return policy.network, policy.head


def _evaluate(
    network: Network,
    head: str,
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    rounds: int,
) -> NDArray[np.float32]:
    with torch.inference_mode():
        given = torch.from_numpy(boards), torch.from_numpy(masks), geometry
        features = network.body(*given, rounds=rounds)
        logits: NDArray[np.float32] = network.heads[head](features)[-1].numpy()
    return logits


class DenseFactorGraphBody(nn.Module):
    """The states of all placements after a number of rounds, by the weights of a body.

    Args:
        body: its weights are shared, not copied.
        geometry: of the boards.
        rounds: how many.
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
