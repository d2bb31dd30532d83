"""What the users of either environment can see and set while it runs."""

from __future__ import annotations

from dataclasses import replace

from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError

from sudoku_gym.envs.batch import BoardBatch, EnvState
from sudoku_gym.envs.settings import Propagation
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource


class BoardControls:
    """What `SudokuEnv` and `SudokuVectorEnv` have in common: the state and settings of a batch."""

    _batch: BoardBatch
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """What Gymnasium made this environment of, with `max_episode_steps` as it is now."""
        return self._spec and replace(self._spec, max_episode_steps=self.max_episode_steps)

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec

    @property
    def geometry(self) -> Geometry:
        """The shape of the boards and their units."""
        return self._batch.geometry

    @property
    def source(self) -> PuzzleSource:
        """Where the puzzles come from."""
        return self._batch.source

    @property
    def max_episode_steps(self) -> int:
        """The number of steps after which an episode is truncated; may be set at any time."""
        return self._batch.max_steps

    @max_episode_steps.setter
    def max_episode_steps(self, limit: int) -> None:
        self._batch.max_steps = limit

    def set_blanks(self, blanks: Blanks) -> None:
        """Let the next episodes begin with so many blanks, from each board's next reset on.

        Raises:
            ValueError: if the source can't serve them; the message names its maximum.
        """
        self._batch.set_blanks(blanks)

    def set_propagation(self, propagation: Propagation) -> None:
        """Fill in other singles for the agent, or none, from the next placement on.

        Raises:
            ValueError: if there is no such kind, or digits may be erased.
        """
        self._batch.set_propagation(propagation)

    def get_state(self) -> EnvState:
        """Return a copy of everything that decides what happens next, for `set_state`."""
        return self._batch.get_state()

    def _closed_error(self) -> ClosedEnvironmentError:
        return ClosedEnvironmentError("the environment is closed: make a new one")
