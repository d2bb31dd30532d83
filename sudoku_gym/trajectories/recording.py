"""Record a policy's games: part by part, then as a data set of Minari, which may be made longer.

A part is a small file of seeds and actions; a run that was stopped plays the missing parts. The
data set is written from the parts by replaying them, beside its place, and renamed when whole.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.policies import load_policy, weights_sha256
from sudoku_gym.puzzles.npz import read_arrays
from sudoku_gym.storage.atomic import atomic_write, sync, write_json
from sudoku_gym.storage.lock import locked
from sudoku_gym.storage.reading import error_context, read_json, sha256_of
from sudoku_gym.trajectories.games import (
    PART_GAMES,
    PlayedPart,
    RecordedGames,
    Trajectory,
    pieces,
    play_part,
    replay,
)

_SETTINGS = "games.json"
_DATA, _GAMES = "data", "games"  # Minari looks for the first
_DRAFT = ".data.draft"
_EPISODES, _METADATA = "main_data.hdf5", "metadata.json"  # as Minari calls them
_LONGEST_PART = 2_000_000  # bytes; games of 25x25 have 1,300,000 at most
_SPARE, _OVERHEAD = 1_000_000, 16_000  # bytes that a disk keeps; of HDF5, a game
_MOST_EPISODES = 10**9
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
        ValueError: if the name of the folder is no id, it holds other things, more or other games
            (also such as were added to the data set by other means), it is in use, or a file in it
            is damaged.
        OSError: if it can't be written; what was played is kept.
        ModuleNotFoundError: if minari is not installed.
    """
    import minari  # noqa: F401 - before hours of play

    if not _ID.fullmatch(folder.name):
        raise ValueError(f"{folder}: the name must end in -v and a number, as in 9x9-singles-v0")
    if not 1 <= episodes <= _MOST_EPISODES:
        raise ValueError(f"episodes={episodes!r:.20}: record 1 to {_MOST_EPISODES:,}")
    policy = load_policy(games.policy, trust=trust)
    games.boards(1).close()  # what is wrong is told before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", f"{folder} is being recorded into"):
        _check_settings(games, folder)
        _check_folders(folder)
        starts = range(0, episodes, PART_GAMES)
        for number, start in enumerate(starts):
            seeds = _seeds_of(games, number)[: episodes - start]
            path = _part_path(folder, number)
            if not path.exists() or len(_read_part(path, games, number).seeds) < len(seeds):
                rng = np.random.default_rng(np.random.SeedSequence(games.seed, spawn_key=(number,)))
                _write_part(path, play_part(games, policy, seeds, rng))
            on_progress((number + 1) / len(starts) * 0.9)
        found = _read_summary(folder)
        if found.get("total_episodes", 0) > episodes:
            raise ValueError(
                f"{folder} holds {found['total_episodes']:,} games: ask for as many or more, or "
                "give another folder"
            )
        if found.get("total_episodes", 0) != episodes:
            found = _write_data(games, episodes, folder)
        on_progress(1.0)
    return found


def _check_settings(games: RecordedGames, folder: Path) -> None:
    """Write down which games are recorded, or see that they are the same as before."""
    settings = asdict(games) | {
        "weights": weights_sha256(games.policy) or "",
        "puzzles_checksum": _checksum_of(Path(games.puzzles)),
    }
    path = folder / _SETTINGS
    if not path.exists():
        others = [each.name for each in folder.iterdir() if each.name != ".lock"]
        if others:
            raise ValueError(f"{folder} holds {others[0]}: give a new folder")
        write_json(path, settings)
        return
    with error_context(path):
        before = read_json(path)
        different = [key for key in settings if before.get(key, "") != settings[key]]
    if different:
        key = different[0]
        raise ValueError(
            f"{folder} holds games with {key}={before.get(key)!r}, not {settings[key]!r}: give "
            "another folder"
        )


def _checksum_of(puzzles: Path) -> str:
    """Return the SHA-256 of a file of puzzles; empty for a bank or another source."""
    return sha256_of(puzzles) if puzzles.is_file() else ""


def _part_path(folder: Path, number: int) -> Path:
    return folder / _GAMES / f"{number:06}.npz"


def _write_part(path: Path, part: PlayedPart) -> None:
    path.parent.mkdir(exist_ok=True)
    with atomic_write(path) as temporary:
        np.savez_compressed(temporary, seeds=part.seeds, lengths=part.lengths, actions=part.actions)


def _seeds_of(games: RecordedGames, number: int) -> NDArray[np.int64]:
    """Return the seeds of all games of a part."""
    return games.seed + PART_GAMES * number + np.arange(PART_GAMES)


def _read_part(path: Path, games: RecordedGames, number: int) -> PlayedPart:
    arrays = read_arrays(path, _LONGEST_PART)
    with error_context(path):
        part = PlayedPart(*(arrays[name] for name in ("seeds", "lengths", "actions")))
        if not np.array_equal(part.seeds, _seeds_of(games, number)[: len(part.seeds)]):
            raise ValueError("its seeds are not those of this part")
        return part


