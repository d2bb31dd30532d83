"""Expert iteration as a learner: search, label, update.

Sources: Anthony, Tian and Barber, "Thinking fast and slow with deep learning and tree search"
(2017); the expert is the best-first search: cAlphaZero (Agarwal et al.), section 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.best_first_search import best_first_search
from sudoku_agents.best_first_search.search import logits_function
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_curricula import curves
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import Blanks
from sudoku_gym.puzzles.tasks import TaskWeights
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import (
    PLACEMENT_LOSS,
    LabelledBatch,
    LabelPool,
    draw_batches,
    run_updates,
)
from sudoku_learning.training import (
    EMA,
    LearnerState,
    Optimizer,
    Progress,
    Report,
    RunGenerators,
    train_cli,
)
from sudoku_learning.training.environments import geometry_of_env, training_source
from sudoku_learning.training.sampling import (
    Batch,
    SamplingLearner,
    SamplingTask,
    make_sampler,
    split_games,
)
from sudoku_learning.training.weights import load_initial_weights


@dataclass(frozen=True)
class Labels(Batch):
    """Results of the search on puzzles of one environment."""

    puzzles: NDArray[np.int8]  # int8 `[M, N, N]`, those that were solved
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`
    tried: int  # number of puzzles searched
    evaluations: int  # of the network, over all of these

    @property
    def solved(self) -> int:
        """Number of solved puzzles."""
        return len(self.puzzles)


NO_LABELS = Labels(np.zeros((0, 0, 0), np.int8), np.zeros((0, 0, 0), np.int8), 0, 0)


class SearchWorker:
    """Searches with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: ExpertIterationConfig) -> None:
        self._config = config
        self._sources = {env: training_source(env) for env in config.envs}
        self._network = Network(
            config.network, POLICY_AND_VALUE, self._sources[config.env].geometry
        ).eval()
        self._network.body.rounds = config.search_rounds

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> Labels:
        """Search a task's puzzles with these weights."""
        self._network.load_state_dict(dict(weights))
        source = self._sources[task.env or self._config.env]
        rng = np.random.default_rng(task.seed)
        puzzles, _ = source.sample(task.games, task.blanks, rng)  # the solutions are not looked at
        evaluate = logits_function(self._network, source.geometry)
        found = best_first_search(puzzles, source.geometry, evaluate, self._config.search)
        solved = found.found > 0
        return Labels(puzzles[solved], found.solutions[solved], task.games, int(found.nodes.sum()))


SEARCHED = "search/success_rate"
"""Share of the latest environment's puzzles that the search solved."""
EVALUATIONS = "search/evaluations"
"""Network evaluations of the search, averaged over its puzzles."""


