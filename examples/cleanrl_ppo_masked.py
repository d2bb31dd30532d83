"""PPO with action masks in one file, in the manner of CleanRL, on `gym.make_vec`.

python examples/cleanrl_ppo_masked.py --help
tensorboard --logdir runs

Differences from CleanRL's ppo.py: illegal actions get no probability, a curriculum moves the number
of blanks, and the network shares its weights over the cells, rows, columns and boxes of the board.
It reads the mask of legal placements alone, which holds the rules already, and not the observation.
"""

import random
import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
import tyro
from torch.distributions.categorical import Categorical
from torch.utils.tensorboard import SummaryWriter

from sudoku_curricula import VectorCurriculumWrapper, make_schedule
from sudoku_gym import evaluate, puzzles


@dataclass
class Args:
    """Train PPO with action masks."""

    exp_name: str = "cleanrl_ppo_masked"
    """the name of this experiment"""
    run_dir: str = "runs"
    """folder of all runs"""
    seed: int = 1
    """seed of the experiment"""
    torch_deterministic: bool = True
    """if toggled, `torch.backends.cudnn.deterministic=True`"""
    cuda: bool = False
    """if toggled, a GPU is used where there is one"""
    smoke: bool = False
    """two iterations and a few test puzzles only"""

    env_id: str = "Sudoku4x4-v0"
    """the id of the environment"""
    schedule: str = "success-rate?start=2&stop=12&threshold=0.8"
    """the curriculum; its threshold is low, since training games explore"""
    total_timesteps: int = 100_000
    """total timesteps of the experiment"""
    learning_rate: float = 1e-3
    """the learning rate of the optimizer"""
    num_envs: int = 128
    """the number of parallel game environments"""
    num_steps: int = 32
    """the number of steps to run in each environment per policy rollout"""
    anneal_lr: bool = True
    """toggle learning rate annealing for policy and value networks"""
    gamma: float = 1.0
    """the discount factor gamma"""
    gae_lambda: float = 0.95
    """the lambda for the general advantage estimation"""
    num_minibatches: int = 8
    """the number of mini-batches"""
    update_epochs: int = 4
    """the K epochs to update the policy"""
    norm_adv: bool = True
    """toggles advantages normalization"""
    clip_coef: float = 0.2
    """the surrogate clipping coefficient"""
    clip_vloss: bool = True
    """toggles whether or not to use a clipped loss for the value function, as per the paper"""
    ent_coef: float = 0.01
    """coefficient of the entropy"""
    vf_coef: float = 0.5
    """coefficient of the value function"""
    max_grad_norm: float = 0.5
    """the maximum norm for the gradient clipping"""
    target_kl: float | None = None
    """the target KL divergence threshold"""

    # to be filled in runtime
    batch_size: int = 0
    """the batch size (computed in runtime)"""
    minibatch_size: int = 0
    """the mini-batch size (computed in runtime)"""
    num_iterations: int = 0
    """the number of iterations (computed in runtime)"""


def layer_init(layer, std=2**0.5, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    """A placement hears from its cell, and from its digit in its row, column and box."""

    def __init__(self, geometry, channels=32, layers=2):
        super().__init__()
        size = geometry.size
        cell, digit = np.divmod(np.arange(size**3), size)
        units = geometry.cell_units[cell][:, :3]  # row, column, box
        constraints = np.column_stack([cell, size**2 + units * size + digit[:, None]])
        members = np.stack([np.nonzero((constraints == c).any(1))[0] for c in range(4 * size**2)])
        self.register_buffer("constraints", torch.from_numpy(constraints).long())  # [N^3, 4]
        self.register_buffer("members", torch.from_numpy(members))  # [4 N^2, N]
        self.start = layer_init(nn.Linear(1, channels))
        self.gather = nn.ModuleList(
            layer_init(nn.Linear(2 * channels, channels)) for _ in range(layers)
        )
        self.keep = nn.ModuleList(layer_init(nn.Linear(channels, channels)) for _ in range(layers))
        self.actor = layer_init(nn.Linear(channels, 1), std=0.01)
        self.critic = layer_init(nn.Linear(channels, 1), std=1.0)

    def features(self, masks):
        """Return float32 `[B, N**3, H]` for masks bool `[B, N**3]`."""
        legal = masks[..., None].float()  # [B, N^3, 1]
        x = self.start(legal) * legal  # [B, N^3, H]
        for gather, keep in zip(self.gather, self.keep, strict=True):
            groups = x[:, self.members]  # [B, 4 N^2, N, H]
            heard = torch.relu(gather(torch.cat([groups.sum(2), groups.amax(2)], -1)))
            x = (x + torch.relu(keep(x) + heard[:, self.constraints].sum(2))) * legal
        return x

    def get_value(self, masks):
        """Return the values `[B, 1]`."""
        return self.critic(self.features(masks).mean(1))

    def get_action_and_value(self, masks, action=None):
        """Return actions, their log probabilities, the entropies and the values."""
        x = self.features(masks)
        logits = torch.where(masks, self.actor(x).squeeze(-1), -1e9)
        probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x.mean(1))


