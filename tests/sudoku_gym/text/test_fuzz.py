"""Random replies are answered, and what the fuzzer takes for a leak is found."""

import fuzz_text
from sudoku_gym import solver
from sudoku_gym.text import TextSudoku


def totals(texts=1_600):
    rows = fuzz_text.main(["--texts", str(texts), "--seed", "1"])
    return {name: sum(row[name] for row in rows) for name in list(rows[0])[2:]}


def test_random_replies_get_an_answer_that_tells_nothing():
    counts = totals()
    assert counts["texts"] == 1_600 and counts["exceptions"] == counts["leaks"] == 0
    assert min(counts[kind] for kind in ("right digits", "wrong digits", "boards solved")) > 10


def test_a_leak_is_found(monkeypatch):
    place = TextSudoku._place

    def placed(self, cell, digit, where):
        said = place(self, cell, digit, where)
        is_wrong = solver.solve(self.puzzle[None])[0].flat[cell] != digit
        return f"{said} Are you sure?" if "was placed" in said and is_wrong else said

    monkeypatch.setattr(TextSudoku, "_place", placed)
    assert totals()["leaks"] > 10


def test_an_error_and_a_reward_out_of_range_are_found(monkeypatch):
    monkeypatch.setattr(TextSudoku, "rewards", lambda _: {"solved": 1.5})
    assert totals(160)["leaks"] == 160
    monkeypatch.setattr(TextSudoku, "rewards", lambda game: game.nothing)
    assert totals(160)["exceptions"] == 160
