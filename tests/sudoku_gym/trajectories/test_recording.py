"""Minari loads what was recorded, and the environment plays it again, to the same boards."""

import errno
import json
import os
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sudoku_gym import board, cli, load_policy, puzzles
from sudoku_gym.policies import identity
from sudoku_gym.trajectories import PlayedPart, RecordedGames, games, record, recording, replay

minari = pytest.importorskip("minari", reason="the extra minari is not installed")

SHORT = RecordedGames("masked-random", "4x4", blanks=[4, 6], seed=7)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    for module in (games, recording):
        monkeypatch.setattr(module, "PART_GAMES", 4)


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
    games = RecordedGames("masked-random", "4x4", "test", [5, 9], "dense", seed=3)
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


def test_a_solver_solves_what_is_recorded(folder):
    found = record(RecordedGames("naked-singles", "4x4"), 5, folder)
    assert found["solved"] == 1 and found["total_episodes"] == 5


def test_a_longer_record_begins_with_the_shorter_one(folder, tmp_path, monkeypatch):
    record(SHORT, 6, folder)
    before = contents(folder, monkeypatch)
    record(SHORT, 6, folder)
    assert contents(folder, monkeypatch) == before
    record(SHORT, 9, folder)
    record(SHORT, 9, tmp_path / "at-once-v0")
    whole = contents(folder, monkeypatch)
    assert len(whole) == 9 and whole == contents(tmp_path / "at-once-v0", monkeypatch)
    assert whole[:4] == before[:4]  # the second part had two games, and has four others now


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_what_was_stopped_goes_on(folder, tmp_path, monkeypatch, stop):
    calls = []

    def stopping(*arguments):
        calls.append(arguments)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return games.play_part(*arguments)

    monkeypatch.setattr(recording, "play_part", stopping)
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
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "games", "games.json"]
    monkeypatch.setattr(recording, "play_part", None)  # nothing is played again
    assert record(SHORT, 6, folder)["total_episodes"] == 6


@pytest.mark.parametrize("free", [0, 1_050_000])
def test_a_full_disk_is_seen_before_a_write_fails(folder, monkeypatch, free):
    """HDF5 ends the process with a segmentation fault where it can't write."""
    monkeypatch.setattr(recording.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    with pytest.raises(OSError, match="No space left") as told:
        record(SHORT, 6, folder)
    assert told.value.filename == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "games", "games.json"]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="only POSIX can ask for room")
@pytest.mark.parametrize("longest", [100_000, 1_050_000])
def test_a_file_that_may_not_get_so_long_is_seen_before_a_write_fails(folder, longest):
    from resource import RLIMIT_FSIZE, getrlimit, setrlimit

    before = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (longest, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as told:
            record(SHORT, 6, folder)
    finally:
        setrlimit(RLIMIT_FSIZE, before)
    assert told.value.filename == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "games", "games.json"]
    assert record(SHORT, 6, folder)["total_episodes"] == 6


def test_other_games_are_refused(folder, tmp_path):
    record(SHORT, 2, folder)
    other = RecordedGames("masked-random", "4x4", blanks=[4, 6], seed=8)
    with pytest.raises(ValueError, match=r"holds games with seed=7, not 8: give another"):
        record(other, 2, folder)
    with pytest.raises(ValueError, match="must end in -v and a number"):
        record(SHORT, 2, tmp_path / "games")
    (tmp_path / "mine-v0").mkdir()
    (tmp_path / "mine-v0" / "thesis.txt").touch()
    with pytest.raises(ValueError, match=r"holds thesis\.txt: give a new folder"):
        record(SHORT, 2, tmp_path / "mine-v0")


def test_other_puzzles_in_the_file_and_another_version_are_refused(folder, tmp_path, monkeypatch):
    lines = [board.to_line(each) for each in puzzles.load("4x4", "test").puzzles[:6]]
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(lines[:4]))
    mine = RecordedGames("masked-random", str(path), split="all")
    record(mine, 2, folder)
    path.write_text("\n".join(lines[2:]))
    with pytest.raises(ValueError, match=r"holds games with puzzles_checksum="):
        record(mine, 2, folder)
    path.write_text("\n".join(lines[:4]))
    monkeypatch.setattr(identity, "package_of", lambda policy: "sudoku-gym 9.9")
    with pytest.raises(ValueError, match=r"holds games with package='sudoku-gym .*', not 'sudo"):
        record(mine, 2, folder)


