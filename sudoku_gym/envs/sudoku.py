"""The single environment; the docstring of its class is the page of its documentation."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index as whole_number
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from sudoku_gym.envs import episodes, rendering, steps
from sudoku_gym.envs.batch import BoardBatch, BoardControls, EnvState
from sudoku_gym.envs.infos import info_arrays, name_info, read_info
from sudoku_gym.envs.options import EnvOptions, custom_rewards
from sudoku_gym.envs.resets import read_reset_options
from sudoku_gym.puzzles.sources import PuzzleSource


class SudokuEnv(BoardControls, gym.Env[NDArray[np.int8], np.int64]):
    """Fill a board so that every unit holds every digit once.

    ## Description
    A board has N x N cells. Some hold a digit at the start, the *givens*; the rest are *blank*.
    A *unit* is a row, a column, a box or, in variants, a diagonal: N cells that must hold N
    different digits. The agent places one digit at a time. A digit that no unit of a blank cell
    holds yet is a *candidate* of that cell; by default only candidates may be placed, so digits
    never clash, but a placement may still be wrong and lead to a *dead end*: a blank cell without
    a candidate.

    Puzzles come from a bank of minimal puzzles. Any number of blanks can be asked for: cells of a
    minimal puzzle are revealed until that many are left, and the puzzle stays well posed (it has
    exactly one solution).

    ## Action Space
    `Discrete(N**3)`. Action `cell * N + digit - 1` places `digit` in `cell = row * N + column`.
    With `erase=True` the space is `Discrete(N**3 + N**2)`, and action `N**3 + cell` clears a cell
    that is no given.

    `info["action_mask"]` (int8 `[A]`, fit for `action_space.sample(mask)`) and the method
    `action_masks()` (bool `[A]`) say which actions are legal: 1 = legal. `actions="legal"` allows
    candidates, `actions="blank"` any digit in any blank cell. An illegal action leaves the board
    as it is, is rewarded with `illegal_reward`, and counts as a step.

    ## Observation Space
    `Box(0, N, (N, N), int8)`: the board, 0 for a blank.

    ## Starting State
    A puzzle drawn from `source` with `blanks` blanks, under a random symmetry if `augment`.
    `reset(options=...)` takes `{"puzzle": board}` (int `[N, N]` or a text; no symmetry is applied)
    or `{"blanks": ...}` for this one episode. `set_blanks(...)` changes the level for all
    episodes from the next reset on. Equal seeds give equal puzzles, now and in the vector
    environment.

    ## Rewards
    - `"terminal"`: 0 until the end, then the constraint fraction, that is the share of units that
      hold all N digits; 1 exactly when solved. (cAlphaZero, equation 4.) Paid at truncation too.
    - `"dense"`: the change of the constraint fraction at each step; the return is the fraction at
      the end less the one at the start.
    - `"sparse"`: 1 when the episode ends with the board solved, else 0.
    - a function `f(before, actions, after, terminated)` of batches, here of one board; see
      `RewardFunction`. It is not called for an illegal action.

    An illegal action adds `illegal_reward`.

    ## Episode End
    Termination: when the board is full or no action is legal; with `end_at_dead_end=True` also at
    the first dead end; with `erase=True` only when solved (or at a dead end, with both). The
    terminal observation carries an all-zero mask.

    Truncation: after `max_steps` steps, by default `2 * N**2`, or `8 * N**2` with `erase=True`.
    The environment counts them itself, since `"terminal"` pays at truncation too; Gymnasium's own
    `max_episode_steps` would end an episode from outside, unpaid. The limit stands in
    `env.unwrapped.spec`, for wrappers such as `TimeAwareObservation`.

    ## Information
    | key | type | meaning |
    |---|---|---|
    | `action_mask` | int8 `[A]` | 1 for each legal action |
    | `blanks` | int | blank cells now |
    | `level` | int | blank cells at the start of the episode |
    | `dead_end` | bool | some blank cell has no candidate |
    | `illegal_action` | bool | the last action was illegal |
    | `is_success` | bool | the board is solved |
    | `constraint_fraction` | float | share of units that hold all N digits |

    ## Arguments
    ```python
    gym.make("Sudoku9x9-v0", blanks=40, reward="dense")
    ```
    - `source`: a bank's name, a file of puzzles, `"module:attribute"`, or a `PuzzleSource`.
    - `split`: the part of a bank to draw from: `"train"`, `"validation"`, `"test"` or `"all"`.
    - `board`: the board that the source must have: a name such as `"x9x9"` or `"12x12"`, the
      `"module:attribute"` of a `Geometry`, or one itself; None takes the source's. The environment
      ids set it, all but `Sudoku-v0`. A file of puzzles does not say its board, so there it also
      says how to read them.
    - `blanks`: None for puzzles as stored (minimal), a number, a (low, high) pair with both ends
      included, or a mapping from numbers to weights. A text such as `"grade x blanks=20..50"`, or
      `TaskWeights`, draws tasks; see `sudoku_gym.puzzles.Tasks`.
    - `augment`: whether to move each drawn puzzle by a random symmetry of the board.
    - `reward`, `actions`, `erase`, `illegal_reward`, `end_at_dead_end`, `max_steps`: above.
    - `propagation`: what is filled in after each legal placement, until there is none left:
      `"naked singles"` (blank cells with one candidate) or `"hidden singles"` (digits with one cell
      left in a unit, too). The agent is then left with the guesses. The first board comes as it is.
      Figures measured so are not comparable with those of the plain environment.
    - `with_mask`: False leaves `action_mask` out of the info; `action_masks()` still answers.
    - `with_info`: False leaves everything but `action_mask` out of the info.
    - `render_mode`: None, `"ansi"` or `"rgb_array"`; Gymnasium's `HumanRendering` shows the latter
      in a window, and its `RecordVideo` makes films (extra `render`).

    ## Version History
    - v0: initial version.

    Raises:
        ValueError: if an option has no such value, or the source does not hold such boards.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium has it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    _is_closed = False
    _is_running = False

    def __init__(self, source: str | PuzzleSource = "9x9", **options: Any) -> None:
        chosen = EnvOptions(source, **options)
        self.metadata = dict(self.metadata)  # SyncVectorEnv writes into it
        self.render_mode = chosen.render_mode
        self._batch = batch = BoardBatch(1, chosen)
        self._reward = chosen.reward if callable(chosen.reward) else None
        self._seeded_by: np.random.Generator | None = None
        self.observation_space = batch.observation_space
        self.action_space = batch.action_space
        self._board_shape = batch.boards.shape[1:]
        self._with_info = chosen.with_info
        self._mask_length = batch.num_actions if chosen.with_mask else 0

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: decides this puzzle and all that follow; None continues.
            options: `"puzzle"` or `"blanks"`, for this episode only.

        Returns:
            The board, int8 `[N, N]`, and the info.

        Raises:
            ValueError: if there is no such option, or its value does not fit.
            ClosedEnvironmentError: after `close`.
        """
        if self._is_closed:
            raise self._closed_error()
        super().reset(seed=seed)
        start = read_reset_options(options, 1, self.geometry)
        self._seed_stream(anew=seed is not None)
        self._batch.start_episodes(start)
        self._is_running = True
        arrays = info_arrays(1)
        observation = np.empty(self._board_shape, np.int8)
        mask = np.empty(self._mask_length, np.int8)
        self._batch.write_info(start.chosen, observation[None], mask[None], arrays)
        info: dict[str, Any] = {}
        if self._with_info:
            named = read_info(arrays) | self._batch.task_info()
            info = {key: values.item() for key, values in named.items()}
        if self._mask_length:
            info["action_mask"] = mask
        return observation, info

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Place or erase one digit.

        Args:
            action: 0 to A - 1.

        Returns:
            The board, the reward, whether the episode terminated, whether it was truncated, and
            the info.

        Raises:
            ValueError: if the action is no action of this board.
            ResetNeeded: if there was no reset yet, or the episode is over.
            ClosedEnvironmentError: after `close`.
        """
        batch = self._batch
        try:
            action = whole_number(action)
        except TypeError:
            raise batch.refusal(0, action) from None
        if not self._is_running or not 0 <= action < batch.num_actions:
            raise self._closed_error() if self._is_closed else batch.refusal(0, action)
        before = batch.boards.copy() if self._reward else None
        observation = np.empty(self._board_shape, np.int8)
        mask = np.empty(self._mask_length, np.int8)
        reward, terminated, truncated, values = steps.step_one(
            batch.state, action, batch.sizes, batch.tables, batch.rules, observation, mask
        )
        self._is_running = not (terminated or truncated)
        info = name_info(*values)
        if self._reward and before is not None and not info["illegal_action"]:
            ended = np.array([terminated])
            after = observation[None].copy()
            reward = custom_rewards(self._reward, before, np.array([action]), after, ended).item()
        if batch.tells_tasks:
            info |= {key: numbers.item() for key, numbers in batch.task_info().items()}
        if not self._with_info:
            info = {}
        if self._mask_length:
            info["action_mask"] = mask
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal now: bool `[A]`, True = legal."""
        return self._batch.masks()[0].view(np.bool_)

    def set_state(self, state: EnvState) -> None:
        """Go back to a state of `get_state`; ValueError if it is of other boards or options."""
        self._seed_stream(anew=False)
        self._batch.set_state(state)
        self._is_running = bool(self._batch.running[0])

    def render(self) -> str | NDArray[np.uint8] | None:  # type: ignore[override]
        """Draw the board: a text for `"ansi"`, uint8 `[H, W, 3]` for `"rgb_array"`."""
        if self.render_mode is None:
            name = self.spec.id if self.spec else "..."
            gym.logger.warn(
                "render() draws nothing without a render mode: give one, e.g. "
                f'gym.make("{name}", render_mode="rgb_array")'
            )
            return None
        if self._batch.counts[0, episodes.PHASE] == episodes.UNUSED:
            raise ResetNeeded("there is no board to draw yet: call reset() before render()")
        return rendering.render(
            self.render_mode,
            self._batch.boards[0],
            self._batch.givens[0],
            self.geometry,
            int(self._batch.counts[0, episodes.LAST_CELL]),
        )

    def close(self) -> None:
        """End the environment; no reset or step can follow."""
        self._is_closed, self._is_running = True, False

    def _seed_stream(self, anew: bool) -> None:
        """Let `np_random` decide the puzzles, if it was seeded or replaced."""
        if anew or self._seeded_by is not self.np_random:
            self._seeded_by = self.np_random
            self._batch.seed(0, self.np_random)
