"""What the gradient of trajectory balance lacks on 9x9 boards with many blanks.

Of the latest checkpoint of a run, at several numbers of blanks: how many puzzles it solves, how
many of its trajectories are rewarded, how far the flow is from log Z, what all dead ends are worth,
and whether the gradients of two updates point the same way, and towards the solution.

    python benchmarks/gflownet_gradient.py runs/balance --out docs/results/gflownet.json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity

from results import Row, command_of, keep, share_of
from sudoku_agents.gflownet.agent import GFlowNetPolicy
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.losses import balance_loss, log_pb, log_z_estimates
from sudoku_agents.gflownet.orders import ForwardMasks
from sudoku_agents.gflownet.trajectories import rollout, sample_trajectories
from sudoku_gym import evaluate
from sudoku_gym.board import candidates
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import PuzzleSource, resolve_source
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.weights import load_network


@dataclass(frozen=True)
class Config:
    """What to measure."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """folders of runs or checkpoints"""
    blanks: tuple[int, ...] = (20, 30, 40, 50, 55)
    """of the validation puzzles, a row each"""
    count: int = 200
    """puzzles that are solved greedily"""
    updates: int = 12
    """gradients that are compared"""
    batch: int = 8
    """trajectories of each"""
    out: Path | None = None
    """a JSON file; the figures of other parts in it stay"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    source = resolve_source("9x9", "validation")
    rows = []
    for run in config.runs:
        read = partial(config_from_json, kind=GFlowNetConfig)
        made, network = load_network(run, read, make)
        for blanks in config.blanks:
            row = measure(made, network, source, blanks, config)
            rows.append({"run": run.name, "blanks": blanks, **row})
    keep(config.out, "gradient", command_of(__file__, argv), rows)
    return rows


def make(config: GFlowNetConfig) -> FlowNetwork:
    return FlowNetwork(config.network, geometry_of_env(config.env))


def measure(
    made: GFlowNetConfig, network: FlowNetwork, source: PuzzleSource, blanks: int, config: Config
) -> Row:
    """Measure a network on boards with so many blanks."""
    rng, geometry = np.random.default_rng(0), source.geometry
    boards, _ = source.sample(config.count, blanks, rng)
    greedy = evaluate(GFlowNetPolicy(network, order=made.order), boards)
    balance, towards, rewarded, ends, heads = [], [], [], [], []
    for _ in range(config.updates):
        starts, solutions = source.sample(config.batch, blanks, rng)
        played = sample_trajectories(network, starts, geometry, made.order, rng)
        found = log_z_estimates(network, played, geometry, made.order, made.min_log_reward, False)
        values = found.values[-1].detach().numpy()
        heads.append(values[:, 0])
        ends.append(values[np.arange(len(played)), played.lengths])
        rewarded.append(played.solved)
        groups = torch.arange(config.batch)
        balance.append(gradient(network, balance_loss(found, made.loss, groups)))
        towards.append(gradient(network, likelihood(network, starts, solutions, geometry)))
    residuals = np.abs(np.concatenate(heads) - np.concatenate(ends))
    solved = np.concatenate(rewarded)
    pairs = list(combinations(balance, 2))
    return {
        **share_of(greedy.solved),
        "rewarded": round(float(solved.mean()), 3),
        "log worth of dead ends": round(worth_of_dead_ends(boards, geometry, rng), 1),
        "log Z by the head": round(float(np.concatenate(heads).mean()), 2),
        "residual, solved": round(float(residuals[solved].mean()), 2) if solved.any() else None,
        "residual, dead": round(float(residuals[~solved].mean()), 2) if (~solved).any() else None,
        "cosine of two updates": mean_cosine(pairs),
        "cosine to likelihood": mean_cosine(list(zip(balance, towards, strict=True))),
    }


def gradient(network: FlowNetwork, loss: Tensor) -> Tensor:
    """Return the gradient of what the policy is made of, a flat tensor."""
    parts = [*network.body.parameters(), *network.heads["policy"].parameters()]
    found = torch.autograd.grad(loss, parts, allow_unused=True)
    whole = zip(found, parts, strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in whole])


def likelihood(
    network: FlowNetwork,
    boards: NDArray[np.int8],
    solutions: NDArray[np.int8],
    geometry: Geometry,
) -> Tensor:
    """Return the cross entropy of the placements of the stored solutions, to compare with."""
    masks = candidates(boards, geometry).reshape(len(boards), -1)
    right = (solutions[..., None] == np.arange(1, geometry.size + 1)).reshape(len(boards), -1)
    given = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    states = network.recurrent_states(*given)
    features = network.body(*given, all_rounds=True, recurrent_states=states)
    logits = network.heads["policy"](features)[..., given[1]]
    wanted = torch.from_numpy(right)[given[1]].float().expand_as(logits)
    return binary_cross_entropy_with_logits(logits, wanted)


def worth_of_dead_ends(
    boards: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
) -> float:
    """Return the log of what all dead ends of a board are worth at a reward of 1, on average.

    It is the mean of P_B / P_F over random games, 0 for those that are solved: an estimate from
    below, since many dead ends are never met.
    """
    log_pf = np.zeros(len(boards))

    def choose(
        rows: NDArray[np.int64], _: NDArray[np.int8], masks: ForwardMasks
    ) -> NDArray[np.int64]:
        log_pf[rows] -= np.log(masks.num_allowed)
        return sample_actions(masks.allowed, rng)

    played = rollout(boards, geometry, "any", choose)
    logs = log_pb(played, "any").sum(1) - log_pf
    return float(np.logaddexp.reduce(logs[~played.solved], initial=-np.inf) - np.log(len(boards)))


def mean_cosine(pairs: Sequence[tuple[Tensor, Tensor]]) -> float:
    """Return the mean cosine of pairs of gradients."""
    return round(float(np.mean([cosine_similarity(a, b, 0).item() for a, b in pairs])), 3)


if __name__ == "__main__":
    main()
