"""A page for each environment id, made while the site is built.

Spaces and limits are read off the environments, the text is the docstring of `SudokuEnv`, the
floors are the rows of `docs/results/floors.md`, and the film is a game that the network of the
package plays now.
"""

from __future__ import annotations

import inspect
import io
import re
from math import ceil
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from PIL import Image

from sudoku_gym import SudokuEnv, load_policy, puzzles
from sudoku_gym.registration import ENVIRONMENTS

ABOUT = {
    "Sudoku4x4-v0": "The smallest board, for first steps and for tables. Naked singles solve every "
    "minimal puzzle of this size, so a figure on it shows that a learner works, and no more.",
    "Sudoku6x6-v0": "Boxes are 2 cells high and 3 wide, so rows and columns are not alike. Puzzles "
    "are few: this size is good for trying out, and for playing what was trained on another one.",
    "Sudoku9x9-v0": "The usual Sudoku. This is the board on which learning is claimed: about half "
    "of the minimal puzzles take more than singles.",
    "SudokuHard9x9-v0": "The usual board, with puzzles that were changed until a solver needed "
    "many guesses. Singles solve next to none of them.",
    "SudokuHardest9x9-v0": "The usual board, with puzzles found by a long search, for which a "
    "solver guesses twice as often as for those of `SudokuHard9x9-v0`.",
    "Sudoku16x16-v0": "Sixteen digits, `1` to `9` and `A` to `G`, in boxes of 4x4. It shows "
    "whether what was learned on small boards carries over to large ones.",
    "Sudoku25x25-v0": "Twenty-five digits, `1` to `9` and `A` to `P`, in boxes of 5x5. With 15,625 "
    "placements a step is bound by memory: leave the mask out (`with_mask=False`) if your agent "
    "finds candidates by itself.",
    "SudokuX9x9-v0": "The usual board with both main diagonals as further units.",
    "SudokuWindows9x9-v0": "The usual board with four windows of 3x3 as further units, also called "
    "Hyper Sudoku.",
    "SudokuJigsaw9x9-v0": "Connected regions of nine cells in place of boxes.",
    "LatinSquare9x9-v0": "Rows and columns alone, no boxes.",
}
FLOORS = "results/floors.md"
PLAYER = "expert-iteration"
FILMED_BLANKS = {"Sudoku16x16-v0": 140, "Sudoku25x25-v0": 300}  # of the leaderboard; else as stored
_FRAMES, _WIDTH = 40, {16: 544, 25: 750}  # frames of a film at most; pixels of large boards


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, their pictures and their films to the files of the site."""
    floors = (Path(config.docs_dir) / FLOORS).read_text(encoding="utf-8")
    changes = (Path(config.config_file_path).parent / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in ENVIRONMENTS:
        path, (movie, told) = page_of(name), film(name)
        text = page(name, told, floors, since(name, changes))
        for suffix, content in {".md": text, ".png": portrait(name), ".gif": movie}.items():
            where = path.with_suffix(suffix).as_posix()
            files.append(File.generated(config, where, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Link the ids in the table of the overview; where the pages are not built it has no links."""
    if page.file.src_uri == "environments.md":
        for name in ENVIRONMENTS:
            link = f"[`{name}`]({page_of(name).as_posix()})"
            markdown = markdown.replace(f"| `{name}` |", f"| {link} |")
    return markdown


def page_of(name: str) -> Path:
    """Return where the page of an id lies in the site."""
    return Path("environments") / f"{name.removesuffix('-v0').lower()}.md"


def make(name: str, **options: Any) -> SudokuEnv:
    """Make an environment and take Gymnasium's wrappers off."""
    env = gym.make(name, **options).unwrapped
    assert isinstance(env, SudokuEnv)
    return env


def portrait(name: str) -> bytes:
    """Draw a puzzle of the test split with its candidates, as PNG."""
    env = make(name, split="test", augment=False, render_mode="rgb_array")
    env.reset(seed=0)
    file = io.BytesIO()
    Image.fromarray(env.render()).quantize(64).save(file, "PNG", optimize=True)
    return file.getvalue()


