"""The state of B boards and their puzzles: what the single and the vector environment share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.envs import episodes
from sudoku_gym.envs.settings import Propagation, ResetOptions, Settings, check_max_steps
from sudoku_gym.kernels import positions
from sudoku_gym.kernels.stream import new_stream
from sudoku_gym.puzzles.sources import BankSource, Blanks, blanks_cdf
from sudoku_gym.symmetry import group_of

Told: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class EnvState:
    """A copy of everything that decides what an environment does next.

    Attributes:
        rows: int8 `[B, W]`, see `sudoku_gym.kernels.positions`.
        candidates: uint64 `[B, K]`, see `sudoku_gym.kernels.positions`.
        counts: int64 `[B, NUM_COUNTS]`, see `sudoku_gym.envs.episodes`.
        streams: uint64 `[B, 2]`, see `sudoku_gym.kernels.stream`.
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
        rules: see `episodes.step_board`.
        board_rules: see `episodes.step_boards`.
        drawing: see `episodes.step_boards`.
        rows: int8 `[B, W]`.
        candidates: uint64 `[B, K]`.
        counts: int64 `[B, NUM_COUNTS]`.
        state: the last three together, as the kernels take them.
        streams: uint64 `[B, 2]`.
        observation_space: of one board.
        action_space: of one board.
    """

    def __init__(self, count: int, settings: Settings) -> None:
        self._settings = settings
        self.source = settings.resolve_source()
        self.geometry = geometry = self.source.geometry
        self.rules = settings.rules(geometry.size)
        size, sizes = geometry.size, positions.sizes_of(geometry, settings.erase)
        self.num_actions = sizes[1]
        self.board_rules = (sizes, positions.tables_of(geometry))
        counted = settings.erase or settings.actions == "blank"
        self.rows = np.zeros((count, positions.row_width(geometry, counted)), np.int8)
        self.candidates = np.zeros((count, positions.num_words(geometry)), np.uint64)
        self.counts = np.full((count, episodes.NUM_COUNTS), episodes.UNUSED, np.int64)
        self.state = (self.rows, self.candidates, self.counts)
        self.streams = np.zeros((count, 2), np.uint64)
        self.observation_space = spaces.Box(0, size, (size, size), np.int8)
        self.action_space: spaces.Discrete[np.int64] = spaces.Discrete(self.num_actions)
        self._generators: dict[int, np.random.Generator] = {}
        self._augment = bool(settings.augment)
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
        return self.rules[-1]

    @max_steps.setter
    def max_steps(self, limit: int) -> None:
        check_max_steps(limit)
        self.rules = (*self.rules[:-1], int(limit))

    def set_propagation(self, propagation: Propagation) -> None:
        """Fill in other singles for the agent, or none, from the next placement on.

        Raises:
            ValueError: if there is no such kind, or digits may be erased.
        """
        self._settings = replace(self._settings, propagation=propagation)
        self.rules = (*self._settings.rules(self.geometry.size)[:-1], self.max_steps)

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
        return bank, cdf, self._augment, group_of(self.geometry)

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

    def begin(self, asked: ResetOptions, phase: int = episodes.RUNNING) -> None:
        """Begin an episode on the chosen boards, on the given puzzles or on drawn ones."""
        state = (self.state, self.streams, asked.chosen, phase, self.board_rules)
        blanks = self._blanks if asked.blanks == "as set" else asked.blanks
        drawing = self.drawing if asked.blanks == "as set" else self._drawing(blanks)
        if asked.puzzles is None and self.draws_compiled:
            episodes.draw_boards(*state, drawing)
            return
        augment = self._augment and asked.puzzles is None
        puzzles = asked.puzzles
        if puzzles is None:
            puzzles = self._sample(np.flatnonzero(asked.chosen).tolist(), blanks)
        flat = np.array(puzzles, np.int8, order="C")  # a copy may be written to, as numba likes it
        episodes.load_boards(*state, augment, drawing[-1], flat.reshape(len(self.rows), -1))

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
        episodes.step_chosen(self.state, actions, chosen, self.board_rules, self.rules)

    def refusal(self, index: int, action: int) -> Exception:
        """Say why `episodes.first_refused` found that board `index` can't be stepped."""
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

    @property
    def running(self) -> NDArray[np.bool_]:
        """Which boards' episodes go on: bool `[B]`."""
        is_running: NDArray[np.bool_] = self.counts[:, episodes.PHASE] == episodes.RUNNING
        return is_running

    def masks(self) -> NDArray[np.int8]:
        """Return the action masks: int8 `[B, A]`."""
        masks = np.empty((len(self.rows), self.num_actions), np.int8)
        episodes.write_masks(self.state, self.board_rules, self.rules[1], masks)
        return masks

    def show(
        self,
        chosen: NDArray[np.bool_],
        observations: NDArray[np.int8],
        masks: NDArray[np.int8],
        told: Told,
    ) -> None:
        """Write what the chosen boards show after a reset; leave the others' output as it is."""
        episodes.show_boards(
            self.state, chosen, self.board_rules, self.rules[1], observations, masks, told
        )

    def empty_told(self) -> Told:
        """Return zeroed arrays for what the kernels tell of a step."""
        count = len(self.rows)
        return (
            np.zeros((episodes.NUM_FLAGS, count), np.bool_),
            np.zeros((episodes.NUM_INTEGERS, count), np.int64),
            np.zeros((episodes.NUM_FLOATS, count), np.float64),
        )

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
