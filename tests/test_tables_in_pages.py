"""The tables that `make tables` has written into pages are those of the results."""

import importlib.util
from pathlib import Path

import marked

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
    assert len(pages) == 3


def test_parts_are_replaced():
    filled = marked.fill_in(PAGE, "some", {"one": "new"})
    assert filled == PAGE.replace("old", "new")
    assert marked.fill_in(filled, "some", {"one": "new"}) == filled
    assert marked.fill_in(PAGE, "other", {}) == PAGE
