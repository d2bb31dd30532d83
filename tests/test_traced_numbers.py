"""Every number of the pages of results is one of a committed file of figures, or has its source.

Shares with intervals are traced more strictly by `test_result_pages`. Here all numbers of three
digits and more, and all with decimals, are looked up: in the files that a page is made of, rounded
as the page rounds them, or in `docs/results/quoted.json`, which says where numbers come from that
no benchmark measures: published figures, sizes of networks, and measurements whose file was not
kept.
"""

import json
import re
from bisect import bisect_left
from functools import cache
from pathlib import Path

import pytest

import belief_propagation
import marked
from sudoku_gym.evaluation.intervals import wilson_interval

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
QUOTED = json.loads((RESULTS / "quoted.json").read_text(encoding="utf-8"))
SOURCES = {
    "docs/results/belief-propagation.md": ["belief-propagation"],
    "docs/results/calphazero.md": [
        "calphazero*",
        "neural-segments",
        "floors*",
        "demo",
        "q-learning-9x9",
    ],
    "docs/results/calphazero-paper.md": ["calphazero-paper", "floors"],
    "docs/results/calphazero-training.md": ["calphazero*", "floors*", "demo", "q-learning-9x9"],
    "docs/results/classical.md": ["classical", "dancing-links"],
    "docs/results/floors.md": ["floors"],
    "docs/results/gflownet.md": ["gflownet*", "floors"],
    "docs/results/neural.md": ["neural*", "records"],
    "docs/results/q-learning.md": ["q-learning*"],
}
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
]
CODE = re.compile(r"^```.*?^```|`[^`]*`|\]\([^)\s]*\)", re.MULTILINE | re.DOTALL)
YEAR = r"(?:19|20)\d\d(?![\d,.]*\d)"
NUMBER = re.compile(rf"(?<![\w.,/x-])(?!{YEAR})\d[\d,]*(?:\.\d+)?(?!\w)")
SCALES = (1, 1000, 0.001)  # seconds and ms, counts and millions of them


def numbers_in(text):
    """Yield each number of a page that is worth tracing, with the line around it."""
    for line in CODE.sub(" ", text).splitlines():
        for found in NUMBER.finditer(line):
            number = found[0].rstrip(",")
            if not re.fullmatch(r"\d{1,2}", number):
                yield number, line[max(0, found.start() - 40) : found.end() + 30]


def measured(content):
    """Yield each number of a file of figures, and the shares that its counts make."""
    if isinstance(content, dict):
        solved, count = content.get("solved"), content.get("count")
        if content.get("outcomes"):
            solved, count = content["outcomes"].count("1"), len(content["outcomes"])
        if isinstance(solved, int) and isinstance(count, int) and count:
            yield from (count, solved, count - solved)
            yield from (100 * end for end in (solved / count, *wilson_interval(solved, count)))
        for name, value in content.items():
            yield from measured(name)
            yield from measured(value)
    elif isinstance(content, list):
        for value in content:
            yield from measured(value)
    elif isinstance(content, str) and len(content) < 3000:  # not the outcomes of many puzzles
        numbers = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", content)
        yield from (float(number.replace(",", "")) for number in numbers)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield abs(content)


@cache
def figures(patterns):
    """Return all numbers of some files, sorted."""
    found = set()
    for pattern in patterns:
        for path in RESULTS.glob(f"{pattern}.json"):
            if path.name != "quoted.json":
                found.update(measured(json.loads(path.read_text(encoding="utf-8"))))
    if "belief-propagation" in patterns:  # its tables count what was solved after each iteration
        rows = json.loads((RESULTS / "belief-propagation.json").read_text(encoding="utf-8"))["rows"]
        for table in belief_propagation.tables(rows).values():
            found.update(measured(table.splitlines()))
    return sorted(found)


def is_traced(number, known):
    """Whether a number as written, `2,422` or `97.6`, is one of sorted numbers, rounded."""
    value, digits = float(number.replace(",", "")), len(number.partition(".")[2])
    tolerance = 0.5 * 10.0**-digits + (0.011 if digits in (1, 2) else 1e-9)  # files round too
    for scale in SCALES:
        place = bisect_left(known, (value - tolerance) / scale)
        if place < len(known) and known[place] <= (value + tolerance) / scale:
            return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_every_number_has_a_source(page):
    known = figures(tuple(SOURCES.get(page, ["*"])))
    quoted = QUOTED.get(page, {})
    text = marked.without((ROOT / page).read_text(encoding="utf-8"))
    untraced = [
        context
        for number, context in numbers_in(text)
        if number not in quoted and not is_traced(number, known)
    ]
    assert untraced == []


def test_what_is_quoted_is_there_and_has_a_source():
    for page, numbers in QUOTED.items():
        there = {number for number, _ in numbers_in((ROOT / page).read_text(encoding="utf-8"))}
        assert set(numbers) - there == set(), page
        assert all(len(source.split()) >= 2 for source in numbers.values()), page


def test_a_number_that_nobody_measured_is_seen():
    rows = [{"count": 577, "solved": 563, "seconds": 0.0704, "told": "16 of 1,203"}]
    known = sorted(measured(rows))
    for number in ("97.6", "96.0", "98.5", "577", "563", "1,203", "70.4", "0.0704"):
        assert is_traced(number, known), number
    for number in ("97.7", "95.9", "578", "1,204", "70.5", "0.0904"):
        assert not is_traced(number, known), number
    page = "| `9x9-hard` 123.4 | 97.6 % (96.0 to 98.5), 2018 | 1,203 |\n```\n555.5\n```\n12 and 3.5"
    found = [number for number, _ in numbers_in(page)]
    assert found == ["123.4", "97.6", "96.0", "98.5", "1,203", "3.5"]