def _check_folders(folder: Path) -> None:
    """Raise ValueError if its folders can't be written: nothing of others is ever removed."""
    data, draft = folder / _DATA, folder / _DRAFT
    for part in (data, folder / _GAMES):
        if part.is_symlink():
            raise ValueError(f"{part} is a link: put the folder itself there")
    if draft.is_symlink():  # nothing is written through it
        draft.unlink()
    for part in (data, draft):
        for each in part.iterdir() if part.exists() else ():
            if each.name not in (_EPISODES, _METADATA) or not each.is_file():
                raise ValueError(
                    f"{part} holds {each.name}, which was not recorded: move it elsewhere"
                )


def _read_summary(folder: Path) -> dict[str, Any]:
    """Return what a data set says of itself; nothing where it has not all of its episodes."""
    import h5py

    path, episodes = (folder / _DATA / name for name in (_METADATA, _EPISODES))
    if not path.exists():
        return {}
    with error_context(path):
        metadata = read_json(path)
        found = {key: metadata[key] for key in ("total_episodes", "total_steps", "solved")}
        if found["solved"] > 1:
            raise ValueError(f"solved must be a share, not {found['solved']!r:.60}")
        if found["total_episodes"] != metadata["recorded_episodes"]:
            raise ValueError("episodes were added or removed by other means: give another folder")
    if not episodes.is_file():
        return {}
    try:
        with h5py.File(episodes) as file:
            return found if len(file) == found["total_episodes"] else {}
    except (OSError, RuntimeError):  # it is cut off, or damaged
        return {}


def _write_data(games: RecordedGames, episodes: int, folder: Path) -> dict[str, Any]:
    """Write the data set from the parts, beside its place, then put it there."""
    from minari import __version__ as minari_version
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    draft = folder.resolve() / _DRAFT  # Minari 0.5.4 loses its way below a relative path
    shutil.rmtree(draft, ignore_errors=True)
    _check_space(folder, draft)
    try:
        storage = MinariStorage.new(draft, env_spec=games.env_spec(), data_format="hdf5")
        solved = written = 0
        for path, piece in _pieces(games, episodes, folder):
            if written == episodes:
                break
            with error_context(path):
                played = list(replay(games, piece))[: episodes - written]
            _check_space(folder, draft, played)
            storage.update_episodes(
                EpisodeBuffer(
                    seed=game.seed,
                    observations=game.observations,
                    actions=game.actions,
                    rewards=game.rewards,
                    terminations=game.terminations,
                    truncations=game.truncations,
                    infos={"action_mask": game.action_masks},
                )
                for game in played
            )
            storage.update_episode_metadata(
                ({"split": games.split, "solved": game.is_solved} for game in played),
                range(written, written + len(played)),
            )
            solved += sum(game.is_solved for game in played)
            written += len(played)
        storage.update_metadata(
            {
                "dataset_id": folder.name,
                "minari_version": minari_version,
                "algorithm_name": games.policy,
                "description": f"Games of {games.policy} on {games.puzzles}, {games.split}",
                "requirements": [f"sudoku-gym=={version('sudoku-gym')}"],
                "games": asdict(games),
                "solved": solved / episodes,
                "recorded_episodes": episodes,
            }
        )
        for written_file in (draft / _EPISODES, draft / _METADATA, draft):
            sync(written_file)
        shutil.rmtree(folder / _DATA, ignore_errors=True)
        draft.rename(folder / _DATA)
        sync(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return _read_summary(folder)


def _pieces(games: RecordedGames, episodes: int, folder: Path) -> Iterator[tuple[Path, PlayedPart]]:
    """Yield the games of all parts, some at a time, with the file that they are in."""
    for number in range(-(-episodes // PART_GAMES)):
        path = _part_path(folder, number)
        for piece in pieces(games, _read_part(path, games, number)):
            yield path, piece


def _check_space(folder: Path, draft: Path, games: Sequence[Trajectory] = ()) -> None:
    """Raise an OSError if there is no room for games: a failed write of HDF5 ends the process.

    The disk may be full, a quota used up, or the file longer than the process may write.
    """
    needed = _SPARE + sum(
        _OVERHEAD + sum(each.nbytes for each in vars(game).values() if isinstance(each, np.ndarray))
        for game in games
    )
    if shutil.disk_usage(folder).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    if hasattr(os, "posix_fallocate"):
        episodes = draft / _EPISODES
        length = episodes.stat().st_size if episodes.exists() else 0
        with TemporaryFile(dir=folder) as scratch:
            try:
                os.posix_fallocate(scratch.fileno(), length, needed)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # the disk can't say
                    raise OSError(error.errno, error.strerror, str(folder)) from None
