"""One million random steps: the vector environment against single ones, array for array.

Draws environments, options, autoreset modes and wrappers at random, plays each game in the native
vector environment and in `SyncVectorEnv` over single ones, and stops at the first difference in
any observation, reward, flag or info. Some actions are illegal, some resets change the level.

    python benchmarks/env_agreement.py
    python benchmarks/env_agreement.py --steps 20000 --seed 3
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import tyro
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from sudoku_gym import SudokuEnv, SudokuVectorEnv, sample_actions, wrappers
from sudoku_gym.registration import ENVIRONMENTS

COUNT = 16
OPTIONS: dict[str, Sequence[Any]] = {
    "reward": ("terminal", "dense", "sparse"),
    "actions": ("legal", "blank"),
    "erase": (False, False, True),
    "illegal_reward": (0.0, -0.5),
    "end_at_dead_end": (False, True),
    "augment": (True, False),
    "propagation": (None, None, "naked singles", "hidden singles"),
    "blanks": (None, 1, (3, 8), {"2": 0.5, "6": 0.5}),
    "max_episode_steps": (None, 9),
    "with_info": (True, True, False),
    "split": ("train", "test"),
}
WRAPPERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    name: (getattr(wrappers, name), getattr(wrappers, f"Vector{name}"))
    for name in wrappers.__all__
    if not name.startswith("Vector")
}


@dataclass(frozen=True)
class Config:
    """How much to play.

    Attributes:
        steps: board steps in all.
        steps_a_game: vector steps before the next options are drawn.
        seed: of everything.
        smoke: play next to nothing, to see that the script runs.
    """

    steps: int = 1_000_000
    steps_a_game: int = 250
    seed: int = 0
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    rng = np.random.default_rng(config.seed)
    wanted = 2_000 if config.smoke else config.steps
    done, episodes, seen = 0, 0, Counter[str]()
    start = perf_counter()
    while done < wanted:
        name, options, wrapped, mode = draw_case(rng)
        described = f"{name} {options} {wrapped or 'no wrapper'} {mode.name}"
        try:
            episodes += play(name, options, wrapped, mode, config.steps_a_game, rng)
        except AssertionError as error:
            sys.exit(f"they differ after {done:,} steps: {described}\n{error}")
        done += COUNT * config.steps_a_game
        seen.update([name, wrapped or "no wrapper", mode.name])
    print(
        f"{done:,} steps and {episodes:,} episodes are identical ({perf_counter() - start:.0f} s)"
    )
    print("games:", ", ".join(f"{key} {count}" for key, count in sorted(seen.items())))


def draw_case(rng: np.random.Generator) -> tuple[str, dict[str, Any], str, AutoresetMode]:
    name = str(rng.choice(list(ENVIRONMENTS)))
    options = {key: values[rng.integers(len(values))] for key, values in OPTIONS.items()}
    wrapped = str(rng.choice(["", *WRAPPERS]))
    if wrapped in ("CanonicalCell", "SinglesPropagation"):
        options["erase"] = False
    if options["erase"]:
        options["propagation"] = None
        options["max_episode_steps"] = 30
    return name, options, wrapped, list(AutoresetMode)[rng.integers(3)]


def play(
    name: str,
    options: dict[str, Any],
    wrapped: str,
    mode: AutoresetMode,
    steps: int,
    rng: np.random.Generator,
) -> int:
    """Play one game on both; return how many episodes ended."""
    single, vector = WRAPPERS.get(wrapped, (lambda env: env,) * 2)
    bank = ENVIRONMENTS[name]  # gym.make would take max_episode_steps for its own TimeLimit
    ours = vector(SudokuVectorEnv(COUNT, bank, autoreset_mode=mode, **options))
    theirs = SyncVectorEnv(
        [lambda: single(SudokuEnv(bank, **options))] * COUNT, autoreset_mode=mode
    )
    seed = int(rng.integers(2**60))
    require_same(ours.reset(seed=seed), theirs.reset(seed=seed), "reset")
    episodes = 0
    for step in range(steps):
        masks = ours.action_masks()
        anything = rng.integers(0, masks.shape[1], COUNT)
        actions = np.where(rng.random(COUNT) < 0.1, anything, sample_actions(masks, rng))
        result = ours.step(actions)
        require_same(result, theirs.step(actions), f"step {step}")
        over = result[2] | result[3]
        episodes += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            both = [env.reset(options={"reset_mask": over}) for env in (ours, theirs)]
            require_same(*both, f"reset after step {step}")
    ours.close()
    theirs.close()
    return episodes


def require_same(ours: Any, theirs: Any, where: str) -> None:
    """Raise an AssertionError unless both are equal in keys, types, dtypes and values."""
    if type(ours) is not type(theirs):
        raise AssertionError(f"{where}: {type(ours)} and {type(theirs)}")
    if isinstance(ours, dict):
        if ours.keys() != theirs.keys():
            raise AssertionError(f"{where}: keys {list(ours)} and {list(theirs)}")
        for key in ours:
            require_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(ours, tuple) or (isinstance(ours, np.ndarray) and ours.dtype.hasobject):
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            require_same(one, other, f"{where}[{i}]")
    elif isinstance(ours, np.ndarray):
        if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
            raise AssertionError(f"{where}:\n{ours}\nand\n{theirs}")
    elif ours != theirs:
        raise AssertionError(f"{where}: {ours!r} and {theirs!r}")


if __name__ == "__main__":
    main()
