"""The compiled rounds as a function that torch can differentiate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from sudoku_learning.networks.factor_graph.backward import backward
from sudoku_learning.networks.factor_graph.forward import Arrays, forward
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.recurrent_state import (
    Beginning,
    RecurrentState,
    empty,
    join,
    nothing,
    split,
)
from sudoku_learning.networks.factor_graph.reference import Weights
from sudoku_learning.networks.factor_graph.vectors import LANES

# mypy: disable-error-code="no-untyped-call"


def run_rounds(
    weights: Weights,
    graph: FactorGraph,
    rounds: int,
    all_rounds: bool,
    parts: Sequence[RecurrentState | None] | None = None,
) -> tuple[Tensor, Tensor, list[RecurrentState]]:
    """Return what `reference.run_rounds` returns, for float32 weights on the CPU."""
    channels = len(weights.start)
    beginning = join(parts, graph, channels)
    kept = nothing(channels) if parts is None else empty(graph, channels)
    placements, constraints = _Rounds.apply(graph, beginning, kept, rounds, all_rounds, *weights)
    return placements, constraints, [] if parts is None else split(kept, graph)


class _Rounds(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        graph: FactorGraph,
        beginning: Beginning,
        kept: RecurrentState,
        rounds: int,
        all_rounds: bool,
        *tensors: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.graph, ctx.rounds, ctx.all_rounds = graph, rounds, all_rounds
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        channels = len(tensors[0])
        arrays = _pack(Weights(*tensors))
        depth, width = rounds if all_rounds else 1, len(arrays.start)
        sizes = (depth, len(graph.positions), width), (depth, len(graph.first_seat) - 1, width)
        placements, constraints = (torch.empty(size, dtype=torch.float32) for size in sizes)
        ctx.beginning = beginning.is_fresh, _flat(beginning.memory, width)
        memory = _flat(kept, width)
        forward(
            graph,
            arrays,
            ctx.beginning,
            rounds,
            all_rounds,
            _rows(placements),
            _rows(constraints),
            memory,
        )
        if width > channels:  # else it was written where it belongs
            for array, flat in zip(kept, memory, strict=True):
                array[:] = flat.reshape(-1, width)[:, :channels]
        return placements[..., :channels], constraints[..., :channels]

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_placements: Tensor | None, of_constraints: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        weights = Weights(*ctx.saved_tensors)
        arrays = _pack(weights)
        grads = Arrays(*(np.zeros_like(array) for array in arrays))
        width, depth = len(arrays.start), ctx.rounds if ctx.all_rounds else 1
        backward(
            ctx.graph,
            arrays,
            _transpose(arrays),
            ctx.beginning,
            ctx.rounds,
            ctx.all_rounds,
            _grad_rows(of_placements, depth, width),
            _grad_rows(of_constraints, depth, width),
            grads,
        )
        return None, None, None, None, None, *_unpack(grads, weights)


def _rows(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().flatten(1).numpy()


def _grad_rows(grad: Tensor | None, depth: int, width: int) -> NDArray[np.float32]:
    """The derivatives as flat rows of padded width, `[R, count * H]`; `[R, 0]` for none."""
    if grad is None:
        return np.empty((depth, 0), np.float32)
    padded = torch.nn.functional.pad(grad, (0, width - grad.shape[-1]))
    return _rows(padded.contiguous())


def _flat(memory: RecurrentState, width: int) -> tuple[NDArray[np.float32], ...]:
    """Return the arrays of a memory as the kernels want them, flat and of padded width."""
    spare = width - memory.states.shape[1]
    if not spare:
        return tuple(array.ravel() for array in memory)
    return tuple(np.pad(array, ((0, 0), (0, spare))).ravel() for array in memory)


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
