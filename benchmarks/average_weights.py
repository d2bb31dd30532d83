"""The mean of the weights of several checkpoints of one network, as a checkpoint that plays.

python benchmarks/average_weights.py runs/mine/checkpoints/0000{62,64,66} --out runs/average
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro
from safetensors.torch import save_file

from sudoku_gym.storage.atomic import atomic_write, write_json
from sudoku_learning.training.checkpoint import CONFIG_FILE, WEIGHTS, read_to_play


@dataclass(frozen=True)
class Config:
    """What to average."""

    checkpoints: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """folders of checkpoints; the first one's configuration is kept"""
    out: Path
    """a new folder"""


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    settings, weights = zip(*map(read_to_play, config.checkpoints), strict=True)
    shapes = [{name: each.shape for name, each in found.items()} for found in weights]
    if any(found != shapes[0] for found in shapes):
        raise SystemExit("give checkpoints of one network: their tensors differ")
    mean = {name: torch.stack([each[name] for each in weights]).mean(0) for name in shapes[0]}
    config.out.mkdir(parents=True)
    with atomic_write(config.out / WEIGHTS) as path:
        save_file(mean, path)
    write_json(config.out / CONFIG_FILE, settings[0])


if __name__ == "__main__":
    main()
