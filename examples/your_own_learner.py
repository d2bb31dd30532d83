"""A learner of your own: REINFORCE with a baseline, on the exact-cover body.

python examples/your_own_learner.py --run runs/reinforce --iterations 60
python examples/your_own_learner.py --run runs/reinforce --iterations 90 --resume
sudoku-gym plot runs/reinforce --out reinforce.png
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from rich.console import Console

from sudoku_curricula import SuccessRateConfig, curves
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_learning import training
from sudoku_learning.configs import registered
from sudoku_learning.networks import POLICY_AND_VALUE, ExactCoverConfig, Network, NetworkPolicy
from sudoku_learning.networks.network import seeded
from sudoku_learning.training.learner import optimiser_tensors, restore_optimiser


@registered("reinforce")
@dataclass(frozen=True, kw_only=True)
class ReinforceConfig(training.TrainingConfig):
    """Settings of the run; a command line could show them by `train_from_the_command_line`."""

    agent: ClassVar[str] = "reinforce"
    games: int = 128  # in lock step, each iteration


class Reinforce:
    """Source: Williams, "Simple statistical gradient-following algorithms" (1992)."""

    metrics = ()  # nothing that a schedule could ask for beside completion

    def __init__(self, config, random):
        self.envs = training.training_envs(config.env, config.games, reward="sparse")
        body = ExactCoverConfig(channels=16, rounds=8)
        geometry = self.envs.geometry
        self.network = seeded(config.seed, lambda: Network(body, POLICY_AND_VALUE, geometry))
        self.optimiser = torch.optim.Adam(self.network.parameters(), 3e-3)

    def start(self): ...
    def close(self): ...

    def learn(self, blanks, random):
        self.envs.set_blanks(blanks)
        boards, info = self.envs.reset(seed=int(random.numpy.integers(2**32)))
        running = torch.from_numpy(info["action_mask"].any(1))
        solved, moves = torch.zeros(len(boards)), []
        while running.any():
            masks = torch.from_numpy(info["action_mask"]).bool()
            found = self.network(torch.from_numpy(boards), masks, self.envs.geometry)
            chances = torch.softmax(found["policy"], 1).detach()
            actions = torch.multinomial(chances, 1, generator=random.torch)
            log_probs = torch.log_softmax(found["policy"], 1).gather(1, actions)
            moves.append((running.clone(), log_probs[:, 0], found["value"]))
            boards, rewards, ended, _, info = self.envs.step(actions[:, 0].numpy())
            solved += torch.from_numpy(rewards) * running
            running &= ~torch.from_numpy(ended)
        played, log_probs, values = (torch.stack(parts) for parts in zip(*moves, strict=True))
        policy_loss = -((solved - values.detach()) * log_probs)[played].mean()
        value_loss = (solved - values).square()[played].mean()
        self.optimiser.zero_grad()
        (policy_loss + value_loss).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        losses = {curves.POLICY_LOSS: policy_loss.item(), curves.VALUE_LOSS: value_loss.item()}
        columns = {"sampled": f"{solved.mean():.1%}"}
        return training.Report(steps=int(played.sum()), curves=losses, columns=columns)

    def policy(self):
        return NetworkPolicy(self.network)

    def state(self):
        return training.State(self.network.state_dict(), optimiser_tensors(self.optimiser))

    def restore(self, state):
        self.network.load_state_dict(state.weights)
        restore_optimiser(self.optimiser, state.tensors)
