"""The native vector environment: one call of a compiled kernel steps all boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.board.actions import as_actions
from sudoku_gym.envs import episodes, infos, rendering, resets, steps
from sudoku_gym.envs.batch import BoardBatch, BoardControls, EnvState
from sudoku_gym.envs.options import EnvOptions, custom_rewards
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.puzzles.sources import PuzzleSource

BoardArray: TypeAlias = NDArray[np.int8]  # [B, N, N]
StepResult: TypeAlias = tuple[
    BoardArray, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
]


class SudokuVectorEnv(BoardControls, VectorEnv[BoardArray, NDArray[np.int64], NDArray[Any]]):
    """Many boards at once: B `SudokuEnv`s, step for step, at the speed of compiled code.

    ## Description
    See `SudokuEnv` for the board, its actions, observations, rewards and the end of an episode.
    Board i after `reset(seed=s)` is a single environment after `reset(seed=s + i)`, and stays
    equal to it; every array has the form that `SyncVectorEnv` would give it.

    ## Action Space
    `MultiDiscrete([A] * B)`. `sudoku_gym.sample_actions(info["action_mask"], rng)` draws legal
    actions for the whole batch.

    ## Observation Space
    `Box(0, N, (B, N, N), int8)`. All returned arrays are new: they stay as they are.

    ## Starting State
    As in `SudokuEnv`. `reset(seed=...)` takes one seed or one each (None leaves a board's puzzles
    as they were to come); `options` takes `"puzzle"` (one for all, or one each), `"blanks"`, and
    `"reset_mask"` (bool `[B]`), which resets only some boards.

    ## Rewards
    As in `SudokuEnv`; a reward function is called once a step, for all boards that were acted on
    legally.

    ## Episode End
    `autoreset_mode` says when a board whose episode is over gets its next puzzle:

    - `AutoresetMode.NEXT_STEP` (`"NextStep"`): at the next step, which ignores the action for this
      board and returns the new board with its mask, reward 0 and both flags False.
    - `AutoresetMode.SAME_STEP` (`"SameStep"`): at once. The observation and the info are the new
      board's; `infos["final_obs"]` and `infos["final_info"]` hold the old one's.
    - `AutoresetMode.DISABLED` (`"Disabled"`): when you call `reset` with a `reset_mask`.

    ## Information
    The keys of `SudokuEnv`, each an array over the boards, beside a mask `_key` that says which
    boards have it (all of them, but for a reset with `reset_mask`).

    ## Arguments
    ```python
    gym.make_vec("Sudoku9x9-v0", num_envs=1024, autoreset_mode="SameStep")
    ```
    - `num_envs`: B.
    - `autoreset_mode`: above.
    - `max_episode_steps`: comes from a spec and says what `max_steps` says; no other number is
      accepted, since `gym.make` cuts games there by a wrapper that pays nothing.
    - all others as in `SudokuEnv` (`EnvOptions`).

    Raises:
        ValueError: if an option has no such value, or the source does not hold such boards.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium has it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": SudokuEnv.metadata["render_fps"],
    }

    def __init__(
        self,
        num_envs: int = 1,
        source: str | PuzzleSource = "9x9",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs}: use at least one")
        chosen = EnvOptions(source, **options)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.render_mode = chosen.render_mode
        self._batch = batch = BoardBatch(num_envs, chosen)
        if max_episode_steps not in (None, batch.named_rules.max_steps):
            raise ValueError(f"max_episode_steps={max_episode_steps}: use max_steps instead")
        self._reward = chosen.reward if callable(chosen.reward) else None
        self._is_seeded = False
        self._with_info = chosen.with_info
        self._board_shape = batch.boards.shape
        self._every_board = np.ones(num_envs, np.bool_)
        self._mask_shape = (num_envs, batch.num_actions if chosen.with_mask else 0)
        self.num_envs = num_envs
        self.single_observation_space = batch.observation_space
        self.single_action_space = batch.action_space
        self.observation_space = batch_space(batch.observation_space, num_envs)
        self.action_space = batch_space(batch.action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[BoardArray, dict[str, Any]]:
        """Start an episode on every board, or on those of `options["reset_mask"]`.

        Args:
            seed: board i is seeded with `seed + i` or `seed[i]`; None continues.
            options: `"puzzle"`, `"blanks"`, `"reset_mask"`.

        Returns:
            The boards, int8 `[B, N, N]`, and the infos.
        """
        if self.closed:
            raise self._closed_error()
        start = resets.read_reset_options(options, self.num_envs, self.geometry)
        self._seed(seed, start.chosen)
        self._batch.start_episodes(start)
        observations = self._batch.boards.copy()
        masks = np.zeros(self._mask_shape, np.int8)
        arrays = infos.info_arrays(self.num_envs)
        self._batch.write_info(start.chosen, observations, masks, arrays)
        shown = arrays if self._with_info else None
        tasks = self._batch.task_info()
        return observations, infos.batch_infos(masks, shown, tasks, start.chosen)

    def step(self, actions: ArrayLike) -> StepResult:
        """Act on every board.

        Args:
            actions: integers `[B]`; those of boards that are about to be reset are ignored.

        Returns:
            The boards int8 `[B, N, N]`, rewards float64 `[B]`, terminations and truncations bool
            `[B]`, and the infos.

        Errors are those of `SudokuEnv.step`; ResetNeeded also where nothing resets a board whose
        episode is over (`AutoresetMode.DISABLED`).
        """
        if self.closed:
            raise self._closed_error()
        chosen = as_actions(actions, self.num_envs)
        batch = self._batch
        resets_next = self.autoreset_mode is AutoresetMode.NEXT_STEP
        refused = steps.first_refused(batch.counts, chosen, resets_next, batch.num_actions)
        if refused >= 0:
            raise batch.refusal(refused, int(chosen[refused]))
        if resets_next and not batch.draws_compiled:
            phases = batch.counts[:, episodes.PHASE]
            over = (phases == episodes.TERMINATED) | (phases == episodes.TRUNCATED)
            batch.start_episodes(resets.ResetOptions(over), episodes.AUTORESET_PENDING)
        if self._reward is not None:
            before = batch.boards.copy()
            played = batch.running
        observations = np.empty(self._board_shape, np.int8)
        masks = np.empty(self._mask_shape, np.int8)
        arrays = infos.info_arrays(self.num_envs)
        game = (batch.sizes, batch.tables, batch.rules)
        drawn = (batch.streams, batch.drawing, batch.scratch)
        steps.step_boards(batch.state, chosen, game, drawn, (observations, masks, arrays))
        flags, _, floats = arrays
        rewards = floats[infos.REWARD_ROW]
        terminations, truncations = flags[infos.TERMINATIONS], flags[infos.TRUNCATIONS]
        if self._reward is not None:
            played &= ~flags[infos.ILLEGAL_ACTION]  # whose reward is written already
            if played.any():
                acted = before[played], chosen[played], observations[played]
                rewards[played] = custom_rewards(self._reward, *acted, terminations[played])
        final: dict[str, Any] = {}
        shown = arrays if self._with_info else None
        over = terminations | truncations
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            final = infos.final_infos(observations, masks, shown, batch.task_info(), over)
            batch.start_episodes(resets.ResetOptions(over))
            batch.write_info(over, observations, masks, arrays)
        named = infos.batch_infos(masks, shown, batch.task_info(), self._every_board) | final
        return observations, rewards, terminations, truncations, named

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool `[B, A]`."""
        return self._batch.masks().view(np.bool_)

    def set_state(self, state: EnvState) -> None:
        """Go back to a state of `get_state`; ValueError if it is of other boards or options."""
        self._seed(None, self._every_board)
        self._batch.set_state(state)

    def render(self) -> tuple[Any, ...] | None:
        """Draw every board: texts for `"ansi"`, uint8 `[H, W, 3]` each for `"rgb_array"`."""
        batch = self._batch
        if self.render_mode is None:
            gym.logger.warn("render() draws nothing without a render mode: give one to make_vec")
            return None
        if (batch.counts[:, episodes.PHASE] == episodes.UNUSED).any():
            raise ResetNeeded("there is no board to draw yet: call reset() before render()")
        boards, givens = batch.boards, batch.givens
        last = batch.counts[:, episodes.LAST_CELL].tolist()
        return tuple(
            rendering.render(self.render_mode, boards[i], givens[i], self.geometry, last[i])
            for i in range(self.num_envs)
        )

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: NDArray[np.bool_]) -> None:
        """Seed the chosen boards; at the first time all others too, from `np_random`."""
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        seeds = resets.read_seeds(seed, self.num_envs)
        if not self._is_seeded:
            anew = self.np_random.integers(2**63, size=self.num_envs).tolist()
            seeds_now = [a if s is None else s for s, a in zip(seeds, anew, strict=True)]
            self._batch.seed_many(seeds_now)
            self._is_seeded = True
            return
        self._batch.seed_many(s if c else None for s, c in zip(seeds, chosen, strict=True))