def film(name: str) -> tuple[bytes, str]:
    """Return a GIF of a game on the first test puzzle that seed 0 draws, and how it ended."""
    blanks, policy = FILMED_BLANKS.get(name), load_policy(PLAYER)
    env = make(name, split="test", augment=False, blanks=blanks, render_mode="rgb_array")
    board, info = env.reset(seed=0)
    policy.reset(board[None], env.geometry, np.random.default_rng(0))
    size = 2 * (_WIDTH.get(env.geometry.size, 360),)
    frames, is_over = [Image.fromarray(env.render()).resize(size)], False
    while not is_over:
        action = policy.act(board[None], info["action_mask"][None].astype(bool))[0]
        board, _, terminated, truncated, info = env.step(action)
        is_over = terminated or truncated
        frames.append(Image.fromarray(env.render()).resize(size))
    moves = ceil(len(frames) / _FRAMES)
    first, *others = [*frames[:-1:moves], frames[-1]]
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=250, loop=0)
    told = f"`{PLAYER}`, greedy, seed 0, on a puzzle of the test split"
    told += f" with {blanks} blanks" if blanks else ", as stored"
    told += ": solved" if (board > 0).all() else ": not solved"
    return file.getvalue(), told + (f"; every frame is {moves} moves." if moves > 1 else ".")


def since(name: str, changes: str) -> str:
    """Return the release whose part of the changelog names an id first, the oldest if none does."""
    parts = re.split(r"^## \[(.+?)\].*$", changes, flags=re.MULTILINE)[1:]
    releases = list(zip(parts[::2], parts[1::2], strict=True))[::-1]
    named = (release for release, text in releases if f"`{name}`" in text)
    return next(named, releases[0][0])


def page(name: str, told: str, floors: str, release: str) -> str:
    """Write the page of an id in Markdown; `told` describes its film."""
    env, bank = make(name), ENVIRONMENTS[name]
    splits = ", ".join(f"{len(puzzles.load(bank, part)):,} {part}" for part in puzzles.SPLITS)
    blanks = puzzles.load(bank).blanks
    extent = f"{blanks.min()} to {blanks.max()}" if blanks.min() < blanks.max() else blanks.min()
    facts = {
        "Board": f"{env.geometry.name}, {len(env.geometry.units)} units",
        "Observation space": f"`{env.observation_space}`",
        "Action space": f"`{env.action_space}`",
        "with `erase=True`": f"`{make(name, erase=True).action_space}`",
        "Puzzles": f"[bank `{bank}`](../puzzles.md#banks): {splits}",
        "Blanks": f"{extent} as stored; `blanks=` takes 1 to {blanks.max()}",
        "Truncated after": f"{env.max_steps} steps "
        f"({make(name, erase=True).max_steps} with `erase=True`)",
    }
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    return f"""# {name}

{ABOUT[name]}

![A puzzle of the test split with its candidates]({page_of(name).stem}.png){{ .board }}

```python
env = gym.make("{name}")
envs = gym.make_vec("{name}", num_envs=1024)  # one compiled call steps them all
```

| | |
|---|---|
{rows}

The code of both is [`SudokuEnv`][sudoku_gym.envs.SudokuEnv] and
[`SudokuVectorEnv`][sudoku_gym.envs.SudokuVectorEnv]. N is {env.geometry.size} here.

## A game

![The network of the package fills a board]({page_of(name).stem}.gif){{ .board loading=lazy }}

*{told}* `sudoku-gym watch {bank} --policy {PLAYER}` shows another one,
[the leaderboard](../leaderboard.md) has the shares.

## Floors

What needs no learning: share of test puzzles solved entirely, with its 95 % interval. A learner has
learned something where it beats the last column. With a number of blanks they are the same puzzles
with cells revealed. [Floors](../results/floors.md) has the command.

{rows_of(name, floors)}

{description("## Description", "## Version History")}

## Version History

| version | since release | changes |
|---|---|---|
| v0 | {release} | {description("- v0: ", "Attributes:").removeprefix("- v0: ").strip()} |

A version moves only when the behaviour of its environment does, never for speed.
[The changelog](../changelog.md) has everything else.
"""


def rows_of(name: str, floors: str) -> str:
    """Return the rows of an id in the tables of the floors, without the column of the id."""
    head = "| puzzles with | count | masked-random | naked singles | naked + hidden singles |"
    rows = [head, "|---|---:|---:|---:|---:|"]
    by_grade, _, by_blanks = floors.partition("## By number of blanks")
    for part, what in ((by_grade, "grade {}"), (by_blanks, "{} blanks")):
        for line in part.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            if cells[0] == f"`{name}`":
                about = "all, as stored" if cells[1] == "all" else what.format(cells[1])
                rows.append(f"| {' | '.join([about, *cells[2:]])} |")
    if len(rows) == 2:
        raise ValueError(f"{FLOORS} has no row of {name}: run benchmarks/floors.py again")
    return "\n".join(rows)


def description(start: str, end: str) -> str:
    """Return the docstring of the environment from one place up to another."""
    text = inspect.getdoc(SudokuEnv) or ""
    part = text[text.index(start) : text.index(end)]
    # Without an empty line before it a list is none in Markdown.
    return re.sub(r"^(?!- |  )(.+)\n- ", r"\1\n\n- ", part, flags=re.MULTILINE)