def test_a_damaged_part_is_named(folder):
    record(SHORT, 6, folder)
    (folder / "games" / "000001.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"000001\.npz: no readable npz file"):
        record(SHORT, 9, folder)
    for lengths in ([1, 2], [2**63 - 1, 2**63 - 1, 6]):  # the sum of the others wraps to 4
        with pytest.raises(ValueError, match="do not add up"):
            PlayedPart(np.arange(len(lengths)), np.array(lengths, np.int64), np.zeros(4, np.int32))


def test_a_part_of_other_games_is_named(folder):
    record(SHORT, 8, folder)
    parts = folder / "games"
    shutil.copy(parts / "000000.npz", parts / "000001.npz")
    shutil.rmtree(folder / "data")
    with pytest.raises(ValueError, match=r"000001\.npz: .*its seeds are not those of this part"):
        record(SHORT, 8, folder)


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_in_place_of_a_part_is_not_waited_for(folder):
    record(SHORT, 2, folder)
    (folder / "games" / "000000.npz").unlink()
    os.mkfifo(folder / "games" / "000000.npz")
    with pytest.raises(ValueError, match=r"000000\.npz: .*no regular file"):
        record(SHORT, 3, folder)


@pytest.mark.parametrize("length", [None, 100])
def test_a_data_set_without_its_episodes_is_written_again(folder, length):
    """A power cut may leave one, and a person may remove a file."""
    before = record(SHORT, 4, folder)
    episodes = folder / "data" / "main_data.hdf5"
    if length is None:
        episodes.unlink()
    else:
        os.truncate(episodes, length)
    assert record(SHORT, 4, folder) == before
    assert len(minari.MinariDataset(folder / "data")) == 4


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ("data/mine.txt", r"data holds mine\.txt, which was not recorded"),
        ("data/main_data.hdf5/mine.txt", r"data holds main_data\.hdf5, which was not recorded"),
        (".data.draft/mine.txt", r"\.data\.draft holds mine\.txt, which was not recorded"),
    ],
)
def test_what_others_put_into_its_folders_is_not_removed(folder, mine, said):
    record(SHORT, 2, folder)
    (folder / "data" / "main_data.hdf5").unlink()
    (folder / mine).parent.mkdir(exist_ok=True)
    (folder / mine).write_text("notes")
    with pytest.raises(ValueError, match=said):
        record(SHORT, 3, folder)
    assert (folder / mine).read_text() == "notes"


def test_what_others_did_to_a_data_set_is_not_undone(folder):
    record(SHORT, 2, folder)
    metadata = folder / "data" / "metadata.json"
    content = json.loads(metadata.read_text())
    metadata.write_text(json.dumps({**content, "total_episodes": 9}))
    with pytest.raises(ValueError, match="added or removed by other means"):
        record(SHORT, 3, folder)
    metadata.write_text(json.dumps(content))
    (folder / "data").rename(folder.with_name("elsewhere"))
    (folder / "data").symlink_to(folder.with_name("elsewhere"))
    with pytest.raises(ValueError, match="data is a link"):
        record(SHORT, 3, folder)


def test_parts_are_not_written_where_a_link_leads(folder, tmp_path):
    record(SHORT, 3, folder)
    mine = tmp_path / "mine"
    (folder / "games").rename(mine)
    (folder / "games").symlink_to(mine)
    before = {each.name: each.read_bytes() for each in mine.iterdir()}
    with pytest.raises(ValueError, match="games is a link"):
        record(SHORT, 5, folder)
    assert {each.name: each.read_bytes() for each in mine.iterdir()} == before


def test_nothing_is_written_through_a_link(folder, tmp_path):
    record(SHORT, 2, folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / ".data.draft").symlink_to(elsewhere)
    assert record(SHORT, 3, folder)["total_episodes"] == 3
    assert not (folder / "data").is_symlink() and not list(elsewhere.iterdir())


def test_actions_of_another_version_are_refused():
    part = games.play_part(
        SHORT, load_policy("masked-random"), np.arange(3), np.random.default_rng(0)
    )
    actions = np.resize(part.actions, len(part.actions) + 3)
    longer = PlayedPart(part.seeds, part.lengths + 1, actions)
    with pytest.raises(ValueError, match="seed 0 does not end with its last action"):
        list(replay(SHORT, longer))


