"""Minari loads what was recorded, and the environment plays it again, to the same boards."""

import errno
import shutil
from dataclasses import replace

import numpy as np
import pytest

from sudoku_gym import board, cli, puzzles
from sudoku_gym.trajectories import RecordedGames, record, recording

minari = pytest.importorskip("minari", reason="the extra minari is not installed")

SHORT = RecordedGames("masked-random", "4x4", blanks=(4, 6), seed=7)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(recording, "PART_GAMES", 4)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "4x4-random-v0"


def loaded(folder, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder.parent))
    return minari.load_dataset(folder.name)


def contents(folder, monkeypatch):
    """Every number of a data set."""
    return [
        {
            name: np.asarray(value).tolist()
            for name, value in {**vars(episode), **episode.infos}.items()
            if name != "infos"
        }
        for episode in loaded(folder, monkeypatch).iterate_episodes()
    ]


def test_every_episode_plays_again_in_the_environment_that_minari_recovers(folder, monkeypatch):
    games = RecordedGames("masked-random", "4x4", "test", (5, 9), "dense", seed=3)
    found = record(games, 10, folder)
    data = loaded(folder, monkeypatch)
    assert (data.total_episodes, data.total_steps) == (10, found["total_steps"])
    env = data.recover_environment()
    ends = {"terminated": 0, "solved": 0}
    metadata = list(data.storage.get_episode_metadata(range(10)))
    for episode, about in zip(data.iterate_episodes(), metadata, strict=True):
        board, info = env.reset(seed=about["seed"])
        assert about["seed"] == 3 + episode.id and about["split"] == "test"
        assert 5 <= (board == 0).sum() <= 9
        assert (episode.observations[0] == board).all()
        assert (episode.infos["action_mask"][0] == info["action_mask"]).all()
        for t, action in enumerate(episode.actions):
            board, reward, terminated, truncated, info = env.step(action)
            assert (episode.observations[t + 1] == board).all()
            assert (episode.infos["action_mask"][t + 1] == info["action_mask"]).all()
            assert reward == episode.rewards[t]
            assert (terminated, truncated) == (episode.terminations[t], episode.truncations[t])
        assert (terminated or truncated) and bool(about["solved"]) == info["is_success"]
        ends["terminated"] += terminated
        ends["solved"] += info["is_success"]
    assert 0 < ends["solved"] < 10 and found["solved"] == ends["solved"] / 10


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_what_was_stopped_goes_on(folder, tmp_path, monkeypatch, stop):
    calls = []

    play = recording.play

    def stopping(*arguments):
        calls.append(arguments)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(recording, "play", stopping)
    with pytest.raises(KeyboardInterrupt):
        record(SHORT, 10, folder)
    assert not (folder / "data").exists()
    record(SHORT, 10, folder)
    assert len(calls) == 3 + 1  # no part was played twice
    record(SHORT, 10, tmp_path / "at-once-v0")
    assert contents(folder, monkeypatch) == contents(tmp_path / "at-once-v0", monkeypatch)


def test_a_full_disk_leaves_the_games_and_no_half_data_set(folder, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    from minari.dataset._storages.hdf5_storage import HDF5Storage

    with monkeypatch.context() as patched:
        patched.setattr(HDF5Storage, "update_episode_metadata", full)
        with pytest.raises(OSError, match="No space left"):
            record(SHORT, 6, folder)
    assert not (folder / "data").exists()
    monkeypatch.setattr(recording, "play", None)  # nothing is played again
    assert record(SHORT, 6, folder)["total_episodes"] == 6


def test_other_games_are_refused(folder, tmp_path):
    record(SHORT, 2, folder)
    other = RecordedGames("masked-random", "4x4", blanks=(4, 6), seed=8)
    with pytest.raises(ValueError, match=r"holds games with seed=7, not 8: give another"):
        record(other, 2, folder)
    with pytest.raises(ValueError, match=r"holds games with episodes=2, not 3: give another"):
        record(SHORT, 3, folder)
    with pytest.raises(ValueError, match="must end in -v and a number"):
        record(SHORT, 2, tmp_path / "games")
    (tmp_path / "mine-v0").mkdir()
    (tmp_path / "mine-v0" / "thesis.txt").touch()
    with pytest.raises(ValueError, match=r"holds thesis\.txt: give a new folder"):
        record(SHORT, 2, tmp_path / "mine-v0")


def test_the_command(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder.parent)
    arguments = ["record", "naked-singles", "--puzzles", "4x4", "--episodes", "3"]
    assert cli.main([*arguments, "--blanks", "6", "--out", f"data/{folder.name}"]) == 0
    out = capsys.readouterr().out
    assert "3 games, 18 moves, 100.0 % solved" in out and folder.name in out
    assert minari.MinariDataset(f"data/{folder.name}/data").total_steps == 18


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"blanks": 99}, "blanks=99"),
        ({"puzzles": "nofile.txt"}, r"nofile\.txt"),
        ({"policy": "nobody"}, "nobody"),
    ],
)
def test_what_is_refused_leaves_no_folder(folder, wrong, said):
    """The same command, corrected, would be told that the folder holds other games."""
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        record(replace(SHORT, **wrong), 3, folder)
    assert not folder.exists()


def test_a_damaged_part_is_named(folder):
    record(SHORT, 6, folder)
    shutil.rmtree(folder / "data")
    (folder / "games" / "000001.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"000001\.npz: the file is damaged"):
        record(SHORT, 6, folder)


def test_other_puzzles_in_the_file_are_refused(folder, tmp_path):
    lines = [board.to_line(each) for each in puzzles.load("4x4", "test").puzzles[:6]]
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(lines[:4]))
    mine = RecordedGames("masked-random", str(path), split="all")
    record(mine, 2, folder)
    path.write_text("\n".join(lines[2:]))
    with pytest.raises(ValueError, match=r"holds games with puzzles_checksum="):
        record(mine, 2, folder)
