"""The page of `sudoku-gym app` in a real browser."""

import subprocess
import sys

import pytest

pytest.importorskip("gradio")
By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
from selenium.common.exceptions import WebDriverException  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def server():
    policies = ["--policy", "naked-singles", "--policy", "masked-random"]
    command = [sys.executable, "-m", "sudoku_gym", "app", "--port", "0", *policies]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().split()[-1]
        process.terminate()


def test_a_game_in_the_browser(browser, server):
    """A person places a digit, the policy solves the rest, and Back shows the moves before."""

    def element(name):
        return browser.find_element(By.CSS_SELECTOR, name)

    def wait_until(happens):
        WebDriverWait(browser, 150, 0.5, [WebDriverException]).until(lambda _: happens())

    def wait_for(text, name="#left-status"):
        wait_until(lambda: text in element(name).text)

    def place_in_first_cell():
        """Click until it is seen: the page ignores clicks while it draws."""
        if "You: 1 at row 1, column 1" in element("#left-status").text:
            return True
        picture = element("#left img")
        browser.execute_script("arguments[0].scrollIntoView()", picture)
        corner = -picture.size["width"] * 3 // 8
        ActionChains(browser).move_to_element_with_offset(picture, corner, corner).click().perform()
        return False

    browser.get(server)
    wait_for("60 blanks")
    element("#typed textarea, #typed input").send_keys(
        "." + "234" + "3412" + "2143" + "432.", Keys.ENTER
    )
    wait_for("2 blanks")
    wait_until(place_in_first_cell)
    element("#play").click()
    wait_for("Solved after 2 moves")
    element("#back").click()
    wait_for("You: 1 at row 1, column 1")
    element("#step").click()
    wait_for("Solved after 2 moves")
    wait_for("1 at", "#right-status")