@pytest.mark.parametrize("answer", [np.int64(0), np.zeros(1, int), np.ones(3, bool)])
def test_answers_that_are_no_actions_of_all_games_are_refused(answer):
    policy = SimpleNamespace(reset=lambda *_: None, act=lambda *_: answer)
    with pytest.raises(ValueError, match=r"integers of shape \(3,\)"):
        games.play_part(SHORT, policy, np.arange(3), np.random.default_rng(0))


def test_games_are_replayed_some_at_a_time(monkeypatch):
    played = games.play_part(
        SHORT, load_policy("masked-random"), np.arange(20), np.random.default_rng(0)
    )
    whole = list(replay(SHORT, played))
    (one,) = games.pieces(SHORT, played)
    assert np.array_equal(one.actions, played.actions)
    for most in (1, 3000):
        monkeypatch.setattr(games, "_MOST_BYTES", most)
        found = list(games.pieces(SHORT, played))
        assert sum(len(piece.seeds) for piece in found) == 20 and 1 < len(found) <= 20
        again = [game for piece in found for game in replay(SHORT, piece)]
        for game, other in zip(whole, again, strict=True):
            for name, array in vars(game).items():
                assert np.array_equal(array, getattr(other, name))
    monkeypatch.setattr(games, "_MOST_BYTES", 1)
    assert all(len(piece.seeds) == 1 for piece in games.pieces(SHORT, played))


def test_a_data_set_is_the_same_in_pieces(folder, tmp_path, monkeypatch):
    record(SHORT, 9, folder)
    monkeypatch.setattr(games, "_MOST_BYTES", 3000)
    record(SHORT, 9, tmp_path / "pieces-v0")
    first, second = (contents(each, monkeypatch) for each in (folder, tmp_path / "pieces-v0"))
    assert first == second and len(first) == 9


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


@pytest.mark.parametrize("seed", [-5, 2**63 - 1])
def test_seeds_out_of_range_are_named(seed):
    with pytest.raises(ValueError, match=f"seed={seed}: use a number from 0"):
        replace(SHORT, seed=seed)


@pytest.mark.parametrize(
    "changed",
    [{"solved": None}, {"solved": 1.5}, {"solved": float("nan")}, {"total_steps": "x"}],
    ids=str,
)
def test_a_damaged_summary_is_refused_by_name(folder, changed):
    record(SHORT, 3, folder)
    path = folder / "data" / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(ValueError, match=r"metadata\.json: .*(solved|total_steps)"):
        record(SHORT, 3, folder)


def test_no_game_is_taken_away(folder):
    record(SHORT, 4, folder)
    with pytest.raises(ValueError, match="holds 4 games: ask for as many or more"):
        record(SHORT, 3, folder)


def test_a_part_that_claims_too_much_is_refused(folder, monkeypatch):
    record(SHORT, 4, folder)
    monkeypatch.setattr(recording, "_LONGEST_PART", 100)
    with pytest.raises(ValueError, match=r"000000\.npz: .*it has more than 100 bytes"):
        record(SHORT, 5, folder)
    path = folder / "games" / "000000.npz"
    np.savez_compressed(path, actions=np.zeros(1_000_000))
    monkeypatch.setattr(recording, "_LONGEST_PART", path.stat().st_size)
    with pytest.raises(ValueError, match=r"000000\.npz: .*arrays have more than .* bytes"):
        record(SHORT, 5, folder)


def test_a_game_longer_than_any_is_refused():
    one = np.zeros(1, np.int32)
    part = PlayedPart(one.astype(np.int64), one + 1_000_000, np.zeros(1_000_000, np.int32))
    with pytest.raises(ValueError, match="a game of 1,000,000 actions: it ends after 32"):
        next(replay(SHORT, part))
    with pytest.raises(ValueError, match="must be rows of integers"):
        PlayedPart([0], [1], [2])


@pytest.mark.parametrize("episodes", [0, -1, 10**30, 10**400])
def test_a_number_of_games_that_can_not_be_is_refused(tmp_path, episodes):
    with pytest.raises(ValueError, match=r"episodes=.{1,20}: record 1 to 1,000,000,000"):
        record(SHORT, episodes, tmp_path / "a-v0")
    assert not (tmp_path / "a-v0").exists()
