"""The page of `sudoku-gym app` in a real browser, and forged requests to its server."""

import http.client
import json
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from sudoku_gym import board, load_policy
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.named import BOARDS

if find_spec("gradio") is None:
    pytest.skip("gradio is not installed", allow_module_level=True)


By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = pytest.mark.xdist_group("browser")


class Address(str):
    """The address of a server, and the number of its process."""

    pid: int


@contextmanager
def started(*options):
    """Start the command; in the end, see that it never told a visitor's fault as one of its own."""
    command = [sys.executable, "-m", "sudoku_gym", "app", "--port", "0", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        line = process.stdout.readline()
        address = Address(line.split()[-4])
        address.pid = process.pid
        yield address
        process.terminate()
        complaints = process.communicate(timeout=60)[1]
    assert "http://127.0.0.1:" in line and "Traceback" not in complaints, complaints


@pytest.fixture(scope="module")
def server():
    """Start the command once."""
    with started() as address:
        yield address


class Page:
    """What a visitor sees and does."""

    def __init__(self, browser):
        self.browser = browser

    def press(self, name):
        self.browser.find_element(By.CSS_SELECTOR, f"#{name}").click()

    def choose(self, label, value):
        field = self.browser.find_element(By.CSS_SELECTOR, f"input[aria-label='{label}']")
        field.click()
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(value, Keys.ENTER)

    def write(self, number, text):
        """Write into the text fields: the puzzle, the options of the left and of the right."""
        field = self.browser.find_elements(
            By.CSS_SELECTOR, "textarea, input[type=text].scroll-hide"
        )
        script = (
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
        )
        self.browser.execute_script(script, field[number], text)

    def wait_for(self, what):
        WebDriverWait(self.browser, 120, 0.2, [StaleElementReferenceException]).until(
            lambda _: what()
        )

    def stays_for(self, seconds):
        before = self.words
        sleep(seconds)
        return self.words == before

    @property
    def words(self):
        """What the page says below each board."""
        script = "return [...document.querySelectorAll('.game .words')].map((p) => p.textContent)"
        return self.browser.execute_script(script)

    @property
    def boards(self):
        script = "return [...document.querySelectorAll('.game img')].map((image) => image.alt)"
        return self.browser.execute_script(script)

    @property
    def trouble(self):
        script = "return document.querySelector('#trouble textarea')?.value ?? ''"
        return self.browser.execute_script(script)


@pytest.fixture
def page(browser, errors, server):
    browser.get(server)
    page = Page(browser)
    page.wait_for(lambda: page.words == ["60 blanks.", "60 blanks."])
    yield page
    assert errors() == []
    script = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    loaded = browser.execute_script(script)
    assert loaded and all(name.startswith((server, "data:", "blob:")) for name in loaded)


def test_a_step_is_python_s_move_on_both_boards(page):
    puzzle = board.parse(BOARDS["Inkala 2012"])
    masks = board.candidates(puzzle[None]).reshape(1, -1)
    expected = []
    for name in ("calphazero", "hidden-singles"):
        policy = load_policy(name)
        policy.reset(puzzle[None].copy(), Geometry.standard(9), np.random.default_rng(0))
        after = puzzle.copy()
        cell, digit = divmod(int(policy.act(puzzle[None].copy(), masks)[0]), 9)
        after.ravel()[cell] = digit + 1
        expected.append(board.to_line(after))
    page.press("step")
    page.wait_for(lambda: all(words.startswith("1. ") for words in page.words))
    assert page.boards == expected
    assert "Likely to place next" in page.browser.page_source


def test_it_plays_pauses_and_solves(page):
    page.choose("Puzzle", "6x6")  # which acts at once
    page.wait_for(lambda: page.boards and len(page.boards[0]) == 36)
    start = page.boards[0]
    page.press("play")
    page.wait_for(lambda: page.boards[0].count(".") < start.count(".") - 1)
    page.press("stop")
    page.wait_for(lambda: page.stays_for(1.5))
    assert "." in page.boards[0]
    page.press("play")
    page.wait_for(lambda: page.words[0].startswith("Solved after "))
    assert all(board.is_solved(board.parse(line)[None])[0] for line in page.boards)


@pytest.mark.parametrize(
    ("typed", "options", "why"),
    [
        ("1" * 81, "", "1 stands twice in a unit"),
        ("<img src=x onerror=alert(1)>" * 9, "", "a board of"),
        ("5" * 5_000, "", "at most 2,000 characters"),
        ("." * 81, "simulations=1000000", "simulations=1000000 takes too long here"),
        ("." * 81, "folder=/etc", "folder=/etc is no option that can be given here"),
    ],
    ids=["twice", "markup", "long", "dear", "folder"],
)
def test_a_visitor_reads_what_is_wrong(page, typed, options, why):
    page.choose("Puzzle", "type your own")
    page.write(0, typed)
    page.write(1, options)
    page.press("start")
    page.wait_for(lambda: why in page.trouble)
    page.write(1, "")
    page.choose("Puzzle", "6x6")
    page.wait_for(lambda: page.boards and len(page.boards[0]) == 36 and not page.trouble)


def test_back_shows_the_move_before(page):
    page.press("step")
    page.wait_for(lambda: all(words.startswith("1. ") for words in page.words))
    after = page.boards
    page.press("back")
    page.wait_for(lambda: page.words == ["60 blanks.", "60 blanks."])
    page.press("step")
    page.wait_for(lambda: page.boards == after)


def test_a_wrong_number_is_told(page):
    page.choose("Puzzle", "6x6")
    page.wait_for(lambda: page.boards and len(page.boards[0]) == 36)
    field = page.browser.find_element(By.CSS_SELECTOR, "input[type=number]")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("0", Keys.TAB)
    page.wait_for(lambda: "test puzzles: choose a number from 1 to that" in page.trouble)


def test_boards_come_first_on_a_phone(page):
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        script = "return document.querySelector('#left img').getBoundingClientRect().toJSON()"
        page.wait_for(lambda: page.browser.execute_script(script)["width"] > 340)
        assert page.browser.execute_script(script)["bottom"] < 600
        assert page.browser.execute_script("return document.body.scrollWidth") <= 390
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(
    "data", [[], [None] * 7, ["9x9", "x", 3, {}, [], 1e400, "\0"], "text", {"a": 1}], ids=repr
)
@pytest.mark.parametrize("function", [0, -1, 10**20])
def test_a_forged_request_leaves_no_traceback(server, data, function):
    body = json.dumps({"data": data, "fn_index": function, "session_hash": "forged"}).encode()
    for path in ("gradio_api/queue/join", "gradio_api/run/predict", "gradio_api/call/start"):
        request = urllib.request.Request(f"{server}/{path}", body)
        request.add_header("Content-Type", "application/json")
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            assert error.code < 600
            error.close()


def test_nothing_that_draws_is_called_without_waiting(server):
    """A function that is not queued answers at once, and may shut others out: only Stop may."""
    with urllib.request.urlopen(f"{server}/config", timeout=60) as answer:
        functions = json.load(answer)["dependencies"]
    assert len(functions) > 5
    at_once = [each for each in functions if each["queue"] is False and each["backend_fn"]]
    assert len(at_once) == 1 and len(at_once[0]["outputs"]) == 1


def answer_to(request):
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_no_file_of_the_machine_is_served(server, tmp_path):
    """A field whose value says that it is a file must not have that file copied and served."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    for path in (str(secret), "http://127.0.0.1:9/secret.txt"):
        data = [{"path": path, "meta": {"_type": "gradio.FileData"}}] * 8
        body = json.dumps({"data": data, "fn_index": 0, "session_hash": "thief"}).encode()
        for way in ("run/predict", "api/start", "call/start", "queue/join"):
            request = urllib.request.Request(f"{server}/gradio_api/{way}", body)
            request.add_header("Content-Type", "application/json")
            status, said = answer_to(request)
            refused = (404, 413) if way != "queue/join" else (200,)
            assert status in refused and b"file=" not in said
    _, said = answer_to(f"{server}/gradio_api/queue/data?session_hash=thief")
    assert b"not in the list of choices" in said and b"file=" not in said
    assert answer_to(f"{server}/gradio_api/file={secret}")[0] == 404


@pytest.mark.parametrize("call, status", [("queue/join", 422), ("cancel", 413), ("reset", 413)])
def test_a_refused_body_is_not_sent_back(server, call, status):
    """Three times what was sent would take the server a second to write."""
    body = json.dumps({"x": {str(number): number for number in range(2000)}}).encode()
    request = urllib.request.Request(f"{server}/gradio_api/{call}", body)
    request.add_header("Content-Type", "application/json")
    found, said = answer_to(request)
    assert found == status and len(said) < 100


def test_a_long_head_is_refused(server):
    for length, statuses in ((10_000, {200}), (20_000, {400, 431}), (100_000, {400})):
        request = urllib.request.Request(f"{server}/config", headers={"Cookie": "a" * length})
        assert answer_to(request)[0] in statuses


def test_a_body_in_chunks_takes_no_memory(server):
    before = most_memory(server.pid)
    connection = http.client.HTTPConnection(server.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/gradio_api/queue/join")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.putheader("Content-Type", "application/json")
    connection.endheaders()
    chunk = b" " * 2**20
    with suppress(OSError):
        for _ in range(100):
            connection.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        connection.send(b"0\r\n\r\n")
    with suppress(OSError, http.client.HTTPException):
        assert connection.getresponse().status >= 400
    connection.close()
    with urllib.request.urlopen(server, timeout=60) as answer:
        assert answer.status == 200
    assert most_memory(server.pid) - before < 50


def most_memory(pid):
    """Return the most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("no /proc on this machine")
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


def test_a_visitor_without_time_reads_when_to_go_on(browser):
    with started("--visitor-seconds", "0.000001") as address:
        browser.get(address)
        page = Page(browser)
        page.wait_for(lambda: page.words)
        page.press("step")
        page.wait_for(lambda: "s of processor time in the last minutes" in page.trouble)
