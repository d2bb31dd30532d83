"""The compiled rounds as a function that torch can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from sudoku_learning.networks.factor_graph.backward import backward
from sudoku_learning.networks.factor_graph.forward import (
    Outputs,
    PackedWeights,
    RoundsOutcome,
    Until,
    forward,
)
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.recurrent_state import (
    InitialStates,
    RecurrentState,
    empty_states,
    join_states,
    split_states,
)
from sudoku_learning.networks.factor_graph.reference import LayerWeights
from sudoku_learning.networks.factor_graph.vectors import LANES

# mypy: disable-error-code="no-untyped-call"


def run_rounds(
    weights: LayerWeights,
    graph: FactorGraph,
    rounds: int,
    all_rounds: bool,
    states: Sequence[RecurrentState | None] | None = None,
) -> tuple[Tensor, Tensor, list[RecurrentState]]:
    """Do what `reference.run_rounds` does, for float32 weights on the CPU."""
    channels = len(weights.start)
    initial = join_states(states, graph, channels)
    final = empty_states(None if states is None else graph, channels)
    depth = rounds if all_rounds else 1
    variables, factors = _Rounds.apply(graph, initial, final, rounds, depth, *weights)
    return variables, factors, [] if states is None else split_states(final, graph)


def run_until_converged(
    weights: LayerWeights,
    graph: FactorGraph,
    rounds: int,
    readout: torch.nn.Linear,
    margin: float,
    segment: int,
    states: Sequence[RecurrentState | None] | None = None,
) -> tuple[Tensor, Tensor, list[RecurrentState], RoundsOutcome]:
    """Run the rounds of each board until it has converged, at most `rounds`; no derivatives.

    After each segment of rounds the logits are looked at, which the readout makes of the states;
    a board stops once none is closer to 0 than the margin.
    """
    packed = _pack(weights)
    channels, width = len(weights.start), len(packed.start)
    numbers = np.zeros(width, np.float32)
    numbers[:channels] = readout.weight.detach()[0].numpy()
    until = Until(numbers, np.float32(readout.bias.item()), np.float32(margin), segment)
    count = len(graph.board_variable_ptr) - 1
    outcome = RoundsOutcome(np.zeros(count, np.int64), np.zeros(count, np.int64))
    initial, final = join_states(states, graph, channels), empty_states(None, channels)
    if states is not None:
        final = empty_states(graph, channels)
    given = graph, packed, initial, final, rounds, 1, until, outcome
    variables, factors = _run(*given)
    found = [] if states is None else split_states(final, graph)
    return variables[..., :channels], factors[..., :channels], found, outcome


_SHARES_PER_THREAD = 8  # boards take 16 to thousands of rounds, so shares of equal size do not
_ALL_ROUNDS = Until(np.empty(0, np.float32), np.float32(0), np.float32(0), 1)
_NO_OUTCOME = RoundsOutcome(np.empty(0, np.int64), np.empty(0, np.int64))


def _run(
    graph: FactorGraph,
    packed: PackedWeights,
    initial: InitialStates,
    final: RecurrentState,
    rounds: int,
    depth: int,
    until: Until = _ALL_ROUNDS,
    outcome: RoundsOutcome = _NO_OUTCOME,
) -> tuple[Tensor, Tensor]:
    """Return the outputs of the kernel, of padded width, and fill in the final states."""
    width, channels = len(packed.start), final.variables.shape[1]
    variables = torch.empty((depth, len(graph.positions), width), dtype=torch.float32)
    factors = torch.empty((depth, len(graph.factor_ptr) - 1, width), dtype=torch.float32)
    flat_initial = initial.is_new, _flat(initial.states, width)
    outputs, states = Outputs(_rows(variables), _rows(factors)), _flat(final, width)
    given = graph, packed, flat_initial, rounds, outputs, states, until, outcome
    _share(len(graph.board_variable_ptr) - 1, lambda first, end: forward(*given, first, end))
    if width > channels:  # otherwise `states` are views of `final`
        for array, flat in zip(final, states, strict=True):
            array[:] = flat.reshape(-1, width)[:, :channels]
    return variables, factors


def _share(count: int, run: Callable[[int, int], None]) -> None:
    """Run the boards 0 to `count` on `torch.get_num_threads()` threads, a few at a time.

    No board knows of another, so the results are the same to the bit on any number of threads.
    """
    threads = min(torch.get_num_threads(), count)
    if threads <= 1:
        return run(0, count)
    firsts = range(0, count, -(-count // (_SHARES_PER_THREAD * threads)))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda first: run(first, min(first + firsts.step, count)), firsts))


class _Rounds(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        graph: FactorGraph,
        initial: InitialStates,
        final: RecurrentState,
        rounds: int,
        depth: int,
        *tensors: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.graph, ctx.rounds, ctx.depth = graph, rounds, depth
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        channels = len(tensors[0])
        packed = _pack(LayerWeights(*tensors))
        ctx.initial = initial.is_new, _flat(initial.states, len(packed.start))
        variables, factors = _run(graph, packed, initial, final, rounds, depth)
        return variables[..., :channels], factors[..., :channels]

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad_variables: Tensor | None, grad_factors: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        weights = LayerWeights(*ctx.saved_tensors)
        packed = _pack(weights)
        grads = PackedWeights(*(np.zeros_like(array) for array in packed))
        width = len(packed.start)
        both = (grad_variables, grad_factors)
        output_grads = Outputs(*(_grad_rows(grad, ctx.depth, width) for grad in both))
        transposed = _transpose(packed)
        backward(ctx.graph, packed, transposed, ctx.initial, ctx.rounds, output_grads, grads)
        return None, None, None, None, None, *_unpack(grads, weights)


def _rows(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().flatten(1).numpy()


def _grad_rows(grad: Tensor | None, depth: int, width: int) -> NDArray[np.float32]:
    """The derivatives as flat rows of padded width, `[R, count * H]`; `[R, 0]` for none."""
    if grad is None:
        return np.empty((depth, 0), np.float32)
    padded = torch.nn.functional.pad(grad, (0, width - grad.shape[-1]))
    return _rows(padded.contiguous())


def _flat(states: RecurrentState, width: int) -> tuple[NDArray[np.float32], ...]:
    """Return the arrays of states as the kernels want them, flat and of padded width."""
    spare = width - states.variables.shape[1]
    if not spare:
        return tuple(array.ravel() for array in states)
    return tuple(np.pad(array, ((0, 0), (0, spare))).ravel() for array in states)


def _pack(weights: LayerWeights) -> PackedWeights:
    """Copy the weights into flat arrays of padded width, matrices with a row for each input."""
    channels = len(weights.start)
    arrays = (tensor.detach().numpy() for tensor in weights)
    return PackedWeights(*(_padded(array, channels).ravel() for array in arrays))


def _padded(array: NDArray[np.float32], channels: int) -> NDArray[np.float32]:
    """Transpose an array of blocks of `channels`, each padded to whole vectors."""
    spare = -channels % LANES
    if not spare:
        return np.ascontiguousarray(array.T)
    blocks = array.reshape(*(n for side in array.shape for n in (side // channels, channels)))
    blocks = np.pad(blocks, [(0, spare * (axis % 2)) for axis in range(blocks.ndim)])
    blocks = np.moveaxis(blocks, [0, 1], [-2, -1])
    return np.ascontiguousarray(blocks)


def _transpose(packed: PackedWeights) -> PackedWeights:
    width = len(packed.start)
    outputs_of = {"message": width, "gate": 2 * width, "intersection_gate": 2 * width}
    matrices = {name: getattr(packed, name).reshape(-1, n) for name, n in outputs_of.items()}
    return packed._replace(
        **{name: np.ascontiguousarray(matrix.T).ravel() for name, matrix in matrices.items()}
    )


def _unpack(grads: PackedWeights, weights: LayerWeights) -> list[Tensor]:
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
