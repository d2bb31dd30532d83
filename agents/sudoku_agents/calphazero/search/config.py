"""The settings of a tree search, and what its kernels know of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from sudoku_gym.board.actions import Actions
from sudoku_gym.compiler.intrinsics import borrowed
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.endings import SPARSE, TERMINAL, GameRules
from sudoku_gym.kernels.layout import BoardSizes, UnitTables, sizes_of, unit_tables
from sudoku_gym.storage.checks import check_counts, check_not_negative

# mypy: disable-error-code="no-untyped-def"

Rule: TypeAlias = Literal["puct", "gumbel"]
RULES: tuple[Rule, ...] = get_args(Rule)
GUMBEL = RULES.index("gumbel")
Branching: TypeAlias = Literal["placements", "constraint"]


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search."""

    simulations: int = 200
    """simulations a move; those kept from the search before count"""
    root: Rule = "puct"
    """how a root chooses: `puct`, by upper confidence bounds; `gumbel`, by sequential halving among
    moves drawn from the policy, which improves on it with as few as 8 simulations"""
    c_puct: float = 1.0
    """weight of the prior in equation 1 (puct)"""
    unvisited_bonus: float = 0.5
    """added to the score of actions that were not tried yet, section 2.1 (puct)"""
    considered: int = 16
    """how many moves a root considers at most (gumbel)"""
    c_visit: float = 50.0
    """sigma(q) = (c_visit + most visits) * c_scale * q (gumbel)"""
    c_scale: float = 0.1
    """see `c_visit` (gumbel)"""
    proofs: bool = True
    """never try what is proven lost again, and end a search whose root is proven"""
    rollouts: bool = False
    """a board that the network evaluates is won if the likeliest digits of all its blanks solve it
    (with `proofs`)"""
    branching: Branching = "placements"
    """the moves of a node: all `placements`, or those of one open `constraint`, with the fewest
    left but two at least, of which the network holds least likely"""
    end_at_dead_end: bool = True
    """a blank cell without candidates ends the game at once, not only when no move is left"""
    reward: Literal["terminal", "sparse"] = "terminal"
    """what a finished game is worth: `terminal`, its constraint fraction (equation 4); `sparse`,
    1 if it is solved, else 0"""
    actions: Actions = "legal"
    """what may be placed in a blank cell: `legal`, its candidates; `blank`, any digit"""

    def __post_init__(self) -> None:
        check_counts(self, "simulations", "considered")
        if self.simulations >= 2**16:
            raise ValueError(f"simulations must be below {2**16}, not {self.simulations}")
        check_not_negative(self, "c_puct", "c_visit", "c_scale")


class SelectionParams(NamedTuple):
    """Numbers of `SearchConfig` for selection and backup."""

    rule: int  # index in `RULES`
    simulations: int
    c_puct: float
    unvisited_bonus: float
    considered: int
    c_visit: float
    c_scale: float
    one_constraint: bool  # a node has the moves of one constraint


class SearchParams(NamedTuple):
    """A geometry and a `SearchConfig` for the kernels, as plain tuples."""

    sizes: BoardSizes
    tables: UnitTables
    rules: GameRules
    selection: SelectionParams


def search_params(geometry: Geometry, config: SearchConfig) -> tuple[Any, ...]:
    """Return the `SearchParams` of a search as plain tuples, see `sudoku_gym.kernels.layout`."""
    rules = GameRules(
        reward=TERMINAL if config.reward == "terminal" else SPARSE,
        any_digit=config.actions == "blank",
        end_at_dead_end=config.end_at_dead_end,
    )
    selection = SelectionParams(
        rule=RULES.index(config.root),
        simulations=config.simulations,
        c_puct=config.c_puct,
        unvisited_bonus=config.unvisited_bonus,
        considered=config.considered,
        c_visit=config.c_visit,
        c_scale=config.c_scale,
        one_constraint=config.branching == "constraint",
    )
    return tuple(map(tuple, (sizes_of(geometry), unit_tables(geometry), rules, selection)))


@njit(cache=True, inline="always")
def borrowed_params(params):
    """Return plain tuples as `SearchParams`, without counts of references, see `borrowed`."""
    sizes, tables, rules, selection = params
    held = UnitTables(*borrowed(tables))  # type: ignore[call-arg]
    return SearchParams(BoardSizes(*sizes), held, GameRules(*rules), SelectionParams(*selection))
