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

import marked
from sudoku_gym import SudokuEnv, load_policy, puzzles
from sudoku_gym.app.game import Game
from sudoku_gym.evaluation.tables import markdown_table
from sudoku_gym.registration import ENVIRONMENTS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

Results = dict[str, Any]
PAGE = "environments.md"
PLAYER = "expert-iteration"
FILMED_BLANKS = {"Sudoku16x16-v0": 140, "Sudoku25x25-v0": 300}  # of the leaderboard; else as stored
_HEADS = ["puzzles with", "count", "masked-random", "naked singles", "naked + hidden singles"]
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
        path, (movie, picture, told) = page_of(name), film(name)
        parts = {"about": about[name], "told": told, "film": path.with_suffix(".gif").name}
        parts |= {"floors": floors_of(name, json.loads(floors)), "description": description()}
        parts |= {"name": name, "bank": ENVIRONMENTS[name], "size": make(name).geometry.size}
        parts["facts"] = "\n".join(f"| {key} | {value} |" for key, value in facts_of(name).items())
        text = Template(template).substitute(parts)
        files.append(File.generated(config, path.as_posix(), content=text))
        for suffix, content in ((".gif", movie), (".png", picture)):
            files.append(File.generated(config, str(path.with_suffix(suffix)), content=content))
    return files


def fill_in(markdown: str) -> str:
    """Put the gallery of all ids, and their floors, into the overview, see `marked.fill_in`."""
    results = json.loads((Path(__file__).parents[1] / "results/floors.json").read_text("utf-8"))
    cards, rows = [], []
    for name, bank in ENVIRONMENTS.items():
        (row,) = [each for each in by(name, results, "grade") if "all" in each]
        path, share = page_of(name), row[-1].partition(" (")[0]
        picture = f"![{name}]({path.with_suffix('.png').as_posix()}){{ loading=lazy }}"
        told = f"{extent_of(bank)} blanks<br>singles solve {share}"
        cards.append(f"[{picture}<br>`{name}`]({path.as_posix()})<br>{told}")
        rows.append([f"`{name}`", *row[1:]])
    parts = {"gallery": "\n\n".join(cards), "floors": markdown_table(["id", *_HEADS[1:]], rows)}
    return marked.fill_in(markdown, "environments", parts)


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


def film(name: str) -> tuple[bytes, bytes, str]:
    """Return a GIF of a game on the first test puzzle of seed 0, a PNG of that, and the outcome."""
    blanks = FILMED_BLANKS.get(name)
    env = make(name, split="test", augment=False, blanks=blanks)
    game = Game(load_policy(PLAYER), env.reset(seed=0)[0], env.geometry, heat=False)
    width = _WIDTH.get(env.geometry.size, 360)
    pictures = [Image.fromarray(game.draw(width)) for _ in game.play()]
    moves = ceil(len(pictures) / _FRAMES)
    first, *others = (*pictures[:-1:moves], pictures[-1])
    file, still = io.BytesIO(), io.BytesIO()
    first.save(still, "PNG")
    first.save(file, "GIF", save_all=True, append_images=others, duration=250, loop=0)
    told = f"`{PLAYER}`, greedy, seed 0, on a puzzle of the test split "
    told += f"{f'with {blanks} blanks' if blanks else 'as stored'}: {game.result}"
    told += f"; every frame is {moves} moves." if moves > 1 else "."
    return file.getvalue(), still.getvalue(), told


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


def floors_of(name: str, results: Results) -> str:
    """Return the table of the floors of an id, by grade and by number of blanks."""
    rows = by(name, results, "grade")
    rows += [[f"{blanks} blanks", *row] for blanks, *row in by(name, results, "blanks")]
    if not rows:
        raise ValueError(f"there are no floors of {name}: run benchmarks/floors.py")
    return markdown_table(_HEADS, rows)


def by(name: str, results: Results, kind: str) -> list[list[str]]:
    """Return the floors of an id by grade or number of blanks: puzzles, and a share a policy."""
    rows: dict[Any, list[str]] = {}
    for row in results["rows"]:
        if row["environment"] == name and kind in row:
            cells = rows.setdefault(row[kind], [str(row[kind]), f"{row['count']:,}"])
            share = 100 * row["solved"] / row["count"]
            cells.append(f"{share:.1f} % ({row['low']:.1f}-{row['high']:.1f})")
    return list(rows.values())


def description() -> str:
    """Return the description that the docstring of the environment holds."""
    text = inspect.getdoc(SudokuEnv) or ""
    part = text[text.index("## Description") : text.index("Raises:")]
    # Without an empty line before it a list is none in Markdown.
    return re.sub(r"^(?!- |  )(.+)\n- ", r"\1\n\n- ", part, flags=re.MULTILINE).strip()
