"""Files that others exchange while a command writes them."""

import pytest

from sudoku_gym.storage.watched_file import WatchedFile


@pytest.mark.parametrize("before", [None, "old"])
def test_it_is_written_again_and_again(tmp_path, before):
    path = tmp_path / "out.json"
    if before is not None:
        path.write_text(before)
    file = WatchedFile(path)
    for text in ("first", "second"):
        file.write(lambda path, text=text: path.write_text(text))
        assert path.read_text() == text
    path.touch()  # and nothing else
    path.unlink()  # nothing is lost if it comes back
    file.write(lambda path: path.write_text("third"))
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("before", [None, "old"])
def test_what_another_program_has_written_stays(tmp_path, before):
    path = tmp_path / "out.json"
    if before is not None:
        path.write_text(before)
    file = WatchedFile(path)
    (tmp_path / "out-2.json").write_text("a third one's")
    path.write_text("theirs")
    with pytest.raises(ValueError, match=r"out\.json since it was read: .* is in .*out-3\.json"):
        file.write(lambda path: path.write_text("ours"))
    file.write(lambda path: path.write_text("ours, and more"))
    found = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert found == {
        "out.json": "theirs",
        "out-2.json": "a third one's",
        "out-3.json": "ours, and more",
    }
