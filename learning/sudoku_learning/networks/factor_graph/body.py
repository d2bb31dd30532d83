"""The factor-graph body: one shared layer, many rounds, log-sum-exp messages; every board size.

Nothing in the graph tells one row, digit or board size from another, so the body is equivariant
under the whole symmetry group and does not know N. docs/design.md has the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.checks import check_counts, check_positive
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.factor_graph import function, reference
from sudoku_learning.networks.factor_graph.forward import RoundsOutcome
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState


@registered("factor-graph")
@dataclass(frozen=True)
class FactorGraphConfig:
    """One layer of log-sum-exp messages with shared weights, applied for many rounds."""

    channels: int = 16
    """width H of all states; multiples of 16 waste no work"""
    rounds: int = 16
    """rounds of messages while training"""
    test_rounds: int | None = None
    """rounds while evaluating, at most; None: as in training"""
    intersections: bool = False
    """give the intersections of two units states of their own"""
    convergence_margin: float | None = None
    """in play a board gets no more rounds once no logit is closer to 0 than this; for networks
    whose logits rate each placement for itself"""

    def __post_init__(self) -> None:
        check_counts(self, "channels", "rounds", "test_rounds")
        check_positive(self, "convergence_margin")

    def build(self, geometry: Geometry) -> FactorGraphBody:
        """Make the body; it plays boards of any geometry."""
        return FactorGraphBody(self)


class FactorGraphBody(nn.Module):
    """Message passing between variables (legal placements) and factors (open constraints).

    On the CPU in float32 the rounds are compiled kernels; elsewhere plain torch. Both compute the
    same, to rounding, and are deterministic on one thread.
    """

    def __init__(self, config: FactorGraphConfig) -> None:
        super().__init__()
        self.config = config
        channels = config.channels
        self.start = nn.Parameter(torch.randn(channels))
        self.gamma = nn.Parameter(torch.zeros(channels))
        self.message = nn.Linear(channels, channels)
        self.gate = nn.Linear((3 if config.intersections else 2) * channels, 2 * channels)
        if config.intersections:
            self.view_start = nn.Parameter(torch.randn(channels))
            self.view_gate = nn.Linear(3 * channels, 2 * channels)
        self._rounds: int | None = None

    @property
    def rounds(self) -> int:
        """Rounds of the next call: as set here, else (evaluating) `test_rounds`, else `rounds`."""
        if self._rounds is not None:
            return self._rounds
        if self.training or self.config.test_rounds is None:
            return self.config.rounds
        return self.config.test_rounds

    @rounds.setter
    def rounds(self, rounds: int | None) -> None:
        if rounds is not None and rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {rounds}")
        self._rounds = rounds

    @property
    def is_compiled(self) -> bool:
        """Whether the rounds are run by the compiled kernels."""
        return self.start.device.type == "cpu" and self.start.dtype == torch.float32

    def segments(self, rounds: int | None = None) -> list[int]:
        """Divide rounds, by default those of the next call, into segments as in training."""
        full, rest = divmod(rounds or self.rounds, self.config.rounds)
        return [self.config.rounds] * full + [rest] * (rest > 0)

    def forward(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        all_rounds: bool = False,
        recurrent_states: Sequence[RecurrentState | None] | None = None,
        rounds: int | None = None,
        graph: FactorGraph | None = None,
        readout: nn.Linear | None = None,
    ) -> FactorGraphFeatures:
        """Compute the features of boards of one geometry, see `Body`.

        A board without legal placements, or without open constraints, has no features. With the
        `readout` of logits, a board gets no more rounds once it has converged, and the features
        hold its outcome: without gradients, and only if the rounds are compiled. ValueError if
        boards, masks and geometry do not fit each other, or a recurrent state is another board's.
        """
        if graph is None:
            graph = FactorGraph.of(
                boards.cpu().numpy(), masks.cpu().numpy(), geometry, self.config.intersections
            )
        weights, most, outcome = self._weights(), rounds or self.rounds, None
        if readout is not None:
            margin = self.config.convergence_margin or 0.0
            variables, factors, states, outcome = function.run_until_converged(
                weights, graph, most, readout, margin, self.config.rounds, recurrent_states
            )
        else:
            run_rounds = function.run_rounds if self.is_compiled else reference.run_rounds
            variables, factors, states = run_rounds(
                weights, graph, most, all_rounds, recurrent_states
            )
        return FactorGraphFeatures(
            variables=variables,
            factors=factors,
            index=torch.from_numpy(graph.positions).to(variables.device),
            factor_offsets=torch.from_numpy(graph.board_factor_ptr[:-1]).to(variables.device),
            shape=(masks.shape[0], masks.shape[1]),
            graph=graph,
            recurrent_states=states,
            outcome=outcome,
        )

    def placement_readout(self, width: int) -> PlacementReadout:
        """Return a new readout of placements: features to `[R, P, width]`."""
        return PlacementReadout(self.config.channels, width)

    def board_readout(self, width: int, extensive: bool = False) -> BoardReadout | ExtensiveReadout:
        """Return a new readout of boards: features to `[R, B, width]`."""
        make = ExtensiveReadout if extensive else BoardReadout
        return make(self.config.channels, width)

    def _weights(self) -> reference.LayerWeights:
        none = self.start.new_empty(0)
        extra = (none, none.view(0, 3 * self.config.channels), none)
        if self.config.intersections:
            extra = (self.view_start, self.view_gate.weight, self.view_gate.bias)
        message, gate = self.message, self.gate
        matrices = (message.weight, message.bias, gate.weight, gate.bias)
        return reference.LayerWeights(self.start, self.gamma, *matrices, *extra)


@dataclass(frozen=True)
class FactorGraphFeatures:
    """Features of B boards, packed without padding.

    There are V variables (legal placements) and F factors (open constraints) over all boards, and
    R rounds are kept (1: only the last).
    """

    variables: Tensor
    """`[R, V, H]`, their states, within (-1, 1) but for the learned start"""
    factors: Tensor
    """`[R, F, H]`, log of the sum of the messages to each, within about -7 and 10; log 0.001 where
    no placement is left: a dead end"""
    index: Tensor
    """int64 `[V]`, each variable's position in the flattened masks `[B * N**3]`"""
    factor_offsets: Tensor
    """int64 `[B]`, where the factors of each board begin"""
    shape: tuple[int, int]
    """`(B, N**3)`"""
    graph: FactorGraph
    """of the boards and masks"""
    recurrent_states: list[RecurrentState] = field(default_factory=list)
    """of each board after the last round; empty if none were given"""
    outcome: RoundsOutcome | None = None
    """of each board, where each stopped once it had converged"""


