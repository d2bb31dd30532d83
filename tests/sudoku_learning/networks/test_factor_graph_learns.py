"""The body learns in seconds what hand-written singles can't do."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks.factor_graph import FactorGraphBody, FactorGraphConfig

GEOMETRY = Geometry.standard(9)
SINGLES = 0.53  # of minimal 9x9 puzzles
BATCH, STEPS, RATE = 48, 220, 4e-3


def features_of(body, boards, **options):
    masks = board.candidates(boards, GEOMETRY).reshape(len(boards), -1)
    return body(torch.from_numpy(boards), torch.from_numpy(masks), GEOMETRY, **options)


class Stream:
    """Training boards: fill what the network knows, and at least its surest right placement."""

    def __init__(self, rng):
        self.rng = rng
        self.bank = puzzles.load("9x9", split="train")
        self.boards, self.solutions = self.fresh(BATCH)

    def fresh(self, count):
        chosen = self.rng.integers(len(self.bank.puzzles), size=count)
        boards, solutions = self.bank.puzzles[chosen].copy(), self.bank.solutions[chosen]
        shown = self.rng.random(boards.shape) < 0.5 * self.rng.random((count, 1, 1))
        shown &= self.rng.random((count, 1, 1)) < 0.3
        return np.where(shown, solutions, boards), solutions

    def right(self, features):
        """Which placements are in the solutions: bool `[P]`."""
        one_hot = self.solutions[..., None] == np.arange(1, 10, dtype=np.int8)
        return torch.from_numpy(one_hot.ravel())[features.index]

    def advance(self, features, logits):
        """Place what is right and sure, by `logits [P]`."""
        logits = torch.where(self.right(features), logits, -torch.inf)
        table = torch.full((BATCH * 729,), -torch.inf).index_copy(0, features.index, logits)
        table = table.view(BATCH, 729)
        place = (table > 3) | (table == table.amax(1, keepdim=True)) & table.isfinite()
        which, placement = (x.numpy() for x in place.nonzero(as_tuple=True))
        self.boards.reshape(BATCH, -1)[which, placement // 9] = placement % 9 + 1
        done = (self.boards != 0).all((1, 2))
        self.boards[done], self.solutions[done] = self.fresh(int(done.sum()))


def loss_of(logits, right, owner):
    """Cross-entropy of all placements, and of the softmax mass on right ones, `logits [R, P]`."""
    errors = functional.binary_cross_entropy_with_logits(
        logits, right.float().expand_as(logits), reduction="sum"
    )
    mass = logits.new_zeros(len(logits), BATCH)
    everything = mass.index_add(1, owner, logits.exp())
    correct = mass.index_add(1, owner, logits.exp() * right)
    missing = (everything.log() - correct.log()).mean()
    return errors / (100 * logits.shape[0] * BATCH) + 0.4 * missing


def train(body, head, rng):
    weights = [*body.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(weights, RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (STEPS - step) / (0.6 * STEPS))
    )
    stream = Stream(rng)
    for _ in range(STEPS):
        features = features_of(body, stream.boards, all_rounds=True)
        logits = head(features)[..., 0]
        optimizer.zero_grad()
        loss_of(logits, stream.right(features), features.index // 729).backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        stream.advance(features, logits[-1].detach())


def share_solved(body, head, test):
    """Fill one digit at a time, the surest first; a board counts if it becomes its solution."""
    boards, playing = test.puzzles.copy(), np.arange(len(test.puzzles))
    while len(playing):
        with torch.inference_mode():
            features = features_of(body, boards[playing])
            table = torch.full((len(playing) * 729,), -torch.inf)
            table[features.index] = head(features)[-1, :, 0]
        best, placement = (x.numpy() for x in table.view(-1, 729).max(1))
        playing, placement = playing[best > -np.inf], placement[best > -np.inf]
        boards.reshape(len(boards), -1)[playing, placement // 9] = placement % 9 + 1
    return (boards == test.solutions).all((1, 2)).mean()


@pytest.mark.slow
def test_supervised_on_minimal_9x9():
    torch.manual_seed(0)
    body = FactorGraphBody(FactorGraphConfig(16, 16))
    head = body.placement_readout(1)
    test = puzzles.load("9x9", split="validation")[:128]
    before = share_solved(body, head, test)
    train(body, head, np.random.default_rng(0))
    after = share_solved(body, head, test)
    assert after > SINGLES + 0.2
    assert after > before + 0.15
