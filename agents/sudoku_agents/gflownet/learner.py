"""A GFlowNet as a learner: it draws trajectories, and balances its flows along them."""

from __future__ import annotations

from functools import partial
from inspect import signature

import numpy as np
import torch

from sudoku_agents.gflownet.agent import GFlowNetPolicy
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.losses import balance_loss, log_z_estimates
from sudoku_agents.gflownet.trajectories import (
    Trajectories,
    TrajectoryWorker,
    sample_backward_trajectories,
)
from sudoku_curricula import curves
from sudoku_gym.plugins import load_attribute
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import (
    PLACEMENT_LOSS,
    LabelledBatch,
    LabelPool,
    draw_batches,
    run_updates,
)
from sudoku_learning.training import Optimizer, Progress, Report, RunGenerators, train_cli
from sudoku_learning.training.environments import training_source
from sudoku_learning.training.sampling import SamplingLearner, make_sampler
from sudoku_learning.training.weights import load_initial_weights

BALANCE_LOSS = "losses/balance_loss"
"""The balance loss that `loss.kind` chooses."""
LOG_Z = "losses/log_z"
"""The network's log Z, averaged over the puzzles drawn."""
SAMPLE_SUCCESS = "training/success_rate"
"""Share of the sampled trajectories that ended at a solution."""


class GFlowNetLearner(SamplingLearner):
    """Learns from its own trajectories, from puzzles of `source` or of `config.env`."""

    def __init__(
        self, config: GFlowNetConfig, random: RunGenerators, source: PuzzleSource | None = None
    ) -> None:
        self.config = config
        source = source or training_source(config.env)
        self._geometry = source.geometry
        make = partial(FlowNetwork, config.network, self._geometry)
        self.network: FlowNetwork = seeded(int(random.numpy.integers(2**32)), make).eval()
        load_initial_weights(config.weights, config, self.network)
        self._reward = None if config.reward == "sparse" else load_attribute(config.reward)
        try:
            if self._reward is not None:
                signature(self._reward).bind("boards")
        except TypeError as error:
            raise ValueError(f"{config.reward} takes the final boards alone: {error}") from error
        self._uses_balance_loss = config.loss.kind != "maximum-likelihood"
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.replay = LabelPool(self._geometry, config.replay)
        self.sampler = make_sampler(partial(TrajectoryWorker, config, source), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Draw trajectories from puzzles with the given number of blanks; update the network."""
        config = self.config
        self.optimizer.schedule(progress.share)
        steps = solved = played = 0
        losses = []
        for _ in range(config.updates):
            drawn = self.sample(config.puzzles, blanks, config.ray, random.numpy)
            if self._uses_balance_loss:
                losses.append(self._balance_step(drawn, random.numpy))
            solutions = drawn[drawn.solved]
            self.replay.add(solutions.puzzles, solutions.terminal_boards)
            steps += int(drawn.lengths.sum())
            solved += int(drawn.solved.sum())
            played += len(drawn)
        if self._uses_balance_loss:
            loss, log_z = np.mean(losses, axis=0).tolist()
            values, columns = {BALANCE_LOSS: loss, LOG_Z: log_z}, {"loss": loss, "log Z": log_z}
        else:
            loss, known = self._likelihood_updates(random.numpy)
            values = {PLACEMENT_LOSS: loss, curves.TRAINING_COMPLETION: known}
            columns = {"loss": loss, "solved": known}
        return Report(
            steps=steps,
            curves={
                **values,
                SAMPLE_SUCCESS: solved / played,
                curves.EPISODIC_LENGTH: steps / played,
                curves.LEARNING_RATE: self.optimizer.learning_rate,
            },
            columns={
                **{head: f"{value:.3f}" for head, value in columns.items()},
                "games solved": f"{solved / played:.1%}",
            },
        )

    def policy(self) -> GFlowNetPolicy:
        """Return the greedy policy, in the order of the configuration."""
        return GFlowNetPolicy(self.network, order=self.config.order)

    def _balance_step(self, drawn: Trajectories, rng: np.random.Generator) -> tuple[float, float]:
        """Update the network on trajectories, and some that lead to solutions found earlier.

        Return the loss, and the mean log Z of the drawn puzzles in the last round.
        """
        config, repeats, trained = self.config, self.config.repeats, drawn
        count = round(config.replayed * config.puzzles)
        if count and len(self.replay):
            chosen = rng.integers(len(self.replay), size=count).repeat(repeats)
            boards = self.replay.puzzles[chosen], self.replay.solutions[chosen]
            replayed = sample_backward_trajectories(*boards, self._geometry, config.order, rng)
            trained = Trajectories.concatenate([drawn, replayed])
        # The repeats of a puzzle lie next to each other, both drawn and replayed.
        groups = torch.arange(len(trained)) // repeats
        self.network.train()
        inner_flows = config.loss.kind == "sub-trajectory-balance"
        given = self._geometry, config.order, config.min_log_reward, inner_flows, self._reward
        estimates = log_z_estimates(self.network, trained, *given)
        loss = balance_loss(estimates, config.loss, groups)
        self.optimizer.step(loss)
        self.network.eval()
        log_z = estimates.values[-1, : len(drawn), 0].detach().mean()
        return loss.item(), log_z.item()

    def _likelihood_updates(self, rng: np.random.Generator) -> tuple[float, float]:
        """Make what leads to solutions found earlier likely; return the loss and the solved share.

        Source: the forward Kullback-Leibler divergence of Malkin et al., "GFlowNets and variational
        inference" (2023), on trajectories sampled backward from solutions with uniform P_B.
        Averaged over orders, the optimum is the per-placement marginals, so they are trained with
        binary cross entropy.
        """
        if not len(self.replay):
            raise ValueError(
                f"no trajectory has ended at a solution of {self.config.env} yet: begin with fewer "
                "blanks (curriculum:success-rate --curriculum.start 10)"
            )
        config, count = self.config.recurrent, self.config.optimizer.batch_size
        batch = LabelledBatch(self.network, self.replay, config, count, rng)
        batches = draw_batches([batch], config.updates, rng)
        means = run_updates(self.network, self.optimizer, batches)
        return means["placements"], means["solved"]


main = partial(train_cli, GFlowNetConfig, GFlowNetLearner, "gflownet")
"""Trains from the command line, see `train_cli`."""
