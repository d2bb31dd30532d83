"""Files that others exchange while a command writes them."""

import os

import pytest

from sudoku_gym.storage.watched_file import WatchedFile


@pytest.fixture(params=[None, "old"])
def file(tmp_path, request):
    """A file that is not there yet, or is."""
    path = tmp_path / "out.json"
    if request.param is not None:
        path.write_text(request.param)
    return WatchedFile(path)


def test_it_is_written_again_and_again(tmp_path, file):
    path = file.path
    for text in ("first", "second"):
        file.write(lambda path, text=text: path.write_text(text))
        assert path.read_text() == text
    path.unlink()  # nothing is lost if it comes back
    file.write(lambda path: path.write_text("third"))
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]


def test_what_another_program_has_written_stays(tmp_path, file):
    (tmp_path / "out-2.json").write_text("a third one's")
    file.path.write_text("theirs")
    with pytest.raises(ValueError, match=r"out\.json since it was read: .* is in .*out-3\.json"):
        file.write(lambda path: path.write_text("ours"))
    file.write(lambda path: path.write_text("ours, and more"))
    found = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert found == {
        "out.json": "theirs",
        "out-2.json": "a third one's",
        "out-3.json": "ours, and more",
    }


def test_what_never_ends_is_not_read(tmp_path):
    pipe, hole = tmp_path / "pipe.json", tmp_path / "hole.json"
    with hole.open("wb") as file:
        file.truncate(10**12)
    for path in (hole, pipe):
        if path == pipe and hasattr(os, "mkfifo"):
            os.mkfifo(pipe)
        WatchedFile(path).write(lambda path: None)
