"""A learner on the shared loop: a small network learns which placements solutions have."""

from dataclasses import dataclass, field
from pathlib import Path

import torch

from corner_sudoku.schedules import HurdlesConfig
from sudoku_gym import board
from sudoku_learning import networks, training


@training.registered("corners")
@dataclass(frozen=True, kw_only=True)
class CornersTraining(training.TrainingConfig):
    """Learn placements from solutions."""

    agent = "corners"

    env: training.EnvId = "CornersNamed4x4-v0"
    run: Path = Path("runs/corners")
    boards: int = 16
    """boards an update"""
    curriculum: training.CurriculumConfig = field(default_factory=HurdlesConfig)
    """how the number of blanks moves"""


def make(config):
    body = networks.FactorGraphConfig(channels=8, rounds=2)
    return networks.Network(
        body, {"policy": networks.PolicyConfig()}, training.geometry_of_env(config.env)
    )


class Corners(training.Learner):
    def __init__(self, config, random):
        self.envs = training.training_envs(config.env, config.boards)
        self.network = networks.seeded(config.seed, lambda: make(config))
        self.optimizer = training.Optimizer(self.network, training.OptimizerConfig(1e-2))

    def policy(self):
        return networks.NetworkPolicy(self.network)

    def state(self):
        return self.optimizer.state()

    def restore(self, state):
        self.optimizer.restore(state)

    def learn(self, blanks, random, progress):
        geometry = self.envs.geometry
        boards, solutions = self.envs.source.sample(self.envs.num_envs, blanks, random.numpy)
        masks = torch.from_numpy(board.candidates(boards, geometry).reshape(len(boards), -1))
        right = torch.nn.functional.one_hot(torch.from_numpy(solutions).long() - 1).flatten(1)
        logits = self.network(torch.from_numpy(boards), masks, geometry)["policy"]
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, right.float(), reduction="none"
        )
        loss = losses[masks].mean()
        self.optimizer.step(loss)
        return training.Report(len(boards), {"losses/policy_loss": loss.item()})


def load(folder):
    _, network = training.load_network(
        folder, lambda data: training.config_from_json(data, CornersTraining), make
    )
    return networks.NetworkPolicy(network)


def main(argv=None):
    return training.train_cli(CornersTraining, Corners, "corners", argv)
