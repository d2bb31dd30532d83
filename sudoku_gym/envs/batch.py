"""B boards and their puzzles: the shared core of the single and the vector environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.envs import episodes, infos, steps
from sudoku_gym.envs.options import EnvOptions
from sudoku_gym.envs.resets import ResetOptions
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import group_of
from sudoku_gym.kernels import layout
from sudoku_gym.puzzles.sources import BankSource, Blanks, PuzzleSource, source_of, table_of
from sudoku_gym.puzzles.tasks import PuzzleWeights, Tasks, TaskWeights

_TOLD = slice(episodes.TASK, episodes.PUZZLE_ID + 1)  # of `counts`


@dataclass(frozen=True)
class EnvState:
    """A copy of the complete state of an environment."""

    rows: NDArray[np.int8]  # [B, W], see `sudoku_gym.kernels.layout`
    candidates: NDArray[np.uint64]  # [B, K], see `sudoku_gym.kernels.layout`
    counts: NDArray[np.int64]  # [B, NUM_EPISODE_COUNTS], see `sudoku_gym.envs.episodes`
    streams: NDArray[np.uint64]  # [B, 2], see `sudoku_gym.compiler.random_stream`
    generators: tuple[dict[str, Any], ...]  # states; () if puzzles are drawn compiled


class BoardBatch:
    """B boards that draw their puzzles from one source, each from a stream of its own.

    Attributes:
        state: a `layout.BoardState`, whose `counts` have `episodes`'s columns too, as a plain
            tuple, which numba unpacks faster than a named one.
        sizes, tables, rules: `layout.BoardSizes`, `layout.UnitTables`, `endings.GameRules`,
            as plain tuples.
        drawing, scratch: `sources.DrawTables` as a plain tuple, and `steps.new_scratch`.
        tells_tasks: whether tasks are drawn, which `task_info` then tells.
        streams: uint64 `[B, 2]`, the random streams that puzzles are drawn from.
        observation_space, action_space: of one board.
    """

    def __init__(self, count: int, options: EnvOptions) -> None:
        self._options = options
        self.source = options.resolve_source()
        self.geometry = geometry = self.source.geometry
        self.named_rules = options.rules(geometry.size)
        self.rules = tuple(self.named_rules)
        sizes = layout.sizes_of(geometry, options.erase)
        self.sizes, self.tables = tuple(sizes), tuple(layout.unit_tables(geometry))
        self.num_actions = sizes.num_actions
        self.scratch = steps.new_scratch(sizes)
        counted = options.erase or options.actions == "blank"
        self.rows, self.candidates, self.counts = layout.new_state(
            count, geometry, counted, episodes.NUM_EPISODE_COUNTS
        )
        self.counts[:] = episodes.UNUSED
        self.state = (self.rows, self.candidates, self.counts)
        self.streams = np.zeros((count, 2), np.uint64)
        shape = self.boards.shape[1:]
        self.observation_space = spaces.Box(0, geometry.size, shape, np.int8)
        self.action_space: spaces.Discrete[np.int64] = spaces.Discrete(self.num_actions)
        self._generators: dict[int, np.random.Generator] = {}
        self._augment = bool(options.augment)
        self._group = group_of(geometry if self._augment else Geometry.standard(4))  # a stand-in
        self._tasks: Tasks | None = None
        self.set_blanks(options.blanks)

    @property
    def boards(self) -> NDArray[np.int8]:
        """The current boards, a view, int8 `[B, N, N]`."""
        size = self.geometry.size
        return self.rows[:, : size**2].reshape(-1, size, size)

    @property
    def givens(self) -> NDArray[np.bool_]:
        """Which cells are givens: bool `[B, N, N]`."""
        cells = self.geometry.num_cells
        return self.rows[:, cells : 2 * cells].reshape(self.boards.shape) == 1

    @property
    def draws_compiled(self) -> bool:
        """Whether puzzles are drawn inside the kernels."""
        return isinstance(self.source, BankSource)

    def set_blanks(self, blanks: Blanks) -> None:
        """See `BoardControls.set_blanks`."""
        self.drawing, tasks = self._drawing(blanks)
        self._blanks = blanks
        self.tells_tasks = self.draws_compiled and tasks is not None
        if tasks != self._tasks:  # those of the running episodes are others
            self._tasks, self.counts[:, _TOLD] = tasks, -1

    def _drawing(self, blanks: Blanks) -> tuple[tuple[Any, ...], Tasks | None]:
        source = self.source
        if isinstance(blanks, str):
            blanks = TaskWeights.equal(blanks)
        if isinstance(blanks, PuzzleWeights):
            if not self.draws_compiled:
                raise ValueError(f"{source!r} draws its puzzles itself: it takes no list of them")
            source, blanks = source_of(blanks, self.geometry)
        no_bank = (*(np.empty((0, self.geometry.num_cells), np.int8),) * 2, np.empty(0, np.int64))
        bank = source.bank if isinstance(source, BankSource) else no_bank
        tasks = blanks.tasks if isinstance(blanks, TaskWeights) else None
        return (bank, tuple(table_of(source, blanks)), self._augment, self._group), tasks

    def task_info(self) -> dict[str, NDArray[np.int64]]:
        """Return copies of `task` and `puzzle_id`, int64 `[B]`, or {} if no tasks are drawn."""
        if not self.tells_tasks:
            return {}
        return dict(zip(("task", "puzzle_id"), self.counts[:, _TOLD].T.copy(), strict=True))

    def seed(self, index: int, rng: np.random.Generator) -> None:
        """Draw all later puzzles of board `index` from `rng`."""
        self.streams[index] = new_stream(rng)
        if not self.draws_compiled:
            self._generators[index] = rng

    def seed_many(self, seeds: Iterable[int | None]) -> None:
        """Seed board i with seeds[i]; None leaves it as it is."""
        for index, seed in enumerate(seeds):
            if seed is not None:
                self.seed(index, seeding.np_random(seed)[0])

    def start_episodes(self, reset: ResetOptions, phase: int = episodes.RUNNING) -> None:
        """Start an episode on the chosen boards, on the given puzzles or on drawn ones."""
        if isinstance(reset.blanks, str) and reset.blanks == "as set":
            blanks, drawing = self._blanks, self.drawing
        else:
            blanks, drawing = reset.blanks, self._drawing(reset.blanks)[0]
        if reset.puzzles is None and self.draws_compiled:
            drawn = (self.streams, drawing, self.scratch)
            steps.draw_boards(self.state, reset.chosen, phase, self.sizes, self.tables, drawn)
            if drawing is not self.drawing:  # not a task of those that are set
                self.counts[reset.chosen, episodes.TASK] = -1
            return
        self.counts[reset.chosen, _TOLD] = -1
        puzzles, augment = reset.puzzles, self._augment and reset.puzzles is None
        if puzzles is None:
            puzzles = self._sample(np.flatnonzero(reset.chosen).tolist(), blanks)
        flat = np.array(puzzles, np.int8, order="C")  # numba needs a writable array
        flat = flat.reshape(len(flat), -1)
        drawn = (self.streams, (augment, self._group), self.scratch)
        sizes, tables = self.sizes, self.tables
        steps.load_boards(self.state, reset.chosen, phase, sizes, tables, drawn, flat)

    def _sample(self, chosen: list[int], blanks: Blanks) -> NDArray[np.int8]:
        """Ask the source for a puzzle for each chosen board, with that board's own generator."""
        puzzles = np.zeros(self.boards.shape, np.int8)
        for index in chosen:
            sampled, _ = self.source.sample(1, blanks, self._generators[index])
            drawn = board.as_boards(sampled, self.geometry)
            if len(drawn) != 1 or board.conflicts(drawn, self.geometry).any():
                raise ValueError(
                    f"{self.source!r}: sample(1, ...) must return one board without conflicts, "
                    f"int8 [1, N, N], not {drawn.tolist()}"
                )
            puzzles[index] = drawn[0]
        return puzzles

    def play(self, actions: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        """Play `actions [B]` on the chosen boards, which must be running."""
        steps.step_chosen(self.state, actions, chosen, self.sizes, self.tables, self.rules)

    def refusal(self, index: int, action: object) -> Exception:
        """Return the error for an `action` that board `index` can't take."""
        phase, count = self.counts[index, episodes.PHASE], self.num_actions
        which = f"board {index}: " if len(self.counts) > 1 else ""
        if phase == episodes.UNUSED:
            return ResetNeeded("call reset() before step()")
        if phase == episodes.RUNNING:
            size = self.geometry.size
            last = board.cell_name(size**2 - 1, size)
            return ValueError(
                f"{which}action {action!r:.60} is none of this board: use 0 to {count - 1} "
                f"(cell * {size} + digit - 1; the last cell is {last})"
            )
        options = "options={'reset_mask': terminations | truncations}" if which else ""
        return ResetNeeded(f"{which}the episode is over: call reset({options}) before step()")

    @property
    def running(self) -> NDArray[np.bool_]:
        """Boards whose episodes are running, bool `[B]`."""
        is_running: NDArray[np.bool_] = self.counts[:, episodes.PHASE] == episodes.RUNNING
        return is_running

    def masks(self) -> NDArray[np.int8]:
        """Return the action masks: int8 `[B, A]`."""
        masks = np.empty((len(self.streams), self.num_actions), np.int8)
        infos.write_masks(self.state, self.sizes, self.named_rules.any_digit, masks)
        return masks

    def write_info(
        self,
        chosen: NDArray[np.bool_],
        observations: NDArray[np.int8],
        masks: NDArray[np.int8],
        arrays: infos.InfoArrays,
    ) -> None:
        """Write observation, mask and info of the chosen boards; leave the others' output."""
        any_digit = self.named_rules.any_digit
        infos.write_chosen(self.state, chosen, self.sizes, any_digit, observations, masks, arrays)

    def get_state(self) -> EnvState:
        """Return a copy of the state."""
        generators = [self._generators[i].bit_generator.state for i in sorted(self._generators)]
        return EnvState(
            self.rows.copy(),
            self.candidates.copy(),
            self.counts.copy(),
            self.streams.copy(),
            tuple(map(dict, generators)),
        )

    def set_state(self, state: EnvState) -> None:
        """Go back to a state; ValueError if it is one of other boards."""
        own = EnvState(*self.state, self.streams, ())
        for name in ("rows", "candidates", "counts", "streams"):
            form, wanted = (np.asarray(getattr(each, name)) for each in (state, own))
            if (form.dtype, form.shape) != (wanted.dtype, wanted.shape):
                raise ValueError(
                    f"the state's {name} are {form.dtype} {list(form.shape)}, this environment's "
                    f"{wanted.dtype} {list(wanted.shape)}: use one with the same number of boards, "
                    "board, `actions` and `erase`"
                )
        self.rows[:], self.candidates[:] = state.rows, state.candidates
        self.counts[:], self.streams[:] = state.counts, state.streams
        for index, saved in enumerate(state.generators):
            generator = self._generators.setdefault(index, np.random.default_rng(0))
            generator.bit_generator.state = saved


class BoardControls:
    """Properties and methods common to both environments."""

    _batch: BoardBatch
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's specification of this environment, with `max_steps` as its limit."""
        return self._spec and replace(self._spec, max_episode_steps=self.max_steps)

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec

    @property
    def geometry(self) -> Geometry:
        """The shape of the boards and their units."""
        return self._batch.geometry

    @property
    def source(self) -> PuzzleSource:
        """The puzzle source."""
        return self._batch.source

    @property
    def max_steps(self) -> int:
        """The number of steps after which an episode is truncated."""
        return self._batch.named_rules.max_steps

    def set_blanks(self, blanks: Blanks) -> None:
        """Set the number of blanks of episodes, from each board's next reset on.

        Raises:
            ValueError: if the source can't serve them; the message names its maximum.
            TypeError: if `blanks` is no number, pair, mapping or None.
        """
        self._batch.set_blanks(blanks)

    def get_state(self) -> EnvState:
        """Return a copy of the complete state, for `set_state`."""
        return self._batch.get_state()

    def _closed_error(self) -> ClosedEnvironmentError:
        return ClosedEnvironmentError("the environment is closed: make a new one")
