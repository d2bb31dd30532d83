"""Record a policy's games: part by part, then as a data set of Minari, which may be made longer.

A part is a small file of seeds and actions; a run that was stopped plays the missing parts. The
data set is written from the parts by replaying them, beside its place, and renamed when whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.policies import load_policy, weights_sha256
from sudoku_gym.storage.atomic import atomic_write, sync, write_json
from sudoku_gym.storage.lock import locked
from sudoku_gym.storage.reading import error_context, read_arrays, read_json, sha256_of
from sudoku_gym.trajectories.games import ActionLog, RecordedGames, Trajectory, play, replay

PART_GAMES = 256
"""Games that are played side by side, and kept in one file."""

_SETTINGS, _DRAFT = "games.json", ".data.draft"
_DATA, _GAMES = "data", "games"  # Minari looks for the first
_ID = re.compile(r"[-\w]+-v\d+")


def record(
    games: RecordedGames,
    episodes: int,
    folder: Path,
    *,
    trust: bool = False,
    on_progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Record games into a folder, or go on with those that are there; return what is there.

    `minari.load_dataset(folder.name)` finds it if `MINARI_DATASETS_PATH` is the folder above, and
    `minari.MinariDataset(folder / "data")` wherever it is. Observations, actions, rewards and
    endings are those of the environment that the data set names; the masks, int8 `[T + 1, A]`, are
    `infos["action_mask"]`; each episode has its `seed`, its `split` and whether it was `solved`.

    Args:
        games: which games.
        episodes: how many, from the first on. They are played in parts of `PART_GAMES`; a part that
            grows is played anew, and gets other games where the policy draws for all of it.
        folder: its name is the id of the data set, and so ends in `-v` and a number.
        trust: let the folder of a checkpoint name any class, see `load_policy`.
        on_progress: called with the share that is done, 0 to 1.

    Returns:
        The data set's `total_episodes`, `total_steps` and share `solved`.

    Raises:
        ValueError: if the name of the folder is no id, it holds other things, more or other games,
            it is in use, or a file in it is damaged.
        OSError: if it can't be written; what was played is kept.
        ModuleNotFoundError: if minari is not installed.
    """
    import minari  # noqa: F401 - before hours of play

    if not _ID.fullmatch(folder.name):
        raise ValueError(f"{folder}: the name must end in -v and a number, as in 9x9-singles-v0")
    if episodes < 1:
        raise ValueError(f"episodes={episodes}: record 1 or more")
    policy = load_policy(games.policy, trust=trust)
    games.boards(1).close()  # what is wrong is told before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", f"{folder} is being recorded into"):
        _check_settings(games, folder)
        found = _read_summary(folder)
        if found.get("total_episodes", 0) > episodes:
            raise ValueError(
                f"{folder} holds {found['total_episodes']:,} games: ask for as many or more, or "
                "give another folder"
            )
        starts = range(0, episodes, PART_GAMES)
        for number, start in enumerate(starts):
            seeds = _seeds_of(games, number)[: episodes - start]
            path = _part_path(folder, number)
            if not path.exists() or len(_read_part(path, games, number).seeds) < len(seeds):
                rng = np.random.default_rng(np.random.SeedSequence(games.seed, spawn_key=(number,)))
                _write_part(path, play(games, policy, seeds, rng))
            on_progress((number + 1) / len(starts) * 0.9)
        if found.get("total_episodes", 0) != episodes:
            found = _write_data(games, episodes, folder)
        on_progress(1.0)
    return found


