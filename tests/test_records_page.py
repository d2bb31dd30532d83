"""The page of records is up to date: rows, puzzles, and the weights they were played with."""

import json
import re
from pathlib import Path

import pytest

import records_page
from sudoku_gym import puzzles
from sudoku_gym.evaluation.list_results import Share, read_list_results
from sudoku_gym.policies.identity import weights_checksum

DOCS = Path(__file__).parent.parent / "docs"
RESULTS, PUBLISHED = records_page.read(DOCS / "results")
PAGE = DOCS / "results" / "records.md"
BANK = puzzles.load("extreme-like")


def test_the_page_gets_every_part():
    page = records_page.fill_in(PAGE.read_text(encoding="utf-8"), RESULTS, PUBLISHED)
    assert "<!--" not in page and "make docs" not in page
    for row in RESULTS.rows:
        assert f"| `{row.policy}` " in page
    for title in records_page.TRACKS.values():
        assert page.count(f"**{title}**") == 2
    for row in PUBLISHED:
        assert f" {row['percent']:g} |" in page and row["source"] in page


def test_a_policy_that_has_played_a_part_of_the_list_is_not_shown(tmp_path):
    for name in ("records.json", "published.json"):
        (tmp_path / name).write_bytes((DOCS / "results" / name).read_bytes())
    file = tmp_path / "records.json"
    stopped = json.loads(file.read_text())
    stopped["rows"][1]["is_done"] = False
    file.write_text(json.dumps(stopped))
    said = f"{RESULTS.rows[1].policy} has played 500 puzzles and not the whole list"
    with pytest.raises(ValueError, match=said):
        records_page.read(tmp_path)


def test_texts_of_others_are_shown_and_not_obeyed():
    row = PUBLISHED[0] | {"note": "<img src=x>", "source": "x](javascript:alert(1)) ["}
    page = records_page.fill_in(PAGE.read_text(encoding="utf-8"), RESULTS, [row])
    assert not re.search(r"(?<!\\)(<img|\]\(javascript)", page)


@pytest.mark.parametrize("letter", ["\ud800", "\xa0"])
@pytest.mark.parametrize("where", ["policy", "by_source"])
def test_letters_that_no_page_can_hold_are_refused(tmp_path, where, letter):
    file = tmp_path / "records.json"
    data = json.loads((DOCS / "results" / "records.json").read_text())
    data["rows"][0][where] = letter if where == "policy" else {letter: vars(Share.of(0, 0))}
    file.write_text(json.dumps(data))
    if letter == "\xa0":  # of a list's sources, and in the names of folders
        assert read_list_results(file)
    else:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            read_list_results(file)


@pytest.mark.parametrize("row", RESULTS.rows, ids=lambda row: row.policy)
def test_a_row_is_whole_and_of_the_shipped_weights(row):
    assert row.is_done and len(row.outcomes) == (RESULTS.puzzles["count"] or len(BANK))
    assert row.all == Share.of(row.outcomes.count("1"), len(row.outcomes))
    assert row.weights == weights_checksum(row.policy), "run the command on the page again"
    for groups in (row.by_source, row.by_rating):
        assert sum(share.count for share in groups.values()) == row.all.count
        assert sum(share.solved for share in groups.values()) == row.all.solved


def test_every_row_was_played_on_the_bank_and_stands_in_the_command():
    assert RESULTS.puzzles["name"] == "extreme-like"
    assert len({row.sha256 for row in RESULTS.rows}) == 1
    command = PAGE.read_text(encoding="utf-8").partition("```sh")[2].partition("```")[0]
    assert [row.policy for row in RESULTS.rows if row.policy not in command] == []
    assert set(RESULTS.rows[0].by_source) == set(BANK.sources)


def test_the_plot_names_every_network():
    pytest.importorskip("matplotlib")
    here, there = records_page.plot(RESULTS, PUBLISHED).axes
    legend = {text.get_text().partition(":")[0] for text in here.get_legend().get_texts()}
    assert legend == {row.policy for row in RESULTS.rows if row.card}
    named = [text.get_text() for text in there.texts]
    assert named == [row["system"] for row in PUBLISHED if row["weights"]]
