"""`sudoku-gym app`: a page on which policies play, on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import UseAppendAction, arg

from sudoku_gym import plugins


@dataclass(frozen=True)
class App:
    """Show a page on which policies play side by side, move by move, with what they think."""

    policy: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(
            help="Offer this one too: an installed policy with options, module:attribute, or the "
            "folder of a checkpoint. Visitors choose among what is installed and these, and can't "
            "name others. May be given several times."
        ),
    ] = ()
    trust: bool = False
    """Let the folder of a checkpoint name any code as its agent, and run it."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 shows the page to everyone who reaches this machine."""
    port: int = 7860
    """Port to listen at; 0 takes a free one."""

    def run(self) -> int:
        """Serve until interrupted."""
        if not 0 <= self.port < 2**16:
            raise ValueError(f"port={self.port}: use 0 to {2**16 - 1}")
        with plugins.naming_the_extra("sudoku-gym app"):
            from sudoku_gym.app.page import serve
        from sudoku_gym.app.choices import OfferedPolicies

        serve(OfferedPolicies(self.policy, self.trust), self.host, self.port)
        return 0
