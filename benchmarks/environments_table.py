"""The table of the environments and their actions in `docs/environments.md`, as Markdown.

python benchmarks/environments_table.py
"""

from __future__ import annotations

import gymnasium as gym

from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.registration import ENVIRONMENTS

_HEADS = ("id", "board", "units", "action space", "with `erase`")


def spaces_table() -> str:
    """Return a Markdown table, one row an id."""
    rows = [_HEADS, ("---", "---", "---:", "---", "---"), *map(_row, ENVIRONMENTS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(name: str) -> tuple[str, ...]:
    env, erasing = gym.make(name).unwrapped, gym.make(name, erase=True).unwrapped
    if not isinstance(env, SudokuEnv):
        raise TypeError(f"{name} is registered with another environment, {env}")
    geometry = env.geometry
    return (
        f"`{name}`",
        geometry.name,
        str(len(geometry.units)),
        f"`{env.action_space}`",
        f"`{erasing.action_space}`",
    )


if __name__ == "__main__":
    print(spaces_table())
