"""A learner of your own: REINFORCE with a baseline, on the exact-cover body.

python examples/your_own_learner.py --iterations 150           # writes runs/reinforce
python examples/your_own_learner.py --iterations 200 --resume
sudoku-gym plot runs/reinforce --out reinforce.png

Source: Williams, "Simple statistical gradient-following algorithms" (1992).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from rich.console import Console

from sudoku_curricula import curves
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_learning.configs import registered
from sudoku_learning.networks import POLICY_AND_VALUE, ExactCoverConfig, Network, NetworkPolicy
from sudoku_learning.networks.network import seeded
from sudoku_learning.training import Optimiser, Report, Training, TrainingConfig, training_envs


@registered("reinforce")
@dataclass(frozen=True, kw_only=True)
class Config(TrainingConfig):
    agent = "reinforce"  # the policy's entry point, once your package declares one
    run: Path = Path("runs/reinforce")
    games: int = 256  # in lock step, an iteration


class Reinforce:
    metrics = ()  # nothing for a schedule to move by, beside held-out games

    def __init__(self, config, random):
        self.envs = training_envs(config.env, config.games, reward="sparse")
        body, geometry = ExactCoverConfig(channels=16, rounds=8), self.envs.geometry
        self.network = seeded(config.seed, lambda: Network(body, POLICY_AND_VALUE, geometry))
        self.optimiser = Optimiser(self.network, learning_rate=3e-3)
        self.state, self.restore = self.optimiser.state, self.optimiser.restore
        self.start = self.close = lambda: None

    def learn(self, blanks, random):
        self.envs.set_blanks(blanks)
        boards, info = self.envs.reset(seed=int(random.numpy.integers(2**32)))
        running, won, moves = (
            torch.ones(len(boards), dtype=torch.bool),
            torch.zeros(len(boards)),
            [],
        )
        while running.any():
            masks = torch.from_numpy(info["action_mask"]).bool()
            found = self.network(torch.from_numpy(boards), masks, self.envs.geometry)
            log_policy = torch.log_softmax(found["policy"], 1)
            actions = torch.multinomial(log_policy.exp(), 1, generator=random.torch)
            moves.append((running, log_policy.gather(1, actions)[:, 0], found["value"]))
            boards, rewards, ended, _, info = self.envs.step(actions[:, 0].numpy())
            won = won + torch.from_numpy(rewards) * running
            running = running & ~torch.from_numpy(ended)
        played, log_probs, values = (torch.stack(each) for each in zip(*moves, strict=True))
        advantage = (won - values)[played]
        policy_loss = -(advantage.detach() * log_probs[played]).mean()
        value_loss = advantage.square().mean()
        self.optimiser.step(policy_loss + value_loss)
        losses = {curves.POLICY_LOSS: policy_loss.item(), curves.VALUE_LOSS: value_loss.item()}
        return Report(int(played.sum()), losses, {"sampled": f"{won.mean():.1%}"})

    def policy(self):
        return NetworkPolicy(self.network)


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    small = ["--iterations", "3", "--games", "32", "--validation-games", "32"]
    config = tyro.cli(Config, args=small + argv[1:] if argv[:1] == ["--smoke"] else argv)
    training = Training(config, Reinforce)
    training.run(Console())
    players = {name: load_policy(name) for name in ("masked-random", "hidden-singles")}
    players["REINFORCE"] = training.learner.policy()
    results = compare(players, puzzles.load("4x4", "test")[:: 100 if argv[:1] else 1])
    print(to_markdown(results))
    return results


if __name__ == "__main__":
    main()
