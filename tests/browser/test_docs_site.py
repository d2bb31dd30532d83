"""The site opened as files, in a real browser: search, and the page for an address without one."""

import re
import shutil
from pathlib import Path

import pytest

mkdocs_config = pytest.importorskip("mkdocs.config", reason="the extra docs is not installed")
By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
import yaml  # noqa: E402
from mkdocs.commands.build import build  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.nightly]

ROOT = Path(__file__).parent.parent.parent
REPOSITORY = "https://example.org/sudoku"
PAGES = {
    "index.md": "# Home\n\nThe first page.\n",
    "deep/orbits.md": "# Orbits\n\nPuzzles that a symmetry turns into each other: tessellation.\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build two pages as the site is built, without what the hooks and the reference add."""
    folder = tmp_path_factory.mktemp("pages")
    docs = folder / "docs"
    for part in ("overrides", "javascripts", "stylesheets"):
        shutil.copytree(ROOT / "docs" / part, docs / part)
    for path, text in PAGES.items():
        (docs / path).parent.mkdir(exist_ok=True)
        (docs / path).write_text(text)
    text = re.sub(r"!ENV \[\w+, (.*?)\]", r"\1", (ROOT / "mkdocs.yml").read_text("utf-8"))
    settings = yaml.load(text, yaml.SafeLoader)
    settings["plugins"] = [each for each in settings["plugins"] if isinstance(each, str)]
    settings["extra"] |= {"release": "1.2.3", "commit": "abc", "repository": REPOSITORY}
    settings |= {"hooks": [], "nav": [{"Start": [*PAGES]}], "repo_url": REPOSITORY}
    settings["theme"]["custom_dir"] = "docs/overrides"
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")  # the theme's notice of its successor
        build(mkdocs_config.load_config(str(folder / "mkdocs.yml")))
    return folder / "site"


def test_search_finds_a_word_in_pages_opened_as_files(site, browser, errors):
    browser.get((site / "deep" / "orbits.html").as_uri())
    field = browser.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
    field.click()
    field.send_keys("tessellation")
    link = WebDriverWait(browser, 60, 0.2).until(
        lambda _: browser.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
    )[0]
    assert "deep/orbits.html" in link.get_attribute("href")
    assert "Orbits" in link.get_property("textContent")
    assert errors() == []


def test_nothing_is_asked_of_another_server(site):
    for page in site.rglob("*.html"):
        loaded = r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//"
        assert re.findall(loaded, page.read_text("utf-8")) == [], page.name
