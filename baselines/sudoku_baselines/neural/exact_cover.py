"""The factor-graph body (`sudoku_learning.networks.factor_graph`), trained on solutions.

It passes log-sum-exp messages between placements and constraints with the same weights in every
round, with a loss at every round (`sudoku_learning.recurrent`). Being equivariant it needs no
augmentation, and plays every size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.neural.learner import LabelledConfig
from sudoku_curricula import curves
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.plugins import find_env
from sudoku_gym.policies import Convergence, ModelCard
from sudoku_gym.puzzles.sources import Blanks
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import (
    NO_RESTARTS,
    FactorGraphConfig,
    Network,
    NetworkPolicy,
    PolicyConfig,
    Restarts,
    evaluate_boards,
)
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import (
    PLACEMENT_LOSS,
    LabelledBatch,
    RecurrentConfig,
    draw_batches,
    run_updates,
)
from sudoku_learning.training import (
    EnvId,
    Learner,
    LearnerState,
    Optimizer,
    OptimizerConfig,
    Progress,
    Report,
    RunGenerators,
    train_cli,
)

_HEADS = {"policy": PolicyConfig()}


@registered("neural/exact-cover-training")
@dataclass(frozen=True, kw_only=True)
class ExactCoverTraining(LabelledConfig):
    """Train the factor-graph body on solutions."""

    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("also", "network", "optimizer", "recurrent"),
    )

    env: EnvId = "Sudoku9x9-v0"
    also: tuple[EnvId, ...] = ()
    """ids of further environments to train in: from each as many distinct puzzles, and as many
    updates"""
    run: Path = Path("runs/exact-cover")
    iterations: int = 100
    validation_games: int = 128
    evaluate_every: int = 5
    threshold: float | None = 5.0
    """in play, all placements with a logit above this are made, the best first, before the network
    is asked again; None asks it before every move"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(4e-3, batch_size=48, constant_share=0.4)
    )
    """Adam"""
    recurrent: RecurrentConfig = field(default_factory=RecurrentConfig)
    """how the network is updated"""
    network: FactorGraphConfig = field(
        default_factory=lambda: FactorGraphConfig(
            24, 16, test_rounds=128, intersections=True, convergence_margin=1.0
        )
    )
    """the body of the network; `rounds` are those of one segment"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for env in self.also:
            find_env(env)

    def count_shown(self) -> int:
        """Return the number of puzzles whose solution the network is shown."""
        return sum(self.puzzles.count_training(env) for env in (self.env, *self.also))

    def build(self, geometry: Geometry) -> Network:
        """Make the network, with random weights."""
        return Network(self.network, _HEADS, geometry)


class ExactCoverLearner(Learner):
    """Trains a `network` on solutions; `pools` are the training puzzles of each environment."""

    def __init__(self, config: ExactCoverTraining, random: RunGenerators) -> None:
        self.config = config
        envs = (config.env, *config.also)
        self.pools = [config.puzzles.divide(env).train for env in envs]
        make = partial(config.build, self.pools[0].geometry)
        self.network = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.network, config.optimizer)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Update the network on boards of each environment alike."""
        config, rng = self.config, random.numpy
        self.optimizer.schedule(progress.share)
        size = config.optimizer.batch_size
        own = [LabelledBatch(self.network, p, config.recurrent, size, rng) for p in self.pools]
        batches = draw_batches(own, config.recurrent.updates, rng)
        means = run_updates(self.network, self.optimizer, batches)
        return Report(
            steps=sum(map(len, batches)),
            curves={
                PLACEMENT_LOSS: means["placements"],
                curves.POLICY_LOSS: means["policy"],
                curves.LEARNING_RATE: self.optimizer.learning_rate,
                curves.TRAINING_COMPLETION: means["solved"],
            },
            columns={"loss": f"{means['placements']:.3f}", "solved": f"{means['solved']:.1%}"},
        )

    def policy(self) -> NetworkPolicy:
        """Return the policy that plays the placements of highest logit first."""
        return NetworkPolicy(self.network, threshold=self.config.threshold)

    def state(self) -> LearnerState:
        """Return weights and optimizer."""
        return self.optimizer.state()

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.optimizer.restore(state)


class FactorGraphPredictor:
    """A network with the head `policy` as a `sudoku_gym.policies.Predictor` of all blanks.

    Args:
        network: put in evaluation mode.
        restarts: further starts of boards that have not converged.
        solutions: different puzzles whose solution the network was shown in training.

    Attributes:
        convergence: of the boards of the last `predict`, which of them had converged and how many
            rounds each took; None before it, and of a network that can't converge.

    Raises:
        ValueError: if there are restarts, but the network can't converge.
    """

    def __init__(
        self, network: Network, restarts: Restarts = NO_RESTARTS, solutions: int = 0
    ) -> None:
        network.check_restarts(restarts)
        self.network = network.eval()
        self.restarts = restarts
        self.solutions = solutions
        self.convergence: Convergence | None = None

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return self.network.model_card("one shot", self.solutions, self.restarts)

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return the logit of each placement, float32 `[B, N, N, N]`.

        Logits of different cells are comparable; those of illegal placements are far below all
        others.
        """
        candidates = board.candidates(boards, geometry)
        masks = candidates.reshape(len(boards), -1)
        given = boards, masks, geometry, ["policy"]
        reading = evaluate_boards(self.network, *given, restarts=self.restarts)
        if self.network.can_converge:
            self.convergence = Convergence(reading.rounds, reading.converged)
        return reading.outputs["policy"].reshape(candidates.shape)


main = partial(train_cli, ExactCoverTraining, ExactCoverLearner, "exact-cover")
