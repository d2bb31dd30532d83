"""`sudoku-gym plot`: the curves of runs as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sudoku_gym import plugins


@dataclass(frozen=True)
class Plot:
    """Draw the curves of runs that TensorBoard shows; several seeds as mean and band."""

    runs: Positional[tuple[Path, ...]]
    """Folders of runs, or folders with several runs below them."""
    out: Path = Path("curves.png")
    """The PNG to write."""
    compare: bool = False
    """Draw a line for each folder; else all runs are seeds of one."""

    def run(self) -> int:
        """Draw."""
        with plugins.naming_the_extra("plot"):
            plugins.load(plugins.PLOTTERS, "curves")(self.runs, self.out, compare=self.compare)
        print(f"Wrote {self.out}")
        return 0