class PlacementReadout(nn.Module):
    """A linear map of the state of each variable, from `channels` to `width` numbers."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, P, width]`."""
        return self.linear(features.variables)


class BoardReadout(nn.Module):
    """A perceptron with one hidden layer on pooled factors, for values of whole boards.

    It reads mean, maximum and minimum of each channel over a board's factors: all three keep their
    range on boards of any size. The minimum shows dead ends: one constraint without placements
    hardly moves a mean over hundreds. A board without factors reads as zeros.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(
            nn.Linear(3 * channels, channels), nn.ReLU(), nn.Linear(channels, width)
        )

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        rounds, count, channels = features.factors.shape
        rows = features.factors.reshape(rounds * count, channels) * _SCALE
        step = torch.arange(rounds, device=rows.device)[:, None] * count
        first = (step + features.factor_offsets).flatten()
        every = torch.arange(len(rows), device=rows.device)
        mean, most, least = (
            sign * functional.embedding_bag(every, sign * rows, first, mode=mode)
            for sign, mode in ((1, "mean"), (1, "max"), (-1, "max"))
        )
        pooled = torch.cat([mean, most, least], 1)
        return self.layers(pooled).view(rounds, features.shape[0], self.width)


class ExtensiveReadout(nn.Module):
    """A sum over the factors and the variables of a board, for logs of counts.

    A perceptron with one hidden layer, one for factors and one for variables, gives what each of
    them adds, at first 0. On boards whose graph has no loops, the log of the number of completions
    is such a sum exactly.

    Source: the form of the Bethe free energy; Yedidia, Freeman and Weiss, "Constructing free-energy
    approximations and generalized belief propagation algorithms" (2005).
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.of_constraints = _perceptron(channels, width)
        self.of_placements = _perceptron(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        boards, placements = features.shape
        from_factors = self.of_constraints(_SCALE * features.factors)
        from_variables = self.of_placements(features.variables)
        ends = features.factor_offsets.new_tensor([from_factors.shape[1]])
        counts = torch.cat([features.factor_offsets, ends]).diff()
        every = torch.arange(boards, device=counts.device)
        owners = every.repeat_interleave(counts)
        sums = from_factors.new_zeros(len(from_factors), boards, from_factors.shape[2])
        sums = sums.index_add(1, owners, from_factors)
        return _SHARE * sums.index_add(1, features.index // placements, from_variables)


def _perceptron(channels: int, width: int) -> nn.Sequential:
    last = nn.Linear(channels, width)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), last)


_SHARE = 0.02  # there are about a hundred parts, and a step of Adam moves them all
_SCALE = 0.15  # brings logs of messages to about (-1, 1)
