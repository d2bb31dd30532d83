"""The first tables of the leaderboard fit a screen, a phone's too; that of the records a screen."""

from pathlib import Path

import pytest

import leaderboard_page
import records_page
from sudoku_gym.evaluation.leaderboard import read_leaderboard

markdown = pytest.importorskip("markdown", reason="needs the extra docs")
material = pytest.importorskip("material", reason="needs the extra docs")

pytestmark = pytest.mark.xdist_group("browser")

DOCS = Path(__file__).parent.parent.parent / "docs"
THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
SHEETS = [next(THEME.glob("main.*.min.css")), DOCS / "stylesheets" / "extra.css"]
PAGE = """<!doctype html><meta charset="utf-8"><style>{}</style>
<body><div class="md-typeset" style="width: {}px"><div class="leaderboard">{}</div></div></body>
"""
COLUMN, PHONE = 700, 358  # px of the text at a width of 1,280 px, and on a phone of 390 px


def tables():
    """Yield the name and the Markdown of each table."""
    board = read_leaderboard(DOCS / "results" / "leaderboard.json")
    for name in ("best", "all"):
        yield name, leaderboard_page.fill_in(f"<!-- leaderboard: {name} -->", board)
    results = records_page.read(DOCS / "results")
    yield "ours", records_page.fill_in("<!-- records: ours -->", *results)


@pytest.mark.parametrize(("name", "table"), list(tables()), ids=["best", "all", "ours"])
@pytest.mark.parametrize("width", [COLUMN, PHONE])
def test_a_table_is_no_wider_than_its_column(browser, tmp_path, name, table, width):
    styles = "\n".join(sheet.read_text(encoding="utf-8") for sheet in SHEETS)
    html = markdown.markdown(table, extensions=["tables"])
    (tmp_path / "page.html").write_text(PAGE.format(styles, width, html), encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    script = "return document.querySelector('table').getBoundingClientRect().width"
    assert 0 < browser.execute_script(script) <= width or (name, width) == ("ours", PHONE)
