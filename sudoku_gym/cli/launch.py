"""`sudoku-gym train`, `plot` and `app`: commands that hand over to another package or a server."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, UseAppendAction, arg

from sudoku_gym import plugins

_PLAY_AT_FIRST = ("calphazero", "hidden-singles")


@dataclass(frozen=True)
class Train:
    """Train an agent: `sudoku-gym train calphazero --help` shows a trainer's own options."""

    trainer: Positional[str] = ""
    """Name of the trainer; leave it out for the list of those installed."""
    arguments: Positional[tuple[str, ...]] = ()
    """Arguments of the trainer, passed on unchanged."""

    def run(self) -> int:
        """Find the trainer and run its main function on the arguments."""
        trainers = plugins.available(plugins.TRAINERS)
        if not self.trainer:
            print(_list_of_trainers(list(trainers)))
            return 0
        if self.trainer not in trainers:
            raise ValueError(f"no trainer {self.trainer!r}: use {plugins.join_names(trainers)}")
        main = plugins.load(plugins.TRAINERS, self.trainer)
        with plugins.suggest_extra(f"train {self.trainer}"):
            return int(main(list(self.arguments)) or 0)


def _list_of_trainers(names: list[str]) -> str:
    """Return a line for each trainer: its name, how long a run takes, and what it trains."""
    if not names:
        return f"No trainer is installed: {plugins.install_command('agents')}"
    lines: dict[str, tuple[str, str]] = {}
    for package in plugins.available(plugins.TRAINER_DESCRIPTIONS):
        try:
            found = plugins.load(plugins.TRAINER_DESCRIPTIONS, package)
            lines |= {name: (str(what), str(time)) for name, (what, time) in found.items()}
        except Exception as error:  # of another package
            warnings.warn(f"{package!r} describes no trainers: {error!r}", stacklevel=2)
    described = [name for name in lines if name in names]
    others = [name for name in names if name not in lines]
    width = max(map(len, names))
    return "\n".join(
        [
            "Trainers, and how long a typical run takes on one core:\n",
            *(f"  {name:{width}}  {lines[name][1]:>6}  {lines[name][0]}" for name in described),
            *(f"  {name}" for name in others),
            "\n`sudoku-gym train NAME --help` shows the options of one on a screen; all take "
            "--minutes, a limit.",
        ]
    )


@dataclass(frozen=True)
class Plot:
    """Draw the curves of runs that TensorBoard shows; several seeds as mean and band."""

    runs: Positional[tuple[Path, ...]]
    """Folders of runs, or folders with several runs below them."""
    out: Path | None = None
    """The PNG to write; if not given, curves.png, which must not be there yet."""
    compare: bool = False
    """Draw one line per folder; otherwise all runs are seeds of one line."""

    def run(self) -> int:
        """Draw."""
        out = self.out or Path("curves.png")
        if self.out is None and out.exists():
            raise ValueError(f"{out} is there already: name it with --out, or another")
        with plugins.suggest_extra("plot"):
            plugins.load(plugins.PLOTTERS, "curves")(self.runs, out, compare=self.compare)
        print(f"Wrote {out}")
        return 0


@dataclass(frozen=True)
class App:
    """Show a page on which policies play side by side, move by move."""

    policy: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(
            help="Offer this one too: an installed policy with options, module:attribute, or the "
            "folder of a checkpoint. The page offers what is installed and these. May be given "
            "several times; the first two play at once."
        ),
    ] = ()
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 shows the page to everyone who reaches this machine."""
    port: int = 7860
    """Port to listen at; 0 takes the first free one from 7860 on."""
    auth: str = ""
    """user:password that visitors must give."""

    def run(self) -> int:
        """Serve until interrupted."""
        user, colon, password = self.auth.partition(":")
        if self.auth and not (user and colon and password):
            raise ValueError("--auth: write user:password")
        with plugins.suggest_extra("sudoku-gym app"):
            from sudoku_gym.app.page import layout
        offered = [*self.policy, *plugins.available(plugins.POLICIES)]
        first = (*self.policy, *_PLAY_AT_FIRST)[:2]
        page = layout(offered, (first[0], first[1]), self.trust)
        page.launch(
            server_name=self.host,
            server_port=self.port or None,
            auth=(user, password) if self.auth else None,
            show_error=True,
        )
        return 0
