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
from torch.nn.functional import pad

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
    RecurrentState,
    join_states,
    split_states,
    zero_states,
)
from sudoku_learning.networks.factor_graph.reference import LayerWeights
from sudoku_learning.networks.factor_graph.vectors import LANES

# mypy: disable-error-code="no-untyped-call"

_SHARES_PER_THREAD = 8  # boards take 16 to thousands of rounds, so shares of equal size do not
_ALL_ROUNDS = Until(np.empty(0, np.float32), np.float32(0), np.float32(0), 1)
_NO_OUTCOME = RoundsOutcome(np.empty(0, np.int64), np.empty(0, np.int64))


def run_rounds(
    weights: LayerWeights,
    graph: FactorGraph,
    rounds: int,
    all_rounds: bool,
    states: Sequence[RecurrentState | None] | None = None,
    until: Until = _ALL_ROUNDS,
    outcome: RoundsOutcome = _NO_OUTCOME,
) -> tuple[Tensor, Tensor, list[RecurrentState]]:
    """Do what `reference.run_rounds` does, for float32 weights on the CPU.

    With a readout in `until` there are no derivatives, and `outcome` is filled in.
    """
    channels = len(weights.start)
    packed = [_packed(weight, channels) for weight in weights]
    width, kept = len(packed[0]), None if states is None else graph
    is_new, joined = join_states(states, graph, channels, width)
    initial = is_new, tuple(array.ravel() for array in joined)
    final = zero_states(kept, width)
    flat = tuple(array.ravel() for array in final)
    depth = rounds if all_rounds else 1
    outputs = _Rounds.apply(graph, initial, rounds, depth, flat, until, outcome, *packed)
    variables, factors = (output[..., :channels] for output in outputs)
    if states is None:
        return variables, factors, []
    ends = RecurrentState(*(np.ascontiguousarray(array[:, :channels]) for array in final))
    return variables, factors, split_states(ends, graph)


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
    numbers = _packed(readout.weight.detach()[0], len(weights.start)).numpy()
    until = Until(numbers, np.float32(readout.bias.item()), np.float32(margin), segment)
    outcome = RoundsOutcome(*np.zeros((2, len(graph.board_variable_ptr) - 1), np.int64))
    return *run_rounds(weights, graph, rounds, False, states, until, outcome), outcome


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
    """The kernels: `forward`'s arguments, and the arrays of `PackedWeights` as tensors."""

    @staticmethod
    def forward(
        ctx: Any,
        graph: FactorGraph,
        initial: tuple[NDArray[np.bool_], tuple[NDArray[np.float32], ...]],
        rounds: int,
        depth: int,
        states: tuple[NDArray[np.float32], ...],
        until: Until,
        outcome: RoundsOutcome,
        *packed: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.given, ctx.depth = (graph, initial, rounds), depth
        ctx.save_for_backward(*packed)
        ctx.set_materialize_grads(False)
        weights = _arrays(packed)
        width = len(weights.start)
        variables = torch.empty(depth, len(graph.positions), width, dtype=torch.float32)
        factors = torch.empty(depth, len(graph.factor_ptr) - 1, width, dtype=torch.float32)
        outputs = Outputs(_rows(variables), _rows(factors))
        given = graph, weights, initial, rounds, outputs, states, until, outcome
        _share(len(graph.board_variable_ptr) - 1, lambda first, end: forward(*given, first, end))
        return variables, factors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *output_grads: Tensor | None) -> tuple[Tensor | None, ...]:
        (graph, initial, rounds), weights = ctx.given, _arrays(ctx.saved_tensors)
        none = np.empty((ctx.depth, 0), np.float32)
        outputs = Outputs(*(none if grad is None else _rows(grad) for grad in output_grads))
        grads = PackedWeights(*(np.zeros_like(array) for array in weights))
        backward(graph, weights, _transposed(weights), initial, rounds, outputs, grads)
        return *[None] * 7, *(torch.from_numpy(grad) for grad in grads)


def _rows(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().flatten(1).contiguous().numpy()


def _arrays(packed: Sequence[Tensor]) -> PackedWeights:
    return PackedWeights(*(tensor.detach().numpy() for tensor in packed))


def _packed(weight: Tensor, channels: int) -> Tensor:
    """Return a weight flat, a row for each input, with blocks of channels padded to vectors."""
    spare, weight = -channels % LANES, weight.t()
    if spare:
        blocks = [n for side in weight.shape for n in (side // channels, channels)]
        weight = pad(weight.reshape(blocks), (0, spare, 0, 0) * weight.ndim)
    return weight.flatten()


def _transposed(packed: PackedWeights) -> PackedWeights:
    width = len(packed.start)
    outputs_of = {"message": width, "gate": 2 * width, "intersection_gate": 2 * width}
    matrices = {name: getattr(packed, name).reshape(-1, n) for name, n in outputs_of.items()}
    return packed._replace(
        **{name: np.ascontiguousarray(matrix.T).ravel() for name, matrix in matrices.items()}
    )