class ExpertIterationLearner(SamplingLearner):
    """Learns from what its own search solves.

    An iteration gives the search new puzzles of each environment that takes part: those that have
    joined, or those of the boards that the curriculum draws, if its tasks name boards. What it
    solves goes into a pool for each environment, and the network is trained on boards from there.
    """

    def __init__(self, config: ExpertIterationConfig, random: RunGenerators) -> None:
        self.config = config
        self._envs = config.envs
        self._pools = {env: LabelPool(geometry_of_env(env)) for env in self._envs}
        make = partial(Network, config.network, POLICY_AND_VALUE, self._pools[config.env].geometry)
        self.network = seeded(int(random.numpy.integers(2**32)), make).eval()
        load_initial_weights(config.weights, config, self.network)
        self.optimizer = Optimizer(self.network, config.optimizer)
        if config.average:
            self.average = EMA(self.network, self.optimizer, config.average)
        self.sampler = make_sampler(partial(SearchWorker, config), config.ray)
        self._joined = self._envs[:1]

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Search new puzzles, and update the network on the pools."""
        wanted = self._shares(blanks)
        labels = self._label(wanted, blanks, random.numpy)
        for env, part in labels.items():
            self._pools[env].add(part.puzzles, part.solutions)
        known = [env for env, pool in self._pools.items() if len(pool)]
        shares = {env: wanted[env] for env in known if env in wanted} or dict.fromkeys(known, 1.0)
        if not shares:
            raise ValueError(
                f"the search solved no puzzle of {', '.join(wanted)}: begin with smaller boards, "
                "or give it more evaluations"
            )
        self.optimizer.schedule(progress.share)
        count, rng = self.config.recurrent.updates, random.numpy
        own = [self._batch(env, rng) for env in shares]
        batches = draw_batches(own, count, rng, list(shares.values()))
        means = run_updates(self.network, self.optimizer, batches)
        latest = labels.get(list(wanted)[-1], NO_LABELS)
        report = self._report(len(wanted), sum(map(len, batches)), means, latest)
        # Nothing is tried once the latest environment's pool is full: then the next one joins too.
        if not latest.tried or latest.solved >= self.config.join_at * latest.tried:
            self._joined = self._envs[: len(self._joined) + 1]
        return report

    def policy(self) -> CAlphaZeroPolicy:
        """Return the policy without search."""
        return CAlphaZeroPolicy(self.played, threshold=self.config.threshold)

    def state(self) -> LearnerState:
        """Return weights, optimizer, pools, and how many environments have joined."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for env, pool in self._pools.items():
            arrays |= pool.arrays(f"{env}.") if len(pool) else {}
        return replace(self.trained.state(), arrays=arrays, numbers={"joined": len(self._joined)})

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.trained.restore(state)
        self._joined = self._envs[: state.numbers["joined"]]
        for env, pool in self._pools.items():
            if f"{env}.{pool.KINDS[0]}" in state.arrays:
                pool.restore(state.arrays, f"{env}.")

    def _shares(self, blanks: Blanks) -> dict[str, float]:
        """Return the environments that take part, and their relative shares of the updates."""
        if not _names_boards(blanks):
            return dict(zip(self._joined, self.config.shares, strict=False))
        shares = {env: blanks.on(self._pools[env].geometry.name).sum() for env in self._envs}
        return {env: share for env, share in shares.items() if share}

    def _report(self, envs: int, steps: int, means: dict[str, float], latest: Labels) -> Report:
        known = sum(len(pool) for pool in self._pools.values())
        points = {
            curves.POLICY_LOSS: means["policy"],
            curves.VALUE_LOSS: means["value"],
            curves.LEARNING_RATE: self.optimizer.learning_rate,
            PLACEMENT_LOSS: means["placements"],
            curves.TRAINING_COMPLETION: means["solved"],
        }
        columns = {"envs": str(envs), "labelled": f"{known:,}"}
        if latest.tried:
            points[SEARCHED] = latest.solved / latest.tried
            points[EVALUATIONS] = latest.evaluations / latest.tried
        return Report(
            steps=steps,
            curves=points,
            columns={
                **columns,
                "search solved": f"{points[SEARCHED]:.1%}" if latest.tried else "",
                "loss": f"{means['placements']:.3f}",
                "solved": f"{means['solved']:.1%}",
            },
        )

    def _label(
        self, wanted: Mapping[str, float], blanks: Blanks, rng: np.random.Generator
    ) -> dict[str, Labels]:
        """Search new puzzles for every wanted environment whose pool is not full."""
        config, labels = self.config, {}
        for env, share in wanted.items():
            pool = self._pools[env]
            if len(pool) >= config.pool:
                continue
            games = _scaled(config.games, pool.geometry)
            stored = round(config.as_stored * games) if env == config.env else games
            if _names_boards(blanks):
                games, stored = _scaled(config.games * share, pool.geometry), 0
            tasks = split_games(stored, None, config.ray, rng, env)
            tasks += split_games(games - stored, blanks, config.ray, rng, env)
            found = self.sampler.sample(self.played.state_dict(), tasks)
            labels[env] = Labels.concatenate(found)
        return labels

    def _batch(self, env: str, rng: np.random.Generator) -> LabelledBatch:
        pool, config = self._pools[env], self.config
        count = _scaled(config.optimizer.batch_size, pool.geometry)
        return LabelledBatch(self.network, pool, config.recurrent, count, rng)


def _names_boards(blanks: Blanks) -> TypeGuard[TaskWeights]:
    """Whether these are tasks of several boards."""
    return isinstance(blanks, TaskWeights) and bool(blanks.tasks.boards)


def _scaled(boards: float, geometry: Geometry) -> int:
    """Turn a number of boards of 81 cells into one of other boards, at most twice as many."""
    return max(1, round(boards * min(2.0, 81 / geometry.num_cells)))


main = partial(train_cli, ExpertIterationConfig, ExpertIterationLearner, "expert-iteration")
"""Trains from the command line, see `train_cli`."""
