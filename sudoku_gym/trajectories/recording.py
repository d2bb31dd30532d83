"""Record a policy's games: part by part, then as a data set of Minari.

A run that was stopped plays the missing parts. The data set is written from all of them, beside its
place, and renamed when whole.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.endings import RewardName
from sudoku_gym.policies import Policy, load_policy, weights_sha256
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.registration import ANY_BOARD, ENVIRONMENTS
from sudoku_gym.storage.atomic import atomic_write, locked, sync, write_json
from sudoku_gym.storage.reading import error_context, read_arrays, read_json, sha256_of

PART_GAMES = 256
"""Games that are played side by side, and kept in one file."""

_DATA = "data"  # Minari looks for it
_MOVES = ("actions", "rewards", "terminations", "truncations")


@dataclass(frozen=True)
class RecordedGames:
    """Which games: with the policy they say everything that is in the data set."""

    policy: str
    """Name of the policy, as `load_policy` takes it."""
    puzzles: str = "9x9"
    """The environment's `source`: a bank or a file of puzzles."""
    split: str = "train"
    """Part of the bank; puzzles of two parts share no orbit."""
    blanks: int | tuple[int, int] | None = None
    """The environment's `blanks`: a number, or the lowest and the highest; None takes puzzles as
    they are."""
    reward: RewardName = "terminal"
    """The environment's `reward`."""
    seed: int = 0
    """Game i is that of `reset(seed=seed + i)`."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**62:
            raise ValueError(f"seed={self.seed}: use a number from 0, below 2**62")

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of the environment."""
        given = {"source": self.puzzles, "split": self.split}
        return {**given, "blanks": self.blanks, "reward": self.reward}

    def env_spec(self) -> EnvSpec:
        """Return the specification with which `gym.make` makes the environment."""
        options, ids = self.options(), {bank: name for name, bank in ENVIRONMENTS.items()}
        if self.puzzles in ids:
            del options["source"]  # the id has it
        env = gym.make(ids.get(self.puzzles, ANY_BOARD), **options)
        assert env.spec is not None
        return env.spec


PlayedGames: TypeAlias = dict[str, NDArray[Any]]
"""B games side by side, T moves at most; what follows the end of a game means nothing. `lengths`,
int64 `[B]`: its moves; `solved`, bool `[B]`; `observations`, int8 `[T + 1, B, N, N]`; and `[T, B]`
each: `actions` int64, `rewards` float64, `terminations` and `truncations` bool."""


def play(
    games: RecordedGames, policy: Policy, seeds: NDArray[np.int64], rng: np.random.Generator
) -> PlayedGames:
    """Let a policy play the games of some seeds, int64 `[B]`; it draws from `rng` alone."""
    count = len(seeds)
    envs = SudokuVectorEnv(count, **games.options())
    boards, infos = envs.reset(seed=seeds.tolist())
    policy.reset(boards.copy(), envs.geometry, rng)
    observations, moves = [boards.copy()], []
    running, solved = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    lengths = np.zeros(count, np.int64)
    while running.any():
        masks = infos["action_mask"].astype(np.bool_)
        masks[~running] = False
        chosen = actions_of(policy.act(boards.copy(), masks), count)
        actions = np.where(running, chosen, 0)
        after, rewards, terminated, truncated, infos = envs.step(actions)
        boards[running] = after[running]
        observations.append(boards.copy())
        moves.append((actions, rewards.copy(), terminated.copy(), truncated.copy()))
        lengths += running
        solved |= running & infos["is_success"]
        running &= ~(terminated | truncated)
    envs.close()
    columns = zip(_MOVES, zip(*moves, strict=True), strict=True)
    played = {name: np.stack(column) for name, column in columns}
    return played | {"lengths": lengths, "observations": np.stack(observations), "solved": solved}


