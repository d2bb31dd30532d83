"""The tables that `make tables` has written into pages are those of the results."""

import importlib.util
from pathlib import Path

import pytest

import agents_page
import marked
from sudoku_gym import load_policy, plugins
from sudoku_gym.policies import model_card_of

DOCS = Path(__file__).parent.parent / "docs"
PAGE = "# Title\n\n<!-- some: one -->\n\nold\n\n<!-- end -->\n\ntext\n"


def test_pages_hold_what_the_files_say():
    place = importlib.util.spec_from_file_location("write_tables", DOCS / "write_tables.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    pages = module.filled()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make tables`"
        assert text.count("<!-- end -->") >= 1
    assert len(pages) == 7


def test_parts_are_replaced():
    filled = marked.fill_in(PAGE, "some", {"one": "new"})
    assert filled == PAGE.replace("old", "new")
    assert marked.fill_in(filled, "some", {"one": "new"}) == filled
    assert marked.fill_in(PAGE, "other", {}) == PAGE


@pytest.mark.parametrize("path", agents_page.readmes(), ids=lambda path: path.parent.name)
def test_the_text_beside_a_checkpoint_says_what_it_is(path):
    facts = agents_page.facts_of(path.read_text(encoding="utf-8"))
    assert facts["Trainer"] in plugins.available("trainers")
    if card := model_card_of(load_policy(facts["Policy"].strip("`"))):
        assert facts["Weights"] == f"{card.weights:,}"
        assert facts["Solutions shown"] == (f"{card.solutions:,}" if card.solutions else "none")


def test_every_checkpoint_has_a_text_beside_it():
    checkpoints = agents_page.ROOT.glob("*/sudoku_*/**/pretrained/**/config.json")
    assert {path.parent for path in checkpoints} == {path.parent for path in agents_page.readmes()}
