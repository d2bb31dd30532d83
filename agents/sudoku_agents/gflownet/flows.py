"""The network of a GFlowNet: a policy over placements, and the log-flow of a board.

The head of the flow says the log of the number of completions of a board (with what its dead ends
are worth), whatever puzzle it came from. In a tree that is the log-flow of the state. Without an
order, a state that has j of k placements lies on j! (k - j)! of the k! orders that lead to each
completion, so the log of its flow is the head less log C(k, j). At the puzzle both are log Z.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.gflownet.orders import Choices, Order
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import (
    BodyConfig,
    HeadConfig,
    LogFlowConfig,
    Network,
    PolicyConfig,
    chunks,
)

HEADS: dict[str, HeadConfig] = {"policy": PolicyConfig(), "log_flow": LogFlowConfig()}
FLOW_SCALE = 5.0  # the head counts in fives, so that Adam moves log-flows faster than the rest
FLOW_CHUNK_SIZE = 1024  # boards


class Answers(NamedTuple):
    """What a network says of B boards, after R of its body's rounds.

    Attributes:
        log_pf: float32 `[R, B, N**3]`, log P_F of the allowed placements, -inf elsewhere.
        log_flow: float32 `[R, B]`, what the head of the flow says.
    """

    log_pf: Tensor
    log_flow: Tensor


class FlowNetwork(Network):
    """A network with the two heads of a GFlowNet.

    Args:
        body: makes the body.
        geometry: of the boards it will play.
    """

    def __init__(self, body: BodyConfig, geometry: Geometry) -> None:
        super().__init__(body, HEADS, geometry)

    def answer(
        self,
        boards: NDArray[np.int8],
        found: Choices,
        geometry: Geometry,
        all_rounds: bool = False,
        flows: bool = True,
    ) -> Answers:
        """Ask about boards int8 `[B, N, N]` at each of which a placement is allowed.

        Without `flows` the head of the flow, which takes as long as some rounds, is left out, and
        0 stands in its place.
        """
        given = torch.from_numpy(boards), torch.from_numpy(found.candidates), geometry
        start = {"recurrent_states": self.recurrent_states(*given)} if self.can_converge else {}
        features = self.body(*given, all_rounds=all_rounds, **start)
        logits = self.heads["policy"](features)
        log_flow = logits.new_zeros(logits.shape[:2])
        if flows:
            log_flow = FLOW_SCALE * self.heads["log_flow"](features)
        return Answers(log_policy_of(logits, torch.from_numpy(found.allowed)), log_flow)

    def log_policy(
        self, boards: NDArray[np.int8], found: Choices, geometry: Geometry
    ) -> NDArray[np.float32]:
        """Return log P_F without gradients, float32 `[B, N**3]`, -inf where nothing is allowed.

        Where there is nothing to choose, the network is not asked; equal boards are asked once.
        """
        log_pf = np.where(found.allowed, np.float32(0), np.float32(-np.inf))
        asked = np.flatnonzero(found.num_allowed > 1)
        index, inverse = distinct(boards[asked])
        with torch.inference_mode():
            for chunk in chunks(len(index), FLOW_CHUNK_SIZE):
                part = asked[index[chunk]]
                masks = torch.from_numpy(found.candidates[part])
                said = self.forward_until_converged(
                    torch.from_numpy(boards[part]), masks, geometry, ["policy"]
                )
                allowed = torch.from_numpy(found.allowed[part])
                log_pf[part] = log_policy_of(said["policy"], allowed).numpy()
        log_pf[asked] = log_pf[asked[index]][inverse]
        return log_pf


def log_policy_of(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return log P_F: each allowed placement by the sigmoid of its logit.

    Args:
        logits: float32 `[..., B, N**3]`.
        allowed: bool `[B, N**3]`, at least one a board.
    """
    log_marginals = torch.nn.functional.logsigmoid(logits)
    return torch.log_softmax(log_marginals.masked_fill(~allowed, -torch.inf), -1)


def log_shares(blanks: NDArray[np.int64], made: NDArray[np.int64], order: Order) -> Tensor:
    """Return by how much the log of a state's flow is less than what the head says of its board.

    Args:
        blanks: int64 `[S]`, k, of the puzzles.
        made: int64 `[S]`, j, the placements made since.
        order: in which blanks are filled.

    Returns:
        log C(k, j) without an order, 0 in a tree: float32 `[S]`.
    """
    if order != "any":
        return torch.zeros(len(blanks))
    k, j = torch.from_numpy(blanks).double(), torch.from_numpy(made).double()
    return (torch.lgamma(k + 1) - torch.lgamma(j + 1) - torch.lgamma(k - j + 1)).float()


def distinct(boards: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each of the different boards stands first, `[D]`, and which each is, `[B]`."""
    cells = boards.shape[1] * boards.shape[2]
    rows = np.ascontiguousarray(boards).reshape(len(boards), cells)
    keys = rows.view(np.dtype((np.void, cells)))[:, 0]
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return index, inverse
