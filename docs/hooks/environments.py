"""A page for each environment id, made while the site is built.

Spaces and limits are read off the environments, the texts off `docs/environments.md` and the
docstring of `SudokuEnv`, the floors off `docs/results/floors.json`; the film is a game that the
network of the package plays now.
"""

from __future__ import annotations

import inspect
import io
import json
import re
from math import ceil
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from PIL import Image

import floors_page
import marked
from sudoku_gym import SudokuEnv, load_policy, puzzles
from sudoku_gym.app.game import Game
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.registration import ENVIRONMENTS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PAGE = "environments.md"
PLAYER = "expert-iteration"
FILMED_BLANKS = {"Sudoku16x16-v0": 140, "Sudoku25x25-v0": 300}  # of the leaderboard; else as stored
_FRAMES, _WIDTH = 40, {16: 544, 25: 750}  # frames of a film at most; pixels of large boards


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and their films to the files of the site."""
    from mkdocs.structure.files import File

    template, overview, floors = (
        Path(config.docs_dir, name).read_text(encoding="utf-8")
        for name in ("overrides/environment.template", PAGE, "results/floors.json")
    )
    about = texts(overview)
    for name in ENVIRONMENTS:
        path, (movie, told) = page_of(name), film(name)
        parts = {"about": about[name], "told": told, "film": path.with_suffix(".gif").name}
        parts |= {"floors": floors_of(name, json.loads(floors)), "description": description()}
        parts |= {"name": name, "bank": ENVIRONMENTS[name], "size": make(name).geometry.size}
        parts["facts"] = "\n".join(f"| {key} | {value} |" for key, value in facts_of(name).items())
        text = Template(template).substitute(parts)
        files.append(File.generated(config, path.as_posix(), content=text))
        files.append(File.generated(config, path.with_suffix(".gif").as_posix(), content=movie))
    return files


def fill_in(markdown: str) -> str:
    """Put the table of all ids into the overview, see `marked.fill_in`."""
    results = json.loads((Path(__file__).parents[1] / "results/floors.json").read_text("utf-8"))
    rows = []
    for name, bank in ENVIRONMENTS.items():
        (share,) = [row[-1] for row in floors_page.rows_of(name, results, "grade") if "all" in row]
        link, board = f"[`{name}`]({page_of(name).as_posix()})", make(name).geometry.name
        rows.append([link, board, extent_of(bank), share])
    table = markdown_table(["id", "board", "blanks as stored", "solved by hidden singles"], rows, 2)
    return marked.fill_in(markdown, "environments", {"gallery": table})


def page_of(name: str) -> Path:
    """Return where the page of an id lies in the site."""
    return Path("environments") / f"{name.removesuffix('-v0').lower()}.md"


def make(name: str, **options: Any) -> SudokuEnv:
    """Make an environment and take Gymnasium's wrappers off."""
    env = gym.make(name, **options).unwrapped
    assert isinstance(env, SudokuEnv)
    return env


def texts(overview: str) -> dict[str, str]:
    """Return what the list of the overview says of each id."""
    return dict(re.findall(r"^- `([\w-]+-v\d+)`: (.+(?:\n  .+)*)", overview, re.MULTILINE))


def film(name: str) -> tuple[bytes, str]:
    """Return a GIF of a game on the first test puzzle that seed 0 draws, and how it ended."""
    blanks = FILMED_BLANKS.get(name)
    env = make(name, split="test", augment=False, blanks=blanks)
    game = Game(load_policy(PLAYER), env.reset(seed=0)[0], env.geometry, heat=False)
    width = _WIDTH.get(env.geometry.size, 360)
    pictures = [Image.fromarray(game.draw(width)) for _ in game.play()]
    moves = ceil(len(pictures) / _FRAMES)
    first, *others = (*pictures[:-1:moves], pictures[-1])
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=250, loop=0)
    told = f"`{PLAYER}`, greedy, seed 0, on a puzzle of the test split "
    told += f"{f'with {blanks} blanks' if blanks else 'as stored'}: {game.result}"
    return file.getvalue(), told + (f"; every frame is {moves} moves." if moves > 1 else ".")


def facts_of(name: str) -> dict[str, str]:
    """Return what the table of an id says."""
    env, erasing, bank = make(name), make(name, erase=True), ENVIRONMENTS[name]
    splits = ", ".join(f"{len(puzzles.load(bank, part)):,} {part}" for part in puzzles.SPLITS)
    return {
        "Board": f"{env.geometry.name}, {len(env.geometry.units)} units",
        "Observation space": f"`{env.observation_space}`",
        "Action space": f"`{env.action_space}`",
        "with `erase=True`": f"`{erasing.action_space}`",
        "Reward": "share of units that hold every digit, at the end; "
        '`reward=` takes `"dense"`, `"sparse"` or [a function](../how-to/reward.md)',
        "Puzzles": f"[bank `{bank}`](../puzzles.md#banks): {splits}",
        "Blanks": f"{extent_of(bank)} as stored; `blanks=` takes 1 to the most",
        "Truncated after": f"{env.max_steps} steps ({erasing.max_steps} with `erase=True`)",
    }


def extent_of(bank: str) -> str:
    """Return the fewest and the most blanks of a bank."""
    blanks = puzzles.load(bank).blanks
    return f"{blanks.min()} to {blanks.max()}"


def floors_of(name: str, results: floors_page.Results) -> str:
    """Return the table of the floors of an id, by grade and by number of blanks."""
    by_grade = floors_page.rows_of(name, results, "grade")
    by_blanks = floors_page.rows_of(name, results, "blanks")
    rows = [*by_grade, *([f"{blanks} blanks", *row] for blanks, *row in by_blanks)]
    if not rows:
        raise ValueError(f"there are no floors of {name}: run benchmarks/floors.py")
    heads = ["puzzles with", "count", "masked-random", "naked singles", "naked + hidden singles"]
    return markdown_table(heads, rows)


def description() -> str:
    """Return the description that the docstring of the environment holds."""
    text = inspect.getdoc(SudokuEnv) or ""
    part = text[text.index("## Description") : text.index("Attributes:")]
    # Without an empty line before it a list is none in Markdown.
    return re.sub(r"^(?!- |  )(.+)\n- ", r"\1\n\n- ", part, flags=re.MULTILINE).strip()
