"""PPO with action masks in TorchRL, with its own wrapper, collector, loss and recurrent module.

pip install 'sudoku-gym[torchrl]'
python examples/torchrl_ppo_masked.py
python examples/torchrl_ppo_masked.py --recurrent
python examples/torchrl_ppo_masked.py --schedule 'bandit?tasks=blanks=2..12'

The vector environment steps all boards in one call, and TorchRL resets those that are over. The
policy reads the mask from the infos, and gives illegal actions no probability. With `--recurrent`
an LSTM stands beside the encoder of the board, and both feed the heads.
"""

import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import tyro
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import Compose, GymWrapper, InitTracker, TransformedEnv
from torchrl.modules import (
    LSTMModule,
    MaskedCategorical,
    ProbabilisticActor,
    ValueOperator,
    set_recurrent_mode,
)
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value.functional import generalized_advantage_estimate

from sudoku_curricula import Curriculum, make_schedule
from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_learning.training import HeldOut


@dataclass
class Args:
    env_id: str = "Sudoku4x4-v0"
    """the id of the environment"""
    schedule: str = "constant?blanks=10"
    """the curriculum, see `sudoku_curricula`; it is fed with held-out games"""
    recurrent: bool = False
    """give the policy an LSTM"""
    iterations: int = 200
    """iterations of `num_envs` * `num_steps` steps"""
    num_envs: int = 64
    """boards that are stepped at once"""
    num_steps: int = 24
    """steps of each board in an iteration"""
    epochs: int = 4
    """passes over the steps of an iteration"""
    minibatches: int = 4
    """parts of a pass, each with other boards"""
    learning_rate: float = 3e-3
    """of Adam"""
    seed: int = 0
    """of the puzzles and the network"""
    smoke: bool = False
    """two iterations only"""


class Encoder(nn.Module):
    """Reads the legal placements: hands them on, and a hidden layer of them."""

    def __init__(self, num_actions: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(num_actions, width), nn.ReLU())

    def forward(self, action_mask):
        legal = action_mask.float()
        return torch.cat([legal, self.layers(legal)], -1), action_mask.bool()


class Head(nn.Module):
    """A linear layer on one input or several."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.layer = nn.LazyLinear(outputs)

    def forward(self, *inputs):
        return self.layer(torch.cat(inputs, -1))


def make_network(num_actions, recurrent, width=128):
    """Return the policy's actor, the critic on its features, and the LSTM's transform or None."""
    modules = [TensorDictModule(Encoder(num_actions, width), ["action_mask"], ["features", "mask"])]
    keys, primer = ["features"], None
    if recurrent:
        lstm = LSTMModule(num_actions + width, width, in_key="features", out_key="memory")
        keys, primer = ["features", "memory"], lstm.make_tensordict_primer()
        modules.append(lstm)
    modules.append(TensorDictModule(Head(num_actions), keys, ["logits"]))
    actor = ProbabilisticActor(
        TensorDictSequential(*modules),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    return actor, ValueOperator(Head(1), in_keys=keys), primer


def add_advantages(data, gamma=1.0, lmbda=0.95):
    """Add GAE to steps `[B, T]`; the last step of each row gets the value before it."""
    value = data["state_value"]
    following = torch.cat([value[:, 1:], value[:, -1:]], 1)
    done = data["next", "done"]
    data["advantage"], data["value_target"] = generalized_advantage_estimate(
        gamma, lmbda, value, following, data["next", "reward"], done, done
    )


class TorchRLPolicy:
    """Plays the likeliest action, in the form that `evaluate` asks for."""

    def __init__(self, actor, width=128):
        self.actor, self.width = actor, width

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games with an empty recurrent state."""
        empty = torch.zeros(len(puzzles), 1, self.width)
        first = torch.ones(len(puzzles), 1, dtype=torch.bool)
        state = {"recurrent_state_h": empty, "recurrent_state_c": empty.clone(), "is_init": first}
        self.state = TensorDict(state, [len(puzzles)])

    def act(self, boards, action_masks):
        """Choose an action for each board."""
        rows = np.flatnonzero(action_masks.any(1))
        actions = np.zeros(len(boards), np.int64)
        masks = torch.from_numpy(action_masks)
        masks[:, 0] |= ~masks.any(1)  # a game that is over: its action is ignored
        with torch.no_grad():
            seen = self.actor.module[0](self.state.set("action_mask", masks))
        actions[rows] = seen["logits"].where(masks, -1e9).argmax(1).numpy()[rows]
        for name in ("recurrent_state_h", "recurrent_state_c"):
            if ("next", name) in seen.keys(True):
                self.state[name] = seen["next", name]
        self.state["is_init"] = torch.zeros_like(self.state["is_init"])
        return actions


def main(argv=None):
    args = tyro.cli(Args, description=__doc__, args=argv)
    iterations = 2 if args.smoke else args.iterations
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads on a small network are slower
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        reward="sparse",
        end_at_dead_end=True,
        autoreset_mode="Disabled",  # TorchRL resets the boards that are over
    )
    curriculum = Curriculum(make_schedule(args.schedule), envs.unwrapped.set_blanks)
    wrapped = GymWrapper(envs, categorical_action_encoding=True).auto_register_info_dict()
    actor, critic, primer = make_network(int(envs.single_action_space.n), args.recurrent)
    transforms = [InitTracker()] + ([primer] if primer else [])
    env = TransformedEnv(wrapped, Compose(*transforms))
    env.set_seed(args.seed)
    both = TensorDictSequential(actor, critic)
    both(env.reset())  # makes the lazy layers
    frames = args.num_envs * args.num_steps
    collector = Collector(env, both, frames_per_batch=frames, total_frames=frames * iterations)
    bank = gym.spec(args.env_id).kwargs["source"]
    test = puzzles.load(bank, "test")[:: 100 if args.smoke else 10]
    floors = {name: load_policy(name) for name in ("masked-random", "naked-singles")}
    results = compare({**floors, "untrained": TorchRLPolicy(actor)}, test)
    random = np.random.default_rng(args.seed)
    source = puzzles.resolve_source(bank, "validation")
    held_out = HeldOut(TorchRLPolicy(actor), source, 128, random)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
    optimizer = torch.optim.Adam(both.parameters(), lr=args.learning_rate)
    for iteration, data in enumerate(collector):  # [B, T]
        add_advantages(data)
        for _ in range(args.epochs):
            for rows in torch.randperm(args.num_envs).chunk(args.minibatches):
                with set_recurrent_mode(args.recurrent):
                    losses = loss(data[rows].exclude("state_value"))
                total = sum(losses[f"loss_{part}"] for part in ("objective", "critic", "entropy"))
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(both.parameters(), 0.5)
                optimizer.step()
        if iteration % 20 == 0 or iteration == iterations - 1:
            over = data["next", "done"].squeeze(-1)
            rate = data["next", "is_success"][over].float().mean()
            level, minimal = curriculum.level, curriculum.report_held_out(held_out)[1]
            found = f"{level:.1f} blanks, {rate:.1%} of games solved"
            print(f"iteration {iteration}: {found}, {minimal:.1%} of held-out minimal puzzles")
    collector.shutdown()
    print(f"\nseed {args.seed}, {time.process_time():.0f} seconds of the processor")
    results |= compare({"PPO": TorchRLPolicy(actor)}, test)
    print(f"{len(test):,} minimal puzzles of the test split\n\n{to_markdown(results)}")
    return results


if __name__ == "__main__":
    main()