def record(
    games: RecordedGames,
    episodes: int,
    folder: Path,
    *,
    trust: bool = False,
    on_progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Record games into a folder, or go on where a run was stopped; return what is there.

    `minari.load_dataset(folder.name)` finds it if `MINARI_DATASETS_PATH` is the folder above, and
    `minari.MinariDataset(folder / "data")` wherever it is. Observations, actions, rewards and
    endings are those of the environment that the data set names; the masks, int8 `[T + 1, A]`, are
    `infos["action_mask"]`; each episode has its `seed`, its `split` and whether it was `solved`.

    Args:
        games: which games.
        episodes: how many, from the first on, played in parts of `PART_GAMES`.
        folder: its name is the id of the data set, and so ends in `-v` and a number.
        trust: let the folder of a checkpoint name any class, see `load_policy`.
        on_progress: called with the share that is done, 0 to 1.

    Returns:
        The data set's `total_episodes`, `total_steps` and share `solved`.

    Raises:
        ValueError: if the name of the folder is no id, it holds other things or other games, it is
            in use, or a file in it is damaged.
        OSError: if it can't be written; what was played is kept.
        ModuleNotFoundError: if minari is not installed.
    """
    import minari  # noqa: F401 - before hours of play

    if not re.fullmatch(r"[-\w]+-v\d+", folder.name):
        raise ValueError(f"{folder}: the name must end in -v and a number, as in 9x9-singles-v0")
    if episodes < 1:
        raise ValueError(f"episodes={episodes}: record 1 or more")
    policy = load_policy(games.policy, trust=trust)
    # What is wrong with the options is told before anything is written.
    geometry = SudokuVectorEnv(1, **games.options()).geometry
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", f"{folder} is being recorded into"):
        _check_settings(games, episodes, folder)
        starts = range(0, episodes, PART_GAMES)
        paths = [folder / "games" / f"{number:06}.npz" for number in range(len(starts))]
        for number, (start, path) in enumerate(zip(starts, paths, strict=True)):
            count = min(PART_GAMES, episodes - start)
            if not path.exists():
                rng = np.random.default_rng(np.random.SeedSequence(games.seed, spawn_key=(number,)))
                played = play(games, policy, games.seed + start + np.arange(count), rng)
                path.parent.mkdir(exist_ok=True)
                with atomic_write(path) as temporary:
                    np.savez_compressed(temporary, **played)  # type: ignore[arg-type]
            on_progress((number + 1) / len(starts) * 0.9)
        if not (folder / _DATA).exists():
            _write_data(games, episodes, folder, paths, geometry)
        on_progress(1.0)
    path = folder / _DATA / "metadata.json"
    with error_context(path):
        metadata = read_json(path)
        return {key: metadata[key] for key in ("total_episodes", "total_steps", "solved")}


def _check_settings(games: RecordedGames, episodes: int, folder: Path) -> None:
    """Write down which games are recorded, or see that they are the same as before."""
    settings = asdict(games) | {
        "episodes": episodes,
        "package": f"sudoku-gym {version('sudoku-gym')}",
        "weights": weights_sha256(games.policy),
        "puzzles_checksum": sha256_of(Path(games.puzzles)) if Path(games.puzzles).is_file() else "",
    }
    path = folder / "games.json"
    if not path.exists():
        others = [each.name for each in folder.iterdir() if each.name != ".lock"]
        if others:
            raise ValueError(f"{folder} holds {others[0]}: give a new folder")
        write_json(path, settings)
        return
    with error_context(path):
        before = dict(read_json(path))
    for key, value in json.loads(json.dumps(settings)).items():
        if before.get(key) != value:
            raise ValueError(
                f"{folder} holds games with {key}={before.get(key)!r}, not {value!r}: give another "
                "folder"
            )


def _write_data(
    games: RecordedGames, episodes: int, folder: Path, paths: list[Path], geometry: Geometry
) -> None:
    """Write the data set from the parts, beside its place, then put it there."""
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    draft = folder.resolve() / ".data.draft"  # Minari 0.5.4 loses its way below a relative path
    shutil.rmtree(draft, ignore_errors=True)
    storage = MinariStorage.new(draft, env_spec=games.env_spec(), data_format="hdf5")
    solved = 0
    for path in paths:
        part, start = read_arrays(path), storage.total_episodes
        with error_context(path):
            outcomes = part["solved"][: episodes - start].tolist()
        numbers = range(start, start + len(outcomes))
        storage.update_episodes(
            EpisodeBuffer(seed=games.seed + number, **_game(part, number - start, geometry))
            for number in numbers
        )
        about = [{"split": games.split, "solved": each} for each in outcomes]
        storage.update_episode_metadata(about, numbers)
        solved += sum(outcomes)
    storage.update_metadata(
        {
            "dataset_id": folder.name,
            "minari_version": version("minari"),
            "algorithm_name": games.policy,
            "description": f"Games of {games.policy} on {games.puzzles}, {games.split}",
            "requirements": [f"sudoku-gym=={version('sudoku-gym')}"],
            "games": asdict(games),
            "solved": solved / episodes,
        }
    )
    for written in (*draft.iterdir(), draft):
        sync(written)
    draft.rename(folder / _DATA)


def _game(part: PlayedGames, i: int, geometry: Geometry) -> dict[str, Any]:
    """Return the arrays of a game as Minari names them."""
    end = part["lengths"][i]
    boards = part["observations"][: end + 1, i]
    masks = board.candidates(boards, geometry).reshape(end + 1, -1).view(np.int8)
    moves = {name: part[name][:end, i] for name in _MOVES}
    return {"observations": boards, "infos": {"action_mask": masks}, **moves}
