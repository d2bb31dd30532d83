"""The solution check: read a grid off beliefs, the surest placement first.

Paper: Khan et al., section 5.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from numba import njit


@njit(cache=True)
def read_grid(beliefs, units, cell_units, peers, grid):
    """Fill a grid greedily; return True if it satisfies every unit.

    The relative probability of a placement is its probability divided by the sum of the
    probabilities of its digit over a constraint; of a cell's constraints the one counts in which
    it is highest. The placement with the highest goes in, the digit leaves all cells that share a
    constraint with it, and the probability that such a cell loses is divided equally among the
    digits it has left. A cell with no digit left ends the check.

    Args:
        beliefs: float64 `[C, N]`, rows sum to 1; spent as work space.
        units: int32 `[U, N]`.
        cell_units: int32 `[C, K]`, padded with U.
        peers: int32 `[C, P]`, padded with the cell itself.
        grid: int8 `[C]`, overwritten.

    Returns:
        Whether the grid was filled; it is then valid, since peers never share a digit.
    """
    size = units.shape[1]
    grid[:] = 0
    for _ in range(len(grid)):
        cell, digit = _surest_placement(beliefs, units, grid)
        if cell < 0:
            return False
        grid[cell] = digit + 1
        for k in range(peers.shape[1]):
            peer = peers[cell, k]
            if grid[peer] == 0 and beliefs[peer, digit] > 0:
                if not _take_away(beliefs, peer, digit, size):
                    return False
    return True


@njit(cache=True)
def _surest_placement(beliefs, units, grid):
    """Return the blank cell and the digit of highest relative probability, or (-1, -1)."""
    best, best_cell, best_digit = 0.0, -1, -1
    for unit in range(len(units)):
        for digit in range(units.shape[1]):
            total, highest, where = 0.0, 0.0, -1
            for cell in units[unit]:
                if grid[cell] == 0:
                    total += beliefs[cell, digit]
                    if beliefs[cell, digit] > highest:
                        highest, where = beliefs[cell, digit], cell
            if where >= 0 and highest > best * total:
                best, best_cell, best_digit = highest / total, where, digit
    return best_cell, best_digit


@njit(cache=True)
def _take_away(beliefs, cell, digit, size):
    """Move the probability of `digit` to the cell's other digits; return False if it has none."""
    left = 0
    for other in range(size):
        left += other != digit and beliefs[cell, other] > 0
    if left == 0:
        return False
    share = beliefs[cell, digit] / left
    beliefs[cell, digit] = 0.0
    for other in range(size):
        if beliefs[cell, other] > 0:
            beliefs[cell, other] += share
    return True
