"""A training survives kill -9, and nobody can tell afterwards."""

import pytest

import kill_training


@pytest.mark.slow
def test_a_killed_run_ends_as_one_left_alone():
    kinds = kill_training.main(["--kills", "1", "--iterations", "4"])
    assert kinds.total() == 1


def test_a_difference_is_found(tmp_path):
    for run, content in (("whole", b"1"), ("killed", b"2")):
        folder = tmp_path / run / "checkpoints" / "000003"
        folder.mkdir(parents=True)
        for name in kill_training.FILES:
            (folder / name).write_bytes(content if name == "replay.npz" else b"same")
    with pytest.raises(SystemExit, match=r"replay\.npz of iteration 3 is another one"):
        kill_training.compare(tmp_path / "killed", tmp_path / "whole", 3)


def test_a_training_that_began_again_is_found(tmp_path):
    output = "iteration  blanks  at level\n        1       2    100.0%\n"
    kill_training.check_resumed(tmp_path, 0, output)
    with pytest.raises(SystemExit, match="was to continue after iteration 4"):
        kill_training.check_resumed(tmp_path, 4, output)
