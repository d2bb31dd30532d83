"""Weights that are written while a policy is loaded."""

import sys
from pathlib import Path

POLICY = """
class Mine:
    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


def test_files_that_change_while_they_are_loaded(extreme, run, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "w.bin").write_bytes(b"old")
    grows = "file.write_bytes(bytes(min(5, len(file.read_bytes()) + 1)))"  # at two loads
    source = (
        POLICY
        + f"""
    def __init__(self, folder):
        file = __import__("pathlib").Path(folder) / "w.bin"
        {grows}
"""
    )
    (tmp_path / "swaps.py").write_text(source)
    arguments = ["evaluate", f"swaps:Mine?folder={weights}", "--puzzles", "test.csv"]
    code, _, error = run(*arguments, "--out", "row.json")
    assert code == 2 and "changed while it was loaded: try again" in error
    assert not Path("row.json").exists()
    assert run(*arguments, "--out", "row.json")[0] == 0


def test_one_that_writes_its_weights_and_can_be_made_once_is_told_to_try_again(
    extreme, run, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "weights").mkdir()
    source = """
    def __init__(self, folder):
        file = __import__("pathlib").Path(folder) / "converted.bin"
        if not file.exists():
            file.write_bytes(b"1")
        elif made:
            raise RuntimeError("once a process")
        made.append(1)
made = []
"""
    (tmp_path / "converts.py").write_text(POLICY + source)
    arguments = [
        "evaluate",
        f"converts:Mine?folder={tmp_path / 'weights'}",
        "--puzzles",
        "test.csv",
    ]
    code, _, error = run(*arguments)
    assert code == 2 and "converted.bin changed while" in error
    assert "can't be made again (RuntimeError: once a process): try again" in error
    monkeypatch.delitem(sys.modules, "converts")  # as a new process
    assert run(*arguments)[0] == 0
