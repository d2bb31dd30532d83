"""Holds our GFlowNet against torchgfn's: the empty 4x4 board by trajectory balance.

Both have a perceptron of two hidden layers of 256, as many trajectories an update, Adam, a floor of
-18 for dead ends and a uniform backward policy, once without an order and once in the tree by rows.
Another learner is ours as it is meant: the factor-graph body, and boards with fewer blanks among
the empty ones. All get the same processor seconds, in turns; then all draw solutions. Without an
order the first row is the limit: the arithmetic of that perceptron alone, without states, masks,
draws and losses. torchgfn goes into an environment of its own, beside this project:

    pip install torchgfn && python benchmarks/gflownet_torchgfn.py --seconds 30 --seeds 0 1 2
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import torch
import tyro
from gfn.env import DiscreteEnv
from gfn.estimators import DiscretePolicyEstimator
from gfn.gflownet import TBGFlowNet
from gfn.preprocessors import IdentityPreprocessor
from gfn.states import DiscreteStates
from gfn.utils.modules import MLP

from gflownet import BODIES, EMPTY, FOUR, Fixed, partly_blank
from results import Results, command_of, share_of
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.gflownet.sampler import sample_trajectories
from sudoku_gym.geometry.exact_cover import constraint_table
from sudoku_learning.networks import BodyConfig, MLPConfig
from sudoku_learning.training import Progress, RunGenerators
from sudoku_learning.training.config import RayConfig

TreeOrAny: TypeAlias = Literal["any", "rows"]

FLOOR = -18.0


@dataclass(frozen=True)
class Config:
    """How long, and how often."""

    seconds: float = 30.0
    """processor seconds of each training"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the networks and of everything drawn"""
    orders: tuple[TreeOrAny, ...] = ("any", "rows")
    """in which blanks are filled"""
    batches: tuple[int, ...] = (64, 1024)
    """trajectories an update"""
    draws: int = 2000
    """trajectories drawn after training"""
    out: Path = Path("runs/gflownet-torchgfn.json")
    """a JSON file for the figures"""


class Sudoku4x4(DiscreteEnv):
    """The same board for torchgfn: 64 numbers, 1 where a placement has been made.

    Args:
        order: in which blanks are filled.
    """

    def __init__(self, order: TreeOrAny) -> None:
        self.is_tree = order == "rows"
        members = torch.zeros(64, 64)
        members[torch.arange(64)[:, None], torch.from_numpy(constraint_table(FOUR)).long()] = 1
        self.excludes = (members @ members.T).clamp(max=1)  # [64, 64], share a constraint
        super().__init__(n_actions=65, s0=torch.zeros(64), state_shape=(64,))

    def make_states_class(self) -> type[DiscreteStates]:
        """Return the states, whose masks are products with `excludes`."""
        env = self

        class States(DiscreteStates):
            state_shape = env.state_shape
            s0, sf, n_actions = env.s0, env.sf, env.n_actions
            make_random_states = env.make_random_states

            def _compute_forward_masks(self) -> torch.Tensor:
                legal = self.tensor @ env.excludes == 0
                cells = (*self.tensor.shape[:-1], 16, 4)
                is_blank = self.tensor.view(cells).sum(-1) == 0
                is_dead = (is_blank & ~legal.view(cells).any(-1)).any(-1, keepdim=True)
                goes_on = is_blank.any(-1, keepdim=True) & ~is_dead
                if env.is_tree:
                    is_first = is_blank & (is_blank.cumsum(-1) == 1)
                    legal = legal & is_first.repeat_interleave(4, -1)
                return torch.cat([legal & goes_on, ~goes_on], -1)

            def _compute_backward_masks(self) -> torch.Tensor:
                is_made = self.tensor != 0
                if env.is_tree:  # the last cell alone was filled last
                    cells = is_made.view(*is_made.shape[:-1], 16, 4).any(-1)
                    after = cells.flip(-1).cumsum(-1).flip(-1)
                    is_made &= (cells & (after == 1)).repeat_interleave(4, -1)
                return is_made

        return States

    def step(self, states, actions):
        """Make placements."""
        return self.States(states.tensor.scatter(-1, actions.tensor, 1.0))

    def backward_step(self, states, actions):
        """Take placements back."""
        return self.States(states.tensor.scatter(-1, actions.tensor, 0.0))

    def log_reward(self, final_states):
        """Return 0 for full boards, else the floor."""
        return torch.where(final_states.tensor.sum(-1) == 16, 0.0, FLOOR)