def _check_settings(games: RecordedGames, folder: Path) -> None:
    """Write down which games are recorded, or see that they are the same as before."""
    settings = asdict(games) | {
        "package": f"sudoku-gym {version('sudoku-gym')}",
        "weights": weights_sha256(games.policy),
        "puzzles_checksum": sha256_of(Path(games.puzzles)) if Path(games.puzzles).is_file() else "",
    }
    path = folder / _SETTINGS
    if not path.exists():
        others = [each.name for each in folder.iterdir() if each.name != ".lock"]
        if others:
            raise ValueError(f"{folder} holds {others[0]}: give a new folder")
        write_json(path, settings)
        return
    with error_context(path):
        before = dict(read_json(path))
    for key in settings:
        if before.get(key) != settings[key]:
            raise ValueError(
                f"{folder} holds games with {key}={before.get(key)!r}, not {settings[key]!r}: give "
                "another folder"
            )


def _part_path(folder: Path, number: int) -> Path:
    return folder / _GAMES / f"{number:06}.npz"


def _seeds_of(games: RecordedGames, number: int) -> NDArray[np.int64]:
    """Return the seeds of all games of a part."""
    return games.seed + PART_GAMES * number + np.arange(PART_GAMES)


def _write_part(path: Path, log: ActionLog) -> None:
    path.parent.mkdir(exist_ok=True)
    with atomic_write(path) as temporary:
        np.savez_compressed(temporary, seeds=log.seeds, lengths=log.lengths, actions=log.actions)


def _read_part(path: Path, games: RecordedGames, number: int) -> ActionLog:
    arrays = read_arrays(path)
    with error_context(path):
        log = ActionLog(arrays["seeds"], arrays["lengths"], arrays["actions"])
        if not np.array_equal(log.seeds, _seeds_of(games, number)[: len(log.seeds)]):
            raise ValueError("its seeds are not those of this part")
        if log.lengths.sum() != len(log.actions):
            raise ValueError(f"its lengths do not add up to {len(log.actions)} actions")
        return log


def _read_summary(folder: Path) -> dict[str, Any]:
    """Return what a data set says of itself; nothing where there is none."""
    path = folder / _DATA / "metadata.json"
    if not path.exists():
        return {}
    with error_context(path):
        metadata = read_json(path)
        return {key: metadata[key] for key in ("total_episodes", "total_steps", "solved")}


def _write_data(games: RecordedGames, episodes: int, folder: Path) -> dict[str, Any]:
    """Write the data set from the parts, beside its place, then put it there."""
    from minari import __version__ as minari_version
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    draft = folder.resolve() / _DRAFT  # Minari 0.5.4 loses its way below a relative path
    shutil.rmtree(draft, ignore_errors=True)
    storage = MinariStorage.new(draft, env_spec=games.env_spec(), data_format="hdf5")
    solved = 0
    for number, game in enumerate(_trajectories(games, episodes, folder)):
        buffer = EpisodeBuffer(
            seed=game.seed,
            observations=game.observations,
            actions=game.actions,
            rewards=game.rewards,
            terminations=game.terminations,
            truncations=game.truncations,
            infos={"action_mask": game.action_masks},
        )
        storage.update_episodes([buffer])
        about = {"split": games.split, "solved": game.is_solved}
        storage.update_episode_metadata([about], [number])
        solved += game.is_solved
    storage.update_metadata(
        {
            "dataset_id": folder.name,
            "minari_version": minari_version,
            "algorithm_name": games.policy,
            "description": f"Games of {games.policy} on {games.puzzles}, {games.split}",
            "requirements": [f"sudoku-gym=={version('sudoku-gym')}"],
            "games": asdict(games),
            "solved": solved / episodes,
        }
    )
    for written in (*draft.iterdir(), draft):
        sync(written)
    shutil.rmtree(folder / _DATA, ignore_errors=True)
    draft.rename(folder / _DATA)
    return _read_summary(folder)


def _trajectories(games: RecordedGames, episodes: int, folder: Path) -> Iterator[Trajectory]:
    """Replay the first games of all parts."""
    for number, start in enumerate(range(0, episodes, PART_GAMES)):
        path = _part_path(folder, number)
        log = _read_part(path, games, number)
        with error_context(path):
            yield from replay(games, log.games(0, episodes - start))
