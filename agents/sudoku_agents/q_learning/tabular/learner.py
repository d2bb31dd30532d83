"""Tabular Q-learning and SARSA as a learner: games in parallel, every move an update."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.q_learning.tabular.agent import QTable, QTablePolicy
from sudoku_agents.q_learning.tabular.config import QLearningConfig
from sudoku_curricula import curves
from sudoku_gym import evaluate
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource, blanks_cdf
from sudoku_learning.training import (
    Learner,
    LearnerState,
    Progress,
    Report,
    RunGenerators,
    train_cli,
)
from sudoku_learning.training.environments import training_envs, training_source


@dataclass(frozen=True)
class FixedPuzzles:
    """K puzzles, each with the order in which its cells become blank.

    With n blanks the first n cells of a puzzle's order are blank, so filling blanks of the n-blank
    board correctly, last in the order first, gives the boards with fewer blanks.
    """

    solutions: NDArray[np.int8]  # int8 `[K, N, N]`
    blank_rank: NDArray[np.int64]  # int64 `[K, N, N]`, a cell's rank from 0; N**2 for a given

    @classmethod
    def sample(cls, source: PuzzleSource, count: int, rng: np.random.Generator) -> FixedPuzzles:
        """Draw puzzles as stored from a source, and random orders."""
        puzzles, solutions = source.sample(count, None, rng)
        cells = puzzles[0].size
        # Givens sort last, behind the numbers below 1 of the blanks; argsort twice gives ranks.
        keys = np.where(puzzles.reshape(count, -1) == 0, rng.random((count, cells)), 2.0)
        ranks = keys.argsort(1).argsort(1).reshape(puzzles.shape)
        return cls(solutions, np.where(puzzles == 0, ranks, cells))

    def with_blanks(self, index: NDArray[np.int64], blanks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the puzzles of `index` with the given numbers of blanks, int8 `[B, N, N]`.

        Both arguments are int64 `[B]`; a puzzle has at most the blanks with which it is stored.
        """
        most = self.blank_rank[0].size  # so that givens, of this rank, never become blank
        is_blank = self.blank_rank[index] < np.minimum(blanks[:, None, None], most)
        return np.where(is_blank, np.int8(0), self.solutions[index])


STATES = "charts/table_size"
"""Boards in the table."""


class QLearningLearner(Learner):
    """Learns a table on puzzles that `random` draws once."""

    def __init__(self, config: QLearningConfig, random: RunGenerators) -> None:
        self.config = config
        self._source = training_source(config.env)
        self._envs = training_envs(
            config.env,
            config.games,
            reward=config.reward,
            end_at_dead_end=config.end_at_dead_end,
            augment=False,
        )
        self.table = QTable(self._source.geometry.size)
        self.puzzles = FixedPuzzles.sample(self._source, config.puzzles, random.numpy)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and learn from each move."""
        rng, count = random.numpy, self.config.games
        cdf = blanks_cdf(blanks, self._source.max_blanks)
        numbers = np.searchsorted(cdf, rng.random(count), side="right")
        index = rng.integers(self.config.puzzles, size=count)
        boards = self.puzzles.with_blanks(index, numbers)
        solved, returns, lengths = play_and_learn(self.table, self._envs, boards, self.config, rng)
        known = self._known(int(numbers.max()), rng)
        return Report(
            steps=int(lengths.sum()),
            curves={
                curves.EPISODIC_RETURN: float(returns.mean()),
                curves.EPISODIC_LENGTH: float(lengths.mean()),
                curves.TRAINING_COMPLETION: known,
                STATES: len(self.table),
            },
            columns={
                "states": f"{len(self.table):,}",
                "sampled": f"{solved.mean():.1%}",
                "own": f"{known:.1%}",
            },
        )

    def policy(self) -> QTablePolicy:
        """Return the greedy policy."""
        return QTablePolicy(self.table)

    def state(self) -> LearnerState:
        """Return the table and the puzzles."""
        return LearnerState(self.table.tensors(), arrays=vars(self.puzzles))

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.table.restore(state.weights)
        arrays: dict[str, Any] = dict(state.arrays)
        self.puzzles = FixedPuzzles(**arrays)

    def _known(self, blanks: int, rng: np.random.Generator) -> float:
        count = len(self.puzzles.solutions)
        boards = self.puzzles.with_blanks(np.arange(count), np.full(count, blanks))
        seed, geometry = int(rng.integers(2**32)), self._source.geometry
        return evaluate(self.policy(), boards, geometry=geometry, seed=seed).completion_rate


def play_and_learn(
    table: QTable,
    envs: SudokuVectorEnv,
    boards: NDArray[np.int8],
    config: QLearningConfig,
    rng: np.random.Generator,
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.int64]]:
    r"""Play one game on each board int8 `[G, N, N]`; after each move update the table.

    $$Q(s, a) \leftarrow Q(s, a) + \alpha (r + \gamma V(s') - Q(s, a))$$

    where V(s') is the highest value of a legal action (Q-learning), or the value of the action that
    is played next (SARSA); 0 if the game is over.

    Returns which games were solved, bool `[G]`, their returns float64 and numbers of moves int64.
    """
    count = len(boards)
    boards, info = envs.reset(options={"puzzle": boards})
    masks = info["action_mask"].astype(np.bool_)
    games, rows = np.arange(count), table.rows(boards)
    returns, lengths = np.zeros(count), np.zeros(count, np.int64)
    solved = np.zeros(count, np.bool_)
    moves = _explore(table, rows, masks, config.epsilon, rng)
    while len(games):
        actions = np.zeros(count, np.int64)  # finished boards go on with other puzzles, unwatched
        actions[games] = moves
        boards, rewards, terminated, truncated, info = envs.step(actions)
        returns[games] += rewards[games]
        lengths[games] += 1
        solved[games] = info["is_success"][games]
        goes_on = ~(terminated | truncated)[games]
        following = games[goes_on]
        masks = info["action_mask"][following].astype(np.bool_)
        next_rows = table.rows(boards[following])
        next_moves = _explore(table, next_rows, masks, config.epsilon, rng)
        values = np.zeros(len(games), np.float32)
        if config.algorithm == "sarsa":
            values[goes_on] = table.values[next_rows, next_moves]
        elif len(following):
            values[goes_on], _ = table.best(next_rows, masks)
        targets = rewards[games] + config.discount * values
        table.learn(rows, moves, targets, config.learning_rate)
        games, rows, moves = following, next_rows, next_moves
    return solved, returns, lengths


def _explore(
    table: QTable,
    rows: NDArray[np.int64],
    masks: NDArray[np.bool_],
    epsilon: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Choose actions: the best, equal ones by chance; with the chance epsilon any legal one."""
    if not len(rows):
        return rows
    _, best = table.best(rows, masks)
    explores = rng.random(len(rows)) < epsilon
    return sample_actions(np.where(explores[:, None], masks, best), rng)


main = partial(train_cli, QLearningConfig, QLearningLearner, "q-learning")
"""Trains from the command line, see `train_cli`."""
