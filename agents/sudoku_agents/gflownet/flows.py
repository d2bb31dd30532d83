"""The network of a GFlowNet: a forward policy over placements, and the log-flow of a board.

The flow head predicts the log of the total reward of a board's completions. In a tree that is
log F(s). Without an order, a state with j of k placements made lies on j! (k - j)! of the k! orders
to each completion, so log F(s) is the head less log C(k, j).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.gflownet.orders import ForwardMasks, Order
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    NO_RESTARTS,
    BodyConfig,
    HeadConfig,
    LogFlowConfig,
    Network,
    PolicyConfig,
    Restarts,
    chunks,
)

_HEADS: dict[str, HeadConfig] = {"policy": PolicyConfig(), "log_flow": LogFlowConfig()}
FLOW_SCALE = 5.0  # the head counts in fives, so that Adam moves log-flows faster than the rest
FLOW_CHUNK_SIZE = 1024  # boards


class FlowOutput(NamedTuple):
    """The network's outputs for B boards, after R rounds of its body."""

    log_pf: Tensor  # float32 `[R, B, N**3]`, -inf where nothing is allowed
    log_flow: Tensor  # float32 `[R, B]`, of the flow head


class FlowNetwork(Network):
    """A network with the two heads of a GFlowNet: `policy` and `log_flow`."""

    def __init__(self, body: BodyConfig, geometry: Geometry) -> None:
        super().__init__(body, _HEADS, geometry)

    def evaluate_states(
        self,
        boards: NDArray[np.int8],
        masks: ForwardMasks,
        geometry: Geometry,
        all_rounds: bool = False,
    ) -> FlowOutput:
        """Evaluate boards int8 `[B, N, N]` at each of which a placement is allowed."""
        given = torch.from_numpy(boards), torch.from_numpy(masks.candidates), geometry
        start = {"recurrent_states": self.recurrent_states(*given)} if self.can_converge else {}
        features = self.body(*given, all_rounds=all_rounds, **start)
        logits = self.heads["policy"](features)
        log_flow = FLOW_SCALE * self.heads["log_flow"](features)
        return FlowOutput(log_pf_of(logits, torch.from_numpy(masks.allowed)), log_flow)

    def log_policy(
        self, boards: NDArray[np.int8], masks: ForwardMasks, geometry: Geometry
    ) -> NDArray[np.float32]:
        """Return log P_F without gradients, float32 `[B, N**3]`, -inf where nothing is allowed."""
        logits = torch.from_numpy(self.read(boards, masks, geometry)[0])
        log_pf: NDArray[np.float32] = log_pf_of(logits, torch.from_numpy(masks.allowed)).numpy()
        return log_pf

    def read(
        self,
        boards: NDArray[np.int8],
        masks: ForwardMasks,
        geometry: Geometry,
        restarts: Restarts = NO_RESTARTS,
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return logits `[B, N**3]` without gradients, and which boards have converged, `[B]`.

        Boards with a single allowed placement are not evaluated, equal boards once.
        """
        logits = np.zeros(masks.allowed.shape, np.float32)
        converged = np.zeros(len(boards), np.bool_)
        needed = np.flatnonzero(masks.num_allowed > 1)
        index, inverse = unique_boards(boards[needed])
        with torch.inference_mode():
            for chunk in chunks(len(index), FLOW_CHUNK_SIZE):
                part = needed[index[chunk]]
                candidates = torch.from_numpy(masks.candidates[part])
                given = torch.from_numpy(boards[part]), candidates, geometry, ["policy"]
                output = self.forward_until_converged(*given, restarts=restarts)
                logits[part] = output.outputs["policy"].numpy()
                converged[part] = output.converged.numpy()
        first = needed[index][inverse]
        logits[needed], converged[needed] = logits[first], converged[first]
        return logits, converged


def log_pf_of(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return log P_F: each allowed placement by the sigmoid of its logit.

    `logits` are float32 `[..., B, N**3]`, `allowed` bool `[B, N**3]` with at least one a board.
    """
    log_marginals = torch.nn.functional.logsigmoid(logits)
    return torch.log_softmax(log_marginals.masked_fill(~allowed, -torch.inf), -1)


def log_num_subsets(blanks: NDArray[np.int64], made: NDArray[np.int64], order: Order) -> Tensor:
    """Return log C(k, j) without an order, 0 in a tree: float32 `[S]`.

    It is the flow head's output less log F of a state with `made` (j) of a puzzle's `blanks` (k)
    filled, both int64 `[S]`.
    """
    if order != "any":
        return torch.zeros(len(blanks))
    k, j = torch.from_numpy(blanks).double(), torch.from_numpy(made).double()
    return (torch.lgamma(k + 1) - torch.lgamma(j + 1) - torch.lgamma(k - j + 1)).float()


def unique_boards(boards: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each of the different boards stands first, `[D]`, and which each is, `[B]`."""
    cells = boards.shape[1] * boards.shape[2]
    rows = np.ascontiguousarray(boards).reshape(len(boards), cells)
    keys = rows.view(np.dtype((np.void, cells)))[:, 0]
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return index, inverse