class TheirLearner:
    """A training with torchgfn, as its examples have it."""

    def __init__(self, seed: int, order: TreeOrAny, batch: int) -> None:
        torch.manual_seed(seed)
        self.batch = batch
        self.env = Sudoku4x4(order)
        forward = MLP(64, 65, hidden_dim=256, n_hidden_layers=2)
        preprocessor = IdentityPreprocessor(output_dim=64)
        policy = DiscretePolicyEstimator(forward, 65, preprocessor)
        backward = DiscretePolicyEstimator.uniform(65, preprocessor)
        self.flows = TBGFlowNet(policy, backward)
        logz = self.flows.logz_parameters()
        groups = [{"params": list(forward.parameters())}, {"params": logz, "lr": 3e-2}]
        self.adam = torch.optim.Adam(groups, lr=1e-3)

    def learn(self) -> None:
        """Do an update on fresh trajectories."""
        drawn = self.flows.sample_trajectories(self.env, n=self.batch, save_logprobs=True)
        loss = self.flows.loss(self.env, drawn, recalculate_all_logprobs=False)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()

    def solved(self, draws: int) -> np.ndarray:
        """Return which of so many draws end at a solution, bool `[draws]`."""
        with torch.no_grad():
            ends = self.flows.sample_terminating_states(self.env, draws)
        return (ends.tensor.sum(-1) == 16).numpy()


class OurLearner:
    """A training with ours; without replay and exploration, as the other has none.

    Args:
        seed: of the weights and the draws.
        order: in which blanks are filled.
        batch: trajectories an update.
        body: of the network.
        boards: int8 `[M, 4, 4]`, to draw from.
    """

    def __init__(
        self, seed: int, order: TreeOrAny, batch: int, body: BodyConfig, boards: np.ndarray
    ) -> None:
        config = GFlowNetConfig(
            order=order,
            updates=1,
            puzzles=batch,
            ray=RayConfig(games_per_task=batch),  # all in lock step, as the other's
            replayed=0.0,
            epsilon=0.0,
            augment=False,
            iterations=1_000_000,
            network=body,
        )
        self.random = RunGenerators(seed)
        self.learner = GFlowNetLearner(config, self.random, Fixed(boards))

    def learn(self) -> None:
        """Do an update on fresh trajectories."""
        self.learner.learn(None, self.random, Progress())

    def solved(self, draws: int) -> np.ndarray:
        """Return which of so many draws end at a solution, bool `[draws]`."""
        boards = np.zeros((draws, 4, 4), np.int8)
        network, order = self.learner.network, self.learner.config.order
        return sample_trajectories(network, boards, FOUR, order, self.random.numpy).solved


class Arithmetic:
    """What an update costs the perceptron alone: 12 steps drawn, all states trained on."""

    STEPS = 12  # of a trajectory, on average over the first updates

    def __init__(self, seed: int, order: TreeOrAny, batch: int) -> None:
        torch.manual_seed(seed)
        self.batch = batch
        self.network = MLP(64, 65, hidden_dim=256, n_hidden_layers=2)
        self.adam = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.states = torch.randn(self.STEPS * batch, 64)

    def learn(self) -> None:
        """Run the network as an update on fresh trajectories does."""
        with torch.no_grad():
            for states in self.states.split(self.batch):
                self.network(states)
        self.adam.zero_grad()
        self.network(self.states).square().mean().backward()
        self.adam.step()


PERCEPTRON = MLPConfig((256, 256))
WALKS = BODIES["exact cover, walks"]
ARITHMETIC = "the perceptron's arithmetic alone"
AS_MEANT = "ours as it is meant"
LEARNERS = {
    ARITHMETIC: Arithmetic,
    "ours, the same perceptron": partial(OurLearner, body=PERCEPTRON, boards=EMPTY[None]),
    "torchgfn": TheirLearner,
    AS_MEANT: partial(OurLearner, body=WALKS, boards=partly_blank()),
}


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    results = Results(config.out, command_of(__file__, argv))
    for order, batch, seed in product(config.orders, config.batches, config.seeds):
        for name, make in LEARNERS.items():
            if name == ARITHMETIC and order != "any":
                continue  # in a tree many boards are equal, which ours asks about once
            if name == AS_MEANT and (order, batch) != (config.orders[0], config.batches[0]):
                continue  # what it solves is shown once
            learner = make(seed, order, batch)
            learner.learn()  # compiles what is not compiled yet
            start, updates = time.process_time(), 0
            while time.process_time() - start < config.seconds:
                learner.learn()
                updates += 1
            rate = updates * batch / (time.process_time() - start)
            row = {"player": name, "order": order, "batch": batch, "seed": seed}
            row["trajectories a second"] = round(rate)
            if not isinstance(learner, Arithmetic):
                start = time.process_time()
                solved = learner.solved(config.draws)
                row["draws a second"] = round(config.draws / (time.process_time() - start))
                row |= share_of(solved)
            results.add(row)


if __name__ == "__main__":
    main()
