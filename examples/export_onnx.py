"""Write the network of a policy as an ONNX file, which onnxruntime and others play.

python examples/export_onnx.py expert-iteration net.onnx --puzzles 9x9 --rounds 32  # two minutes
"""

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import intersection_table
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles.banks import named_geometry
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


def export_onnx(policy: Policy, file: Path, geometry: Geometry, rounds: int) -> None:
    """Write the network of a policy, with a fixed number of rounds, as an ONNX file.

    Its inputs are `boards`, int64 `[B, N, N]` with 0 = blank, and `action_mask`, bool `[B, N**3]`;
    its output is `logits`, float32 `[B, N**3]`, `ILLEGAL_LOGIT` where the mask is False. The best
    logit is the policy's move; what a policy adds to that (restarts, queued moves, boards that
    converge early) is not in the file.

    Raises:
        ValueError: if the policy plays no network with the factor-graph body, `rounds` is not
            positive, or the name of the file does not end in `.onnx`.
        ModuleNotFoundError: if onnx or onnxscript is not installed.
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

    with warnings.catch_warnings(action="ignore"):  # of torch's own insides
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

    The rounds run on the graph of the empty board, whose edges are open where a board has them. The
    head is a plain readout of placements; weights are shared with the network, not copied.
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


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", help="a policy's name with options, or a checkpoint's folder")
    parser.add_argument("file", type=Path, help="to write, NAME.onnx")
    parser.add_argument("--puzzles", default="9x9", help="the bank whose boards it plays")
    parser.add_argument("--rounds", type=int, default=32, help="always as many; some seconds each")
    options = parser.parse_args(argv)
    geometry = named_geometry(options.puzzles)
    export_onnx(load_policy(options.policy), options.file, geometry, options.rounds)
    print(f"{options.file}: {geometry.name}, {options.rounds} rounds")


if __name__ == "__main__":
    main()
