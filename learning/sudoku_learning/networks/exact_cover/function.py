"""The compiled rounds as a function that torch can differentiate."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from sudoku_learning.networks.exact_cover.backward import backward
from sudoku_learning.networks.exact_cover.forward import Arrays, forward
from sudoku_learning.networks.exact_cover.graph import ExactCoverGraph
from sudoku_learning.networks.exact_cover.reference import Weights
from sudoku_learning.networks.exact_cover.vectors import LANES

# mypy: disable-error-code="no-untyped-call"


def run_rounds(
    weights: Weights, graph: ExactCoverGraph, rounds: int, every_round: bool
) -> tuple[Tensor, Tensor]:
    """Return what `reference.run_rounds` returns, for float32 weights on the CPU."""
    placements, constraints = _Rounds.apply(graph, rounds, every_round, *weights)
    return placements, constraints


class _Rounds(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, graph: ExactCoverGraph, rounds: int, every_round: bool, *tensors: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.graph, ctx.rounds, ctx.every_round = graph, rounds, every_round
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        channels = len(tensors[0])
        arrays = _pack(Weights(*tensors))
        kept, width = rounds if every_round else 1, len(arrays.start)
        sizes = (kept, len(graph.positions), width), (kept, len(graph.first_seat) - 1, width)
        placements, constraints = (torch.empty(size, dtype=torch.float32) for size in sizes)
        forward(graph, arrays, rounds, every_round, _rows(placements), _rows(constraints))
        return placements[..., :channels], constraints[..., :channels]

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_placements: Tensor | None, of_constraints: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        weights = Weights(*ctx.saved_tensors)
        arrays = _pack(weights)
        grads = Arrays(*(np.zeros_like(array) for array in arrays))
        width, kept = len(arrays.start), ctx.rounds if ctx.every_round else 1
        backward(
            ctx.graph,
            arrays,
            _transpose(arrays),
            ctx.rounds,
            ctx.every_round,
            _grad_rows(of_placements, kept, width),
            _grad_rows(of_constraints, kept, width),
            grads,
        )
        return None, None, None, *_unpack(grads, weights)


def _rows(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().flatten(1).numpy()


def _grad_rows(grad: Tensor | None, kept: int, width: int) -> NDArray[np.float32]:
    """The derivatives as flat rows of padded width, `[R, count * H]`; `[R, 0]` for none."""
    if grad is None:
        return np.empty((kept, 0), np.float32)
    padded = torch.nn.functional.pad(grad, (0, width - grad.shape[-1]))
    return _rows(padded.contiguous())


def _pack(weights: Weights) -> Arrays:
    """Copy the weights into flat arrays of padded width, matrices with a row for each input."""
    channels = len(weights.start)
    arrays = (tensor.detach().numpy() for tensor in weights)
    return Arrays(*(_padded(array, channels).ravel() for array in arrays))


def _padded(array: NDArray[np.float32], channels: int) -> NDArray[np.float32]:
    """Transpose an array of blocks of `channels`, each padded to whole vectors."""
    blocks = array.reshape(*(n for side in array.shape for n in (side // channels, channels)))
    spare = -channels % LANES
    blocks = np.pad(blocks, [(0, spare * (axis % 2)) for axis in range(blocks.ndim)])
    blocks = np.moveaxis(blocks, [0, 1], [-2, -1])
    return np.ascontiguousarray(blocks)


def _transpose(arrays: Arrays) -> Arrays:
    width = len(arrays.start)
    bias = {"message": width, "gate": 2 * width, "view_gate": 2 * width}
    return arrays._replace(
        **{
            name: np.ascontiguousarray(getattr(arrays, name).reshape(-1, outputs).T).ravel()
            for name, outputs in bias.items()
        }
    )


def _unpack(grads: Arrays, weights: Weights) -> list[Tensor]:
    """Undo `_pack`: the derivatives in the shapes of the weights."""
    channels, width = len(weights.start), len(grads.start)
    tensors = []
    for grad, weight in zip(grads, weights, strict=True):
        shape = [n for side in weight.shape[::-1] for n in (side // channels, width)]
        blocks = torch.from_numpy(grad).view(shape)
        if weight.ndim == 2:
            blocks = blocks.permute(2, 3, 0, 1)[:, :channels, :, :channels]
        else:
            blocks = blocks[:, :channels]
        tensors.append(blocks.reshape(weight.shape))
    return tensors
