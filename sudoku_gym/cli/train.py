"""`sudoku-gym train`: hand the arguments on to a trainer."""

from __future__ import annotations

from dataclasses import dataclass

from tyro.conf import Positional

from sudoku_gym import plugins


@dataclass(frozen=True)
class Train:
    """Train an agent: `sudoku-gym train calphazero --help` shows a trainer's own options."""

    trainer: Positional[str] = ""
    """Name of the trainer; leave it out for the list of those installed."""
    arguments: Positional[tuple[str, ...]] = ()
    """Passed on to the trainer as they are."""

    def run(self) -> int:
        """Find the trainer and run its main function on the arguments."""
        trainers = plugins.available(plugins.TRAINERS)
        if not self.trainer:
            print("Trainers:", ", ".join(trainers) or "none is installed")
            return 0
        if self.trainer not in trainers:
            raise ValueError(f"no trainer {self.trainer!r}: use {plugins.listing(trainers)}")
        main = plugins.load(plugins.TRAINERS, self.trainer)
        with plugins.naming_the_extra(f"train {self.trainer}"):
            return int(main(list(self.arguments)) or 0)