class GreedyPolicy:
    """Plays the agent's likeliest action, in the form that `evaluate` asks for."""

    def __init__(self, agent, device):
        self.agent, self.device = agent, device

    def reset(self, puzzles, geometry, rng):
        """Begin a batch of games: there is nothing to remember."""

    def act(self, boards, action_masks):
        """Choose an action for each board."""
        with torch.no_grad():
            masks = torch.from_numpy(action_masks).to(self.device)
            x = self.agent.features(masks)
            return torch.where(masks, self.agent.actor(x).squeeze(-1), -1e9).argmax(1).cpu().numpy()


def main(argv=None):
    args = tyro.cli(Args, args=argv)
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.num_minibatches)
    args.num_iterations = args.total_timesteps // args.batch_size
    if args.smoke:
        args.num_iterations, args.update_epochs = 2, 1
    run_name = f"{args.env_id}__{args.exp_name}__{args.seed}__{int(time.time())}"
    writer = SummaryWriter(f"{args.run_dir}/{run_name}")
    writer.add_text(
        "hyperparameters",
        "|param|value|\n|-|-|\n" + "\n".join(f"|{k}|{v}|" for k, v in vars(args).items()),
    )

    # TRY NOT TO MODIFY: seeding
    random.seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002 - CleanRL's manner
    torch.manual_seed(args.seed)
    torch.backends.cudnn.deterministic = args.torch_deterministic
    torch.set_num_threads(1)  # more threads on a small network are slower
    device = torch.device("cuda" if torch.cuda.is_available() and args.cuda else "cpu")

    # env setup
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        reward="sparse",
        autoreset_mode="SameStep",
    )
    geometry = envs.unwrapped.geometry
    schedule = make_schedule(args.schedule)
    envs = VectorCurriculumWrapper(envs, schedule, writer=writer)
    agent = Agent(geometry).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    # ALGO Logic: Storage setup; the masks tell the network all it asks
    num_actions = envs.single_action_space.n
    masks = torch.zeros((args.num_steps, args.num_envs, num_actions), dtype=torch.bool).to(device)
    actions = torch.zeros((args.num_steps, args.num_envs), dtype=torch.long).to(device)
    logprobs = torch.zeros((args.num_steps, args.num_envs)).to(device)
    rewards = torch.zeros((args.num_steps, args.num_envs)).to(device)
    dones = torch.zeros((args.num_steps, args.num_envs)).to(device)
    values = torch.zeros((args.num_steps, args.num_envs)).to(device)

    # TRY NOT TO MODIFY: start the game
    global_step = 0
    start_time = time.time()
    _, infos = envs.reset(seed=args.seed)
    next_mask = torch.from_numpy(infos["action_mask"]).bool().to(device)
    next_done = torch.zeros(args.num_envs).to(device)

    for iteration in range(1, args.num_iterations + 1):
        # Annealing the rate if instructed to do so.
        if args.anneal_lr:
            frac = 1.0 - (iteration - 1.0) / args.num_iterations
            optimizer.param_groups[0]["lr"] = frac * args.learning_rate
        returns_of_episodes, lengths_of_episodes = [], []

        for step in range(args.num_steps):
            global_step += args.num_envs
            masks[step] = next_mask
            dones[step] = next_done

            # ALGO LOGIC: action logic
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_mask)
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob

            # TRY NOT TO MODIFY: execute the game and log data. Legal play always ends by itself,
            # so there is no truncation to bootstrap from.
            _, reward, terminations, truncations, infos = envs.step(action.cpu().numpy())
            done = np.logical_or(terminations, truncations)
            rewards[step] = torch.tensor(reward, dtype=torch.float32).to(device)
            next_mask = torch.from_numpy(infos["action_mask"]).bool().to(device)
            next_done = torch.tensor(done, dtype=torch.float32).to(device)
            if done.any():
                returns_of_episodes.extend(reward[done])  # the reward comes at the end alone
                final = infos["final_info"]
                lengths_of_episodes.extend(final["level"][done] - final["blanks"][done])

        # bootstrap value if not done
        with torch.no_grad():
            next_value = agent.get_value(next_mask).reshape(1, -1)
            advantages = torch.zeros_like(rewards).to(device)
            lastgaelam = 0
            for t in reversed(range(args.num_steps)):
                if t == args.num_steps - 1:
                    nextnonterminal = 1.0 - next_done
                    nextvalues = next_value
                else:
                    nextnonterminal = 1.0 - dones[t + 1]
                    nextvalues = values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
                advantages[t] = lastgaelam
            returns = advantages + values

        # flatten the batch
        b_masks = masks.reshape(-1, num_actions)
        b_logprobs = logprobs.reshape(-1)
        b_actions = actions.reshape(-1)
        b_advantages = advantages.reshape(-1)
        b_returns = returns.reshape(-1)
        b_values = values.reshape(-1)

        # Optimizing the policy and value network
        b_inds = np.arange(args.batch_size)
        clipfracs = []
        for _ in range(args.update_epochs):
            np.random.shuffle(b_inds)  # noqa: NPY002 - CleanRL's manner
            for start in range(0, args.batch_size, args.minibatch_size):
                mb_inds = b_inds[start : start + args.minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    b_masks[mb_inds], b_actions[mb_inds]
                )
                logratio = newlogprob - b_logprobs[mb_inds]
                ratio = logratio.exp()

                with torch.no_grad():
                    # calculate approx_kl http://joschu.net/blog/kl-approx.html
                    old_approx_kl = (-logratio).mean()
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs += [((ratio - 1.0).abs() > args.clip_coef).float().mean().item()]

                mb_advantages = b_advantages[mb_inds]
                if args.norm_adv:
                    mb_advantages = (mb_advantages - mb_advantages.mean()) / (
                        mb_advantages.std() + 1e-8
                    )

                # Policy loss
                pg_loss1 = -mb_advantages * ratio
                pg_loss2 = -mb_advantages * torch.clamp(
                    ratio, 1 - args.clip_coef, 1 + args.clip_coef
                )
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()

                # Value loss
                newvalue = newvalue.view(-1)
                v_loss = (newvalue - b_returns[mb_inds]) ** 2
                if args.clip_vloss:
                    v_clipped = b_values[mb_inds] + torch.clamp(
                        newvalue - b_values[mb_inds], -args.clip_coef, args.clip_coef
                    )
                    v_loss = torch.max(v_loss, (v_clipped - b_returns[mb_inds]) ** 2)
                v_loss = 0.5 * v_loss.mean()

                entropy_loss = entropy.mean()
                loss = pg_loss - args.ent_coef * entropy_loss + v_loss * args.vf_coef

                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

            if args.target_kl is not None and approx_kl > args.target_kl:
                break

        y_pred, y_true = b_values.cpu().numpy(), b_returns.cpu().numpy()
        var_y = np.var(y_true)
        explained_var = np.nan if var_y == 0 else 1 - np.var(y_true - y_pred) / var_y

        # TRY NOT TO MODIFY: record rewards for plotting purposes
        if returns_of_episodes:
            writer.add_scalar("charts/episodic_return", np.mean(returns_of_episodes), global_step)
            writer.add_scalar("charts/episodic_length", np.mean(lengths_of_episodes), global_step)
            print(
                f"global_step={global_step}, blanks={envs.curriculum.level:.1f}, "
                f"episodic_return={np.mean(returns_of_episodes):.3f}"
            )
        writer.add_scalar("charts/learning_rate", optimizer.param_groups[0]["lr"], global_step)
        writer.add_scalar("losses/value_loss", v_loss.item(), global_step)
        writer.add_scalar("losses/policy_loss", pg_loss.item(), global_step)
        writer.add_scalar("losses/entropy", entropy_loss.item(), global_step)
        writer.add_scalar("losses/old_approx_kl", old_approx_kl.item(), global_step)
        writer.add_scalar("losses/approx_kl", approx_kl.item(), global_step)
        writer.add_scalar("losses/clipfrac", np.mean(clipfracs), global_step)
        writer.add_scalar("losses/explained_variance", explained_var, global_step)
        sps = int(global_step / (time.time() - start_time))
        writer.add_scalar("throughput/steps_per_second", sps, global_step)
        writer.add_scalar("charts/iteration", iteration, global_step)

    envs.close()
    writer.close()

    test = puzzles.load(gym.spec(args.env_id).kwargs["source"], "test")
    result = evaluate(GreedyPolicy(agent, device), test[:: 100 if args.smoke else 1])
    print(f"test split, minimal puzzles: {result}")
    return result


if __name__ == "__main__":
    main()
