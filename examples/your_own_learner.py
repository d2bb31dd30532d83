"""A learner of your own: REINFORCE with a baseline (Williams, 1992) on the factor-graph body.

python examples/your_own_learner.py        # ten seconds; writes runs/reinforce; --resume goes on
sudoku-gym plot runs/reinforce --out reinforce.png
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
import tyro
from rich.console import Console

from sudoku_curricula.curves import POLICY_LOSS
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_learning import networks, training


@training.registered("reinforce")
@dataclass(frozen=True, kw_only=True)
class Config(training.TrainingConfig):
    agent = "reinforce"  # your policy's entry point, once your package declares one
    run: Path = Path("runs/reinforce")
    seed: int = 2  # its untrained network solves nothing; others may play well by luck
    games: int = 256  # per iteration, played in parallel
    smoke: bool = False  # a few games, to see that it runs


class Reinforce(training.Learner):
    def __init__(self, config, random):
        self.envs = training.training_envs(config.env, config.games, reward="sparse")
        parts = networks.FactorGraphConfig(rounds=8), networks.POLICY_AND_VALUE, self.envs.geometry
        self.network = networks.seeded(config.seed, lambda: networks.Network(*parts))
        self.optimizer = training.Optimizer(self.network, training.OptimizerConfig(3e-3))

    def policy(self):
        return networks.NetworkPolicy(self.network)  # greedy, for held-out games

    def state(self):
        return self.optimizer.state()

    def restore(self, state):
        self.optimizer.restore(state)

    def learn(self, blanks, random, progress):
        self.network.train()
        self.envs.set_blanks(blanks)
        boards, info = self.envs.reset(seed=int(random.numpy.integers(2**32)))
        alive, solved, moves = torch.ones(len(boards)), torch.zeros(len(boards)), []
        while alive.any():
            masks = torch.from_numpy(info["action_mask"]).bool()
            found = self.network(torch.from_numpy(boards), masks, self.envs.geometry)
            log_policy = torch.log_softmax(found["policy"], 1)
            actions = torch.multinomial(log_policy.exp(), 1, generator=random.torch)
            moves.append((alive, log_policy.gather(1, actions)[:, 0], found["value"]))
            boards, rewards, over, _, info = self.envs.step(actions[:, 0].numpy())
            solved = solved + torch.from_numpy(rewards) * alive
            alive = alive * ~torch.from_numpy(over)
        alive, log_probs, values = map(torch.stack, zip(*moves, strict=True))
        advantages, steps = solved - values, alive.sum()
        policy_loss = -(alive * advantages.detach() * log_probs).sum() / steps
        self.optimizer.step(policy_loss + (alive * advantages.square()).sum() / steps)
        columns = {"sampled": f"{solved.mean():.1%}"}
        return training.Report(int(steps), {POLICY_LOSS: policy_loss.item()}, columns)


def main(argv=None):
    config = tyro.cli(Config, args=argv)
    config = replace(config, iterations=3, games=32) if config.smoke else config
    run = training.Training(config, Reinforce)
    players = {name: load_policy(name) for name in ("masked-random", "hidden-singles")}
    untrained = Reinforce(config, training.RunGenerators(config.seed))
    players["untrained"] = networks.NetworkPolicy(untrained.network)
    if run.limit_met:
        print(f"The run in {config.run} is complete.")
    run.run(Console())
    players["REINFORCE"] = run.learner.policy()
    results = compare(players, puzzles.load("6x6", "test"))  # a size it has never seen
    print(to_markdown(results))
    return results


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:  # of the configuration or the folder: one line says what is wrong
        raise SystemExit(f"your_own_learner.py: {error}") from None
