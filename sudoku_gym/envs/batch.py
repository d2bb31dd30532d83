"""The state of B boards and their puzzles: what the single and the vector environment share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.compiler.random_stream import new_stream
from sudoku_gym.envs import episodes, outcomes, starts, steps
from sudoku_gym.envs.settings import Propagation, ResetOptions, Settings, check_max_steps
from sudoku_gym.geometry.symmetry import group_of
from sudoku_gym.kernels import layout
from sudoku_gym.kernels.endings import Rules
from sudoku_gym.puzzles.sources import BankSource, Blanks, blanks_cdf


@dataclass(frozen=True)
class EnvState:
    """A copy of everything that decides what an environment does next.

    Attributes:
        rows: int8 `[B, W]`, see `sudoku_gym.kernels.layout`.
        candidates: uint64 `[B, K]`, see `sudoku_gym.kernels.layout`.
        counts: int64 `[B, NUM_COUNTS]`, see `sudoku_gym.envs.episodes`.
        streams: uint64 `[B, 2]`, see `sudoku_gym.compiler.random_stream`.
        generators: one state of a numpy generator a board where the source needs them, else empty.
    """

    rows: NDArray[np.int8]
    candidates: NDArray[np.uint64]
    counts: NDArray[np.int64]
    streams: NDArray[np.uint64]
    generators: tuple[dict[str, Any], ...]


class BoardBatch:
    """B boards that draw their puzzles from one source, each from a stream of its own.

    Args:
        count: B.
        settings: the options of the environment.

    Attributes:
        source: where the puzzles come from.
        geometry: the shape of the boards.
        rows: int8 `[B, W]`, see `layout.State`.
        candidates: uint64 `[B, K]`.
        counts: int64 `[B, NUM_COUNTS]`, with the columns that `episodes` adds.
        state: the last three as a plain tuple, which numba takes faster than a named one.
        sizes: `layout.Sizes` as a plain tuple.
        tables: `layout.UnitTables` as a plain tuple.
        rules: `endings.Rules` as a plain tuple.
        drawing: see `steps.step_boards`.
        streams: uint64 `[B, 2]`.
        observation_space: of one board.
        action_space: of one board.
    """

    def __init__(self, count: int, settings: Settings) -> None:
        self._settings = settings
        self.source = settings.resolve_source()
        self.geometry = geometry = self.source.geometry
        self._set_rules(settings.rules(geometry.size))
        sizes = layout.sizes_of(geometry, settings.erase)
        self.sizes, self.tables = tuple(sizes), tuple(layout.unit_tables(geometry))
        self.num_actions = sizes.num_actions
        self._named_sizes = sizes
        self._scratch = starts.new_scratch(sizes)
        counted = settings.erase or settings.actions == "blank"
        self.rows, self.candidates, self.counts = layout.new_state(
            count, geometry, counted, episodes.NUM_COUNTS
        )
        self.counts[:] = episodes.UNUSED
        self.state = (self.rows, self.candidates, self.counts)
        self.streams = np.zeros((count, 2), np.uint64)
        shape = self.boards.shape[1:]
        self.observation_space = spaces.Box(0, geometry.size, shape, np.int8)
        self.action_space: spaces.Discrete[np.int64] = spaces.Discrete(self.num_actions)
        self._generators: dict[int, np.random.Generator] = {}
        self._augment, self._group = bool(settings.augment), group_of(geometry)
        self.set_blanks(settings.blanks)

    @property
    def boards(self) -> NDArray[np.int8]:
        """The boards as they are now, a view: int8 `[B, N, N]`."""
        size = self.geometry.size
        return self.rows[:, : size**2].reshape(-1, size, size)

    @property
    def givens(self) -> NDArray[np.bool_]:
        """Which cells are givens: bool `[B, N, N]`."""
        cells = self.geometry.num_cells
        return self.rows[:, cells : 2 * cells].reshape(self.boards.shape) == 1

    @property
    def max_steps(self) -> int:
        """After how many steps an episode is truncated."""
        return self._rules.max_steps

    @max_steps.setter
    def max_steps(self, limit: int) -> None:
        check_max_steps(limit)
        self._set_rules(self._rules._replace(max_steps=int(limit)))

    def set_propagation(self, propagation: Propagation) -> None:
        """Fill in other singles for the agent, or none, from the next placement on.

        Raises:
            ValueError: if there is no such kind, or digits may be erased.
        """
        self._settings = replace(self._settings, propagation=propagation)
        rules = self._settings.rules(self.geometry.size)
        self._set_rules(rules._replace(max_steps=self.max_steps))

    def _set_rules(self, rules: Rules) -> None:
        self._rules, self.rules = rules, tuple(rules)

    @property
    def draws_compiled(self) -> bool:
        """Whether puzzles are drawn inside the kernels."""
        return isinstance(self.source, BankSource)

    def set_blanks(self, blanks: Blanks) -> None:
        """Let the next episodes begin with so many blanks.

        Raises:
            ValueError: if the source can't serve them.
            TypeError: if `blanks` is no number, pair, mapping or None.
        """
        self._blanks = blanks
        self.drawing = self._drawing(blanks)

    def _drawing(self, blanks: Blanks) -> tuple[Any, ...]:
        cdf = blanks_cdf(blanks, self.source.max_blanks)
        if isinstance(self.source, BankSource):
            bank = self.source.bank
        else:
            bank = (*(np.empty((0, self.geometry.num_cells), np.int8),) * 2, np.empty(0, np.int64))
        return bank, cdf, self._augment, self._group

    def seed(self, index: int, rng: np.random.Generator) -> None:
        """Let `rng` decide all puzzles of board `index` from now on."""
        self.streams[index] = new_stream(rng)
        if not self.draws_compiled:
            self._generators[index] = rng

    def seed_many(self, seeds: Iterable[int | None]) -> None:
        """Seed board i with seeds[i]; None leaves it as it is."""
        for index, seed in enumerate(seeds):
            if seed is not None:
                self.seed(index, seeding.np_random(seed)[0])

    def begin(self, reset: ResetOptions, phase: int = episodes.RUNNING) -> None:
        """Begin an episode on the chosen boards, on the given puzzles or on drawn ones."""
        blanks = self._blanks if reset.blanks == "as set" else reset.blanks
        drawing = self.drawing if reset.blanks == "as set" else self._drawing(blanks)
        if reset.puzzles is None and self.draws_compiled:
            drawn = (self.streams, drawing, self._scratch)
            starts.draw_boards(self.state, 0, reset.chosen, phase, self.sizes, self.tables, drawn)
            return
        augment = self._augment and reset.puzzles is None
        puzzles = reset.puzzles
        if puzzles is None:
            puzzles = self._sample(np.flatnonzero(reset.chosen).tolist(), blanks)
        flat = np.array(puzzles, np.int8, order="C")  # a copy may be written to, as numba likes it
        flat = flat.reshape(len(flat), -1)
        batch = (self.state, self.streams, reset.chosen, phase, self.sizes, self.tables)
        starts.load_boards(*batch, augment, self._group, flat, self._scratch)

    def renew(self, chosen: NDArray[np.bool_], phase: int) -> None:
        """Begin an episode on drawn puzzles on the chosen boards."""
        self.begin(ResetOptions(chosen, None, "as set"), phase)

    def _sample(self, chosen: list[int], blanks: Blanks) -> NDArray[np.int8]:
        """Ask the source for a puzzle for each chosen board, with that board's own generator."""
        puzzles = np.zeros(self.boards.shape, np.int8)
        for index in chosen:
            sampled, _ = self.source.sample(1, blanks, self._generators[index])
            drawn = board.as_boards(sampled, self.geometry)
            if len(drawn) != 1 or board.conflicts(drawn, self.geometry).any():
                raise ValueError(
                    f"{self.source!r}: sample(1, ...) must return one board without conflicts, "
                    f"int8 [1, N, N]; it returned {len(drawn)}:\n{board.to_text(drawn[0])}"
                )
            puzzles[index] = drawn[0]
        return puzzles

    def play(self, actions: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        """Play `actions [B]` on the chosen boards, which must be running."""
        steps.step_chosen(self.state, actions, chosen, self.sizes, self.tables, self.rules)

    def refusal(self, index: int, action: int) -> Exception:
        """Say why `steps.first_refused` found that board `index` can't be stepped."""
        phase = self.counts[index, episodes.PHASE]
        if phase == episodes.UNUSED:
            return ResetNeeded("call reset() before step()")
        if phase == episodes.RUNNING:
            return InvalidAction(
                f"board {index}: action {action} is none of this board: use 0 to "
                f"{self.num_actions - 1}"
            )
        return ResetNeeded(
            f"board {index}: the episode is over; with autoreset_mode=Disabled call "
            'reset(options={"reset_mask": terminations | truncations})'
        )

    def parts(self, number: int) -> list[steps.Part]:
        """Return at most so many parts of about the same number of boards, for `steps`."""
        count = len(self.rows)
        number = min(number, count)
        ends = [count * i // number for i in range(number + 1)]
        return [steps.new_part(*span, self._named_sizes) for span in pairwise(ends)]

    @property
    def running(self) -> NDArray[np.bool_]:
        """Which boards' episodes go on: bool `[B]`."""
        is_running: NDArray[np.bool_] = self.counts[:, episodes.PHASE] == episodes.RUNNING
        return is_running

    def masks(self) -> NDArray[np.int8]:
        """Return the action masks: int8 `[B, A]`."""
        masks = np.empty((len(self.streams), self.num_actions), np.int8)
        outcomes.write_masks(self.state, self.sizes, self._rules.any_digit, masks)
        return masks

    def show(
        self,
        chosen: NDArray[np.bool_],
        observations: NDArray[np.int8],
        masks: NDArray[np.int8],
        arrays: outcomes.OutcomeArrays,
    ) -> None:
        """Write what the chosen boards are like after a reset; leave the others' output."""
        any_digit = self._rules.any_digit
        outcomes.show_boards(self.state, chosen, self.sizes, any_digit, observations, masks, arrays)

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
        """Go back to a state.

        Raises:
            ValueError: if it comes from another number of boards, other boards or other options.
        """
        if state.rows.shape != self.rows.shape:
            raise ValueError(
                f"the state is of boards {list(state.rows.shape)}, this environment's are "
                f"{list(self.rows.shape)}: use one with the same number of boards, board, "
                "`actions` and `erase`"
            )
        self.rows[:], self.candidates[:] = state.rows, state.candidates
        self.counts[:], self.streams[:] = state.counts, state.streams
        for index, saved in enumerate(state.generators):
            generator = self._generators.setdefault(index, np.random.default_rng(0))
            generator.bit_generator.state = saved
