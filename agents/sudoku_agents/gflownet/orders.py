"""The states of a GFlowNet and their successors, in three orders of filling blanks.

`any`: any legal placement. k placements can be made in k! orders, so the graph is no tree; the
backward policy is uniform, P_B = 1 / j after j placements. `rows`: the first blank cell;
`constrained`: the first blank cell with the fewest candidates; both trees, P_B = 1. A trajectory
ends at a full board, or at the first dead end: a blank cell without candidates. Training, exact
sums and `agent.GFlowNetPolicy` all fill the blanks in the order that the network was trained in.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.board.checks import candidate_masks
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

# mypy: disable-error-code="no-untyped-def"

Order: TypeAlias = Literal["any", "rows", "constrained"]
ORDERS: tuple[Order, ...] = get_args(Order)
_ANY, _CONSTRAINED = ORDERS.index("any"), ORDERS.index("constrained")


class ForwardMasks(NamedTuple):
    """The placements that B boards allow; `allowed` has none where a trajectory ends."""

    candidates: NDArray[np.bool_]  # bool `[B, N**3]`, the legal placements
    allowed: NDArray[np.bool_]  # bool `[B, N**3]`, those that the order allows next

    @property
    def num_allowed(self) -> NDArray[np.int64]:
        """Number of placements that each board allows, int64 `[B]`."""
        return self.allowed.sum(1)

    def take(self, rows: NDArray[np.integer] | slice) -> ForwardMasks:
        """Return the masks of some of the boards."""
        return ForwardMasks(self.candidates[rows], self.allowed[rows])


def forward_masks(boards: NDArray[np.int8], geometry: Geometry, order: Order) -> ForwardMasks:
    """Return the masks of boards int8 `[B, N, N]`."""
    flat = np.ascontiguousarray(boards).reshape(len(boards), geometry.num_cells)
    candidates = np.zeros((len(flat), geometry.num_placements), np.bool_)
    allowed = np.zeros_like(candidates)
    _choices(flat, geometry.units, geometry.cell_units, ORDERS.index(order), candidates, allowed)
    return ForwardMasks(candidates, allowed)


@njit(cache=True)
def _choices(boards, units, cell_units, order, candidates, allowed):
    """Write the candidates of all boards, and which of them `ORDERS[order]` allows."""
    size = units.shape[1]
    masks = candidate_masks(boards, units, cell_units)
    for b in range(len(boards)):
        fewest, chosen = size + 1, -1
        for cell in range(boards.shape[1]):
            if boards[b, cell] == 0:
                count = 0
                for digit in range(size):
                    is_candidate = (masks[b, cell] >> np.uint32(digit)) & np.uint32(1) != 0
                    candidates[b, cell * size + digit] = is_candidate
                    count += is_candidate
                if count == 0:
                    fewest = 0
                elif chosen < 0 or (order == _CONSTRAINED and count < fewest):
                    chosen = cell
                fewest = min(fewest, count)
        if fewest > 0 and chosen >= 0:
            first, last = chosen * size, (chosen + 1) * size
            if order == _ANY:
                first, last = 0, candidates.shape[1]
            allowed[b, first:last] = candidates[b, first:last]
