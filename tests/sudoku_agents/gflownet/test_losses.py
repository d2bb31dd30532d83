"""Each loss is zero for the exact flow, and is what its equation says elsewhere."""

from math import comb

import numpy as np
import pytest
import torch

from gflownet_exact import StateGraph
from sudoku_agents.gflownet import losses
from sudoku_agents.gflownet.config import BalanceConfig
from sudoku_agents.gflownet.flows import FlowOutput
from sudoku_agents.gflownet.losses import balance_loss, log_pb, log_z_estimates
from sudoku_agents.gflownet.orders import ORDERS
from sudoku_agents.gflownet.trajectories import rollout
from sudoku_gym import board
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry

FOUR = Geometry.standard(4)
PUZZLE = board.parse("1234 .... .... 4...")  # several solutions, and dead ends
DEAD_END = -6.0  # log of its reward
LOSSES = {
    "trajectory balance": BalanceConfig("trajectory-balance"),
    "log-partition variance": BalanceConfig("log-partition-variance"),
    "detailed balance": BalanceConfig("sub-trajectory-balance", decay=0),
    "sub-trajectory balance": BalanceConfig("sub-trajectory-balance"),
}


class ExactFlow:
    """Answers as a network that has learned the flow; offsets are added to some of them."""

    def __init__(self, graph, min_log_reward, of_policy=0.0, of_flow=0.0):
        self._known = {}
        flows = graph.log_flows(min_log_reward)
        blanks = int((graph.layers[0].boards[0] == 0).sum())
        for made, (layer, flow) in enumerate(zip(graph.layers[:-1], flows, strict=False)):
            is_dag = graph.order == "any"
            log_pf = np.full(layer.masks.allowed.shape, -np.inf)
            back = -np.log(made + 1) if is_dag else 0.0
            log_pf[layer.parents, layer.actions] = (
                flows[made + 1][layer.children] + back - flow[layer.parents]
            )
            log_pf[:, ::3] += of_policy
            head = flow + (np.log(comb(blanks, made)) if is_dag else 0.0) + of_flow * made
            for one, policy, worth in zip(layer.boards, log_pf, head, strict=True):
                self._known[one.tobytes()] = policy, worth

    def evaluate_states(self, boards, masks, geometry, all_rounds=False):
        policies, worths = zip(*(self._known[one.tobytes()] for one in boards), strict=True)
        log_pf, log_flow = torch.tensor(np.array(policies)), torch.tensor(np.array(worths))
        return FlowOutput(log_pf[None].float(), log_flow[None].float())


def trajectories(order, count=64):
    rng = np.random.default_rng(0)
    start = PUZZLE[None].repeat(count, 0)
    return rollout(start, FOUR, order, lambda _, __, found: sample_actions(found.allowed, rng))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LOSSES)
def test_the_exact_flow_has_no_loss_and_a_wrong_one_has(name, order):
    played = trajectories(order)
    if order != "constrained":
        assert 0 < played.solved.sum() < len(played)  # dead ends count too
    graph = StateGraph(PUZZLE, FOUR, order)
    inner = LOSSES[name].kind == "sub-trajectory-balance"

    def loss(**mistakes):
        network = ExactFlow(graph, DEAD_END, **mistakes)
        found = log_z_estimates(network, played, FOUR, order, DEAD_END, inner)
        groups = torch.zeros(len(played), dtype=torch.long)
        return balance_loss(found, LOSSES[name], groups).item()

    assert loss() < 1e-9
    # The flows between the first state and the end are no business of the losses of whole ones.
    assert (loss(of_flow=0.3) > 1e-2) == inner


@pytest.mark.parametrize("order", ORDERS)
def test_every_estimate_of_the_exact_flow_is_log_z(order):
    graph = StateGraph(PUZZLE, FOUR, order)
    played = trajectories(order)
    found = log_z_estimates(ExactFlow(graph, DEAD_END), played, FOUR, order, DEAD_END)
    log_z = graph.log_flows(DEAD_END)[0][0]
    for values, length in zip(found.values[0], played.lengths, strict=True):
        np.testing.assert_allclose(values[: length + 1], log_z, atol=1e-5)


def test_the_backward_policy_is_uniform_over_what_has_been_placed():
    played = trajectories("any")
    sums = log_pb(played, "any").sum(1)
    wanted = [-np.log(np.arange(1, n + 1)).sum() for n in played.lengths]
    np.testing.assert_allclose(sums, wanted, rtol=1e-5)
    assert not log_pb(played, "rows").any()


def numbers():
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(3, 5, 7, generator=generator)  # rounds, trajectories, T + 1
    return values, torch.tensor([6, 1, 4, 2, 6])


def stretches(lengths):
    return [[(i, j) for i in range(n + 1) for j in range(i + 1, n + 1)] for n in lengths.tolist()]


def test_the_losses_are_their_equations():
    values, lengths = numbers()
    last = torch.stack([values[:, g, n] for g, n in enumerate(lengths.tolist())], 1)
    wanted = (values[:, :, 0] - last).square().mean()
    assert losses.trajectory_balance(values, lengths).item() == pytest.approx(wanted.item())

    groups = torch.tensor([0, 1, 0, 1, 1])
    parts = [last[:, groups == g].var(1, unbiased=False) * (groups == g).sum() for g in (0, 1)]
    found = losses.log_partition_variance(values, lengths, groups)
    assert found.item() == pytest.approx((sum(parts) / 5).mean().item(), rel=1e-5)


@pytest.mark.parametrize("decay", [0, 0.5, 0.9, 1.5])
def test_sub_trajectory_balance_is_its_equation(decay):
    values, lengths = numbers()
    total = 0.0
    for g, pairs in enumerate(stretches(lengths)):
        weights = torch.tensor([float(decay ** (j - i - 1)) for i, j in pairs])
        squares = torch.stack([(values[:, g, i] - values[:, g, j]) ** 2 for i, j in pairs], 1)
        total += (squares * weights).sum(1).mean() / weights.sum() / 5
    found = losses.sub_trajectory_balance(values, lengths, decay)
    assert found.item() == pytest.approx(total.item(), rel=1e-5)


def test_what_comes_after_the_end_counts_for_nothing():
    values, lengths = numbers()
    other = values.clone()
    for g, n in enumerate(lengths.tolist()):
        other[:, g, n + 1 :] = 99.0
    groups = torch.zeros(5, dtype=torch.long)
    for loss in (
        losses.trajectory_balance,
        lambda v, n: losses.log_partition_variance(v, n, groups),
        lambda v, n: losses.sub_trajectory_balance(v, n, 0),
        lambda v, n: losses.sub_trajectory_balance(v, n, 0.9),
    ):
        assert loss(values, lengths).item() == loss(other, lengths).item()
