"""A network: one body and the heads that read it, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks.attention import AttentionConfig
from sudoku_learning.networks.bodies import BodyConfig
from sudoku_learning.networks.convergence import NO_RESTARTS, NetworkOutput, Restarts, are_solutions
from sudoku_learning.networks.factor_graph import FactorGraphBody, FactorGraphConfig, RecurrentState
from sudoku_learning.networks.heads import HeadConfig, PlacementHead, PolicyConfig, ValueConfig
from sudoku_learning.networks.mlp import MLPConfig, TokenBody

BODIES: dict[str, type[BodyConfig]] = {
    "factor-graph": FactorGraphConfig,
    "mlp": MLPConfig,
    "attention": AttentionConfig,
}
"""The bodies, by their name on a command line and in a file. A new one is added here."""

POLICY_AND_VALUE: dict[str, HeadConfig] = {"policy": PolicyConfig(), "value": ValueConfig()}
"""The heads of an actor-critic whose returns lie in [0, 1]."""

CONVERGENCE_HEADS = ("policy", "q")
"""The heads whose numbers show convergence; the first that a network has is taken."""


class _Start(NamedTuple):
    """What a start of the rounds has led to, for B boards."""

    outputs: dict[str, Tensor]  # of the heads
    undecided: Tensor  # int64 [B], legal placements within the margin, all of them where an output
    # that breaks a rule is refused; 0: converged
    rounds: Tensor  # int64 [B], that were run
    states: list[RecurrentState]  # after them
    early_states: list[RecurrentState]  # after the first segment, if they are kept

    def take(self, later: _Start, rows: Tensor, first: int) -> None:
        """Take the outputs of a later start of boards, int64 `[n]`, where they are better.

        Those of the first of them stand at `first` there. Boards that have converged stay.
        """
        others = torch.arange(first, first + len(rows))
        is_open = self.undecided[rows] > 0
        rows, others = rows[is_open], others[is_open]
        self.rounds[rows] += later.rounds[others]
        is_better = later.undecided[others] < self.undecided[rows]
        rows, others = rows[is_better], others[is_better]
        self.undecided[rows] = later.undecided[others]
        for name, output in later.outputs.items():
            self.outputs[name][rows] = output[others]


class Network(nn.Module):
    """A body and its heads, by name, for boards of a geometry (the factor graph plays any)."""

    def __init__(
        self, body: BodyConfig, heads: Mapping[str, HeadConfig], geometry: Geometry
    ) -> None:
        super().__init__()
        self.body = body.build(geometry)
        self.heads = nn.ModuleDict({name: head.build(self.body) for name, head in heads.items()})

    def forward(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> dict[str, Tensor]:
        """Evaluate boards int8 `[B, N, N]`, 0 = blank, with the legal placements bool `[B, N**3]`.

        Returns the output of each head, by its name; e.g. logits float32 `[B, N**3]` with
        `ILLEGAL_LOGIT` where the mask is False, and values float32 `[B]`. With `all_rounds` they
        are those after each of the body's R rounds, `[R, B, ...]`: a loss at every round is what
        makes a recurrent body learn; a body without rounds has R = 1.
        """
        features = self.body(boards, masks, geometry, all_rounds)
        outputs = {name: head(features) for name, head in self.heads.items()}
        return outputs if all_rounds else {name: each[-1] for name, each in outputs.items()}

    def forward_until_converged(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Collection[str] | None = None,
        rounds: int | None = None,
        restarts: Restarts = NO_RESTARTS,
    ) -> NetworkOutput[Tensor]:
        """Evaluate boards as `forward` does, with no more rounds than each of them needs.

        If the network `can_converge`, the body runs one segment of rounds at a time, and a board
        has converged when no number that the head `policy`, or else `q`, gives to a legal
        placement is closer to 0 than the body's convergence margin. Boards that have not converged
        after all rounds start again, and so do those whose best digits break a rule, so that with
        restarts what has converged is a solution. If no start of a board converges, the output is
        that of the start that left the fewest placements within the margin. Other networks answer
        as `forward`.

        `heads` are the names of those that are wanted (None: all), `rounds` those of each start, at
        most (None: the body's). ValueError if there are restarts, but no rounds that can converge.
        """
        self.check_restarts(restarts)
        chosen = {name: head for name, head in self.heads.items() if heads is None or name in heads}
        if self.can_converge:
            return self._run_starts(boards, masks, geometry, chosen, rounds, restarts)
        features = self.body(boards, masks, geometry)
        count = self.body.rounds if isinstance(self.body, FactorGraphBody) else 1
        return NetworkOutput(
            {name: head(features)[-1] for name, head in chosen.items()},
            torch.zeros(len(boards), dtype=torch.bool),
            torch.full((len(boards),), count),
        )

    @property
    def can_converge(self) -> bool:
        """Whether `forward_until_converged` stops boards early."""
        body = self.body
        if not isinstance(body, FactorGraphBody) or body.config.convergence_margin is None:
            return False
        return not self.heads.keys().isdisjoint(CONVERGENCE_HEADS)

    def model_card(
        self,
        play: Literal["one shot", "sequential", "search"],
        solutions: int = 0,
        restarts: Restarts = NO_RESTARTS,
    ) -> ModelCard:
        """Describe this network, played so, after training on so many solutions."""
        sees: Literal["grid", "constraints"]
        sees = "grid" if isinstance(self.body, TokenBody) else "constraints"
        return ModelCard(sees, count_weights(self), solutions, play, restarts.count)

    def check_restarts(self, restarts: Restarts) -> None:
        """Raise ValueError if there are restarts, but the network can't converge."""
        if restarts.count and not self.can_converge:
            raise ValueError(
                f"restarts={restarts.count}: boards never converge in this network, so none would "
                "start again (its body has no convergence_margin)"
            )

    def recurrent_states(
        self, boards: Tensor, masks: Tensor, geometry: Geometry
    ) -> list[RecurrentState] | None:
        """Run the rounds of `forward_until_converged`, in evaluation mode and without gradients.

        Returns the recurrent state of each board after them; None unless it `can_converge`.
        """
        if not self.can_converge:
            return None
        was_training = self.training
        self.eval()
        with torch.no_grad():
            none = [None] * len(boards)
            states = self._run_segments(boards, masks, geometry, {}, states=none).states
        self.train(was_training)
        return states

    def _run_starts(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Mapping[str, nn.Module],
        rounds: int | None,
        restarts: Restarts,
    ) -> NetworkOutput[Tensor]:
        """Start the boards that have not converged again; keep the best output of each.

        Where there are more threads than boards, their next starts are run ahead, and forgotten if
        an earlier one converges: so the output does not depend on the number of threads.
        """
        again = restarts.count > 0
        best = self._run_segments(boards, masks, geometry, heads, rounds, None, again, again)
        threads = torch.get_num_threads() if self.body.is_compiled else 1
        done = 0
        while done < restarts.count and len(rows := best.undecided.nonzero()[:, 0]):
            at_once = min(max(1, threads // len(rows)), restarts.count - done)
            states = [
                restarts.perturb(best.early_states[row], start, boards[row], masks[row])
                for start in range(done + 1, done + at_once + 1)
                for row in rows.tolist()
            ]
            many = rows.repeat(at_once)
            given = boards[many], masks[many], geometry, heads, rounds, states
            run = self._run_segments(*given, must_solve=True)
            for first in range(0, len(many), len(rows)):
                best.take(run, rows, first)
            done += at_once
        return NetworkOutput(best.outputs, best.undecided == 0, best.rounds)

    def _run_segments(
        self,
        boards: Tensor,
        masks: Tensor,
        geometry: Geometry,
        heads: Mapping[str, nn.Module],
        rounds: int | None = None,
        states: Sequence[RecurrentState | None] | None = None,
        keep_early_states: bool = False,
        must_solve: bool = False,
    ) -> _Start:
        """Run the rounds of one start, from the given states or the learned first ones.

        With `must_solve` no board has converged whose best digits are no solution. The compiled
        rounds look at the logits themselves, and are left when a board has converged or its state
        is wanted; others are left after each segment.
        """
        body, margin = self.body, self.body.config.convergence_margin
        deciding = next(self.heads[name] for name in CONVERGENCE_HEADS if name in self.heads)
        readout, segments = None, body.segments(rounds)
        if body.is_compiled and isinstance(deciding, PlacementHead) and not torch.is_grad_enabled():
            readout = deciding.readout.linear
            first = segments[:1] if keep_early_states else []
            segments = first + [rest for rest in [sum(segments[len(first) :])] if rest]
        has_states = states is not None or len(segments) > 1 or keep_early_states
        latest: list[Any] = [None] * len(boards) if states is None else list(states)
        rows, graph = torch.arange(len(boards)), None
        start = _Start({}, rows.new_zeros(len(boards)), rows.new_zeros(len(boards)), latest, [])
        for segment in segments:
            given: dict[str, Any] = {"rounds": segment, "graph": graph}
            if readout is not None:
                given["readout"] = readout
            if has_states:
                given["recurrent_states"] = [latest[row] for row in rows.tolist()]
            features = body(boards[rows], masks[rows], geometry, **given)
            if has_states:
                for row, state in zip(rows.tolist(), features.recurrent_states, strict=True):
                    latest[row] = state
            if keep_early_states and not start.early_states:
                start.early_states.extend(latest)
            for name, head in heads.items():
                output = head(features)[-1]
                if name not in start.outputs:
                    start.outputs[name] = output.new_empty(len(boards), *output.shape[1:])
                start.outputs[name][rows] = output
            if readout is not None:
                start.rounds[rows] += torch.from_numpy(features.outcome.rounds)
                undecided = torch.from_numpy(features.outcome.undecided)
            else:
                start.rounds[rows] += segment
                distances = deciding(features)[-1].abs()
                undecided = ((distances < margin) & masks[rows]).sum(1).cpu()
            is_open = undecided > 0
            if must_solve and not is_open.all():
                done = rows[~is_open]
                logits = deciding(features)[-1][~is_open]
                is_damaged = ~logits.isfinite().all(1).cpu()  # which no further start would mend
                is_last = are_solutions(boards[done], logits, geometry) | is_damaged
                undecided[~is_open] = masks[done].sum(1).cpu() * ~is_last
            start.undecided[rows] = undecided
            if not is_open.any():
                break
            graph = features.graph if is_open.all() else None  # its boards must be those of rows
            rows = rows[is_open]
        return start


def count_weights(module: nn.Module) -> int:
    """Return the number of trained numbers of a module."""
    return sum(parameter.numel() for parameter in module.parameters())


def seeded(seed: int, make: Any) -> Any:
    """Return `make()`, whose random weights come from the seed and nothing else.

    Modules draw their first weights from torch's global generator; it is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()
