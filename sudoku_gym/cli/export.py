"""`sudoku-gym export`: a policy's network in a format that other programs run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sudoku_gym import plugins
from sudoku_gym.cli.puzzle_arguments import BankOrFile, read_puzzles
from sudoku_gym.policies import load_policy


@dataclass(frozen=True)
class Export:
    """Write the network of a policy as an ONNX file, and see that it plays the same moves."""

    policy: Positional[str]
    """A policy's name with options, or the folder of a checkpoint."""
    onnx: Path
    """The file to write."""
    puzzles: BankOrFile = "9x9"
    rounds: int = 32
    """Rounds of messages, always as many; the file grows with them, and takes some seconds each."""
    check: int = 200
    """Puzzles of the test split on which onnxruntime must play the network's moves; 0 for none."""
    trust: bool = False
    """Allow checkpoints to load and run arbitrary code."""

    def run(self) -> int:
        """Write and check; the exit code is 1 if the file plays other moves."""
        if self.check < 0:
            raise ValueError(f"check={self.check}: use 0 or more puzzles")
        puzzles = read_puzzles(self.puzzles, None, None)
        with plugins.suggest_extra("sudoku-gym export"):
            policy = load_policy(self.policy, trust=self.trust)
            export = plugins.load(plugins.EXPORTERS, "onnx")
            print(f"writing {self.rounds} rounds, some seconds each", file=sys.stderr)
            export(policy, self.onnx, puzzles.geometry, self.rounds)
            print(f"{self.onnx}: {puzzles.geometry.name}, {self.rounds} rounds")
            if not self.check:
                return 0
            check = plugins.load(plugins.EXPORTERS, "onnx-check")
            found = check(policy, self.onnx, puzzles[: self.check], self.rounds)
        same = found.positions - found.different
        print(
            f"onnxruntime plays the same move on {same:,} of {found.positions:,} boards of "
            f"{found.puzzles} puzzles; its logits differ by {found.largest_error:.1g} at most"
        )
        return 1 if found.different else 0
