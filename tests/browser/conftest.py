"""A real browser, where there is one: Debian's packages chromium and chromium-driver."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """Start Chromium without a window, once for all tests of the group `browser`."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        pytest.skip("no chromium with chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture
def errors(browser):
    """Return a function that lists what pages have complained about since the last call."""

    def complaints():
        return [entry["message"] for entry in browser.get_log("browser")]

    complaints()
    return complaints
