"""Networks as ONNX files, and the check that onnxruntime plays the same moves."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import intersection_table
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.atomic import atomic_write, check_suffix
from sudoku_learning.networks.factor_graph import FactorGraphBody
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.reference import (
    Carried,
    Edges,
    Intersections,
    plain_round,
)
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
    model = WholeGraph(*_parts(policy), geometry, rounds).eval()
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
        with torch.inference_mode():
            tensors = torch.from_numpy(boards[part]), torch.from_numpy(masks[part])
            features = network.body(*tensors, puzzles.geometry, rounds=rounds)
            wanted = network.heads[head](features)[-1].numpy()
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
    if not isinstance(head, PlacementHead):
        raise ValueError(
            f"the head {policy.head!r} is no plain readout of placements, as ONNX needs"
        )
    return policy.network, policy.head


class WholeGraph(nn.Module):
    """Boards and masks to the logits of all placements, with no other sizes than the batch's.

    The rounds run on the graph of the empty board, whose edges are open where a board has them.

    Args:
        network: with the factor-graph body; its weights are shared, not copied.
        head: the name of a plain readout of placements.
        geometry: of the boards.
        rounds: how many.
    """

    def __init__(self, network: Network, head: str, geometry: Geometry, rounds: int) -> None:
        super().__init__()
        readout: Any = network.heads[head].readout
        self.body, self.linear, self.rounds = network.body, readout.linear, rounds
        self.digits = torch.arange(1, geometry.size + 1)
        empty = np.zeros((1, geometry.size, geometry.size), np.int8)
        every = np.ones((1, geometry.num_placements), np.bool_)
        has_intersections = self.body.config.intersections
        graph = FactorGraph.of(empty, every, geometry, has_intersections)
        self.edges = Edges.of(graph, self.body.start)
        self.intersections = None
        if has_intersections:
            self.intersections = Intersections.of(graph, self.body.start)
            table = intersection_table(geometry).repeat(geometry.size, 0)  # [P, J, 3]
            sides = np.take_along_axis(graph.variable_edges[:, None], table[:, :, 1:], 2)
            sides[table[:, :, 0] < 0] = len(graph.edge_variable)
            self.sides = torch.from_numpy(sides).long()  # [P, J, 2], edges

    def forward(self, boards: Tensor, action_mask: Tensor) -> Tensor:
        """Return logits float32 `[B, P]` of boards int64 `[B, N, N]`, masks bool `[B, P]`."""
        weights, edges, batch = self.body._weights(), self.edges, boards.shape[0]
        filled = (boards.reshape(batch, -1, 1) == self.digits).reshape(batch, -1, 1)
        filled = filled.index_select(1, edges.variables).float()
        is_fulfilled = edges.totals(filled).index_select(1, edges.factors) > 0  # [B, E, 1]
        is_open = action_mask[:, edges.variables, None] & ~is_fulfilled
        fulfilled = edges.sums(is_fulfilled.float())
        edges = replace(edges, fulfilled=fulfilled, is_open=is_open)
        states = weights.start.expand(batch, action_mask.shape[1], -1)
        to_variable = states.new_zeros(batch, len(edges.variables), states.shape[2])
        intersections, of_intersections = self.intersections, states[:, :0]
        if intersections is not None:
            padded = torch.cat([is_open, torch.zeros_like(is_open[:, :1])], 1)
            intersections = replace(intersections, is_member=padded[:, self.sides].all(3))
            count = intersections.lists.shape[1]
            of_intersections = weights.intersection_start.expand(batch, count, -1)
        to_factor = edges.to_factor(weights, states, to_variable)
        carried = Carried(states, to_variable, of_intersections, to_factor)
        for _ in range(self.rounds):
            carried = plain_round(weights, edges, intersections, carried)
        scores = self.linear(carried.variables).squeeze(2)
        return torch.where(action_mask, scores, ILLEGAL_LOGIT)
