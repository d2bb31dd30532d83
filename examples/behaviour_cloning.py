"""Behaviour cloning: a network learns from recorded games alone, and plays puzzles it never saw.

python examples/behaviour_cloning.py    # records games of `expert-iteration` below runs/data
python examples/behaviour_cloning.py --data runs/data/9x9-expert-iteration-v0  # or yours

The data set is read with Minari: boards, masks and the actions taken, no solution and no solver. It
was played on the training split; the puzzles at the end are of the test split.
"""

import argparse
import json
from pathlib import Path

import minari
import numpy as np
import torch
from torch.nn import functional

from sudoku_gym import compare, load_policy, puzzles
from sudoku_gym.evaluation import to_markdown
from sudoku_gym.geometry import Geometry
from sudoku_gym.trajectories import RecordedGames, record
from sudoku_learning.networks import FactorGraphConfig, Network, NetworkPolicy, PolicyConfig, seeded


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("runs/data/9x9-expert-iteration-v0"))
    parser.add_argument("--policy", default="expert-iteration", help="records missing data")
    parser.add_argument("--source", default="9x9", help="bank of the puzzles to record")
    parser.add_argument("--episodes", type=int, default=1_000, help="games to record")
    parser.add_argument("--updates", type=int, default=600, help="batches to learn from")
    parser.add_argument("--batch", type=int, default=32, help="boards of a batch")
    parser.add_argument("--puzzles", type=int, default=256, help="of the test split, to play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="few games and updates")
    options = parser.parse_args(argv)
    if options.smoke:
        options.episodes, options.updates, options.puzzles = 8, 3, 4
    torch.set_num_threads(1)  # more threads on a small network are slower

    if not (options.data / "data").exists():
        record(RecordedGames(options.policy, options.source), options.episodes, options.data)
    boards, masks, actions = transitions(open_data_set(options.data / "data"))
    geometry = Geometry.standard(boards.shape[1])
    body, heads = FactorGraphConfig(rounds=16), {"policy": PolicyConfig()}
    network = seeded(options.seed, lambda: Network(body, heads, geometry))
    policies = {name: load_policy(name) for name in ("naked-singles", "hidden-singles")}
    test = puzzles.load(options.source, "test")[: options.puzzles]
    before = compare({"untrained": NetworkPolicy(network)}, test)
    clone(network, boards, masks, actions, geometry, options)
    results = compare({**policies, "cloned": NetworkPolicy(network)}, test)
    results = {**before, **results}
    print(f"\n{len(test)} puzzles of the test split\n\n{to_markdown(results)}")
    return results


def open_data_set(folder):
    """Open a data set of Minari, which would run what the metadata name, to learn their spaces."""
    metadata = json.loads((folder / "metadata.json").read_text())
    if not {"observation_space", "action_space"} <= metadata.keys():
        raise SystemExit(f"{folder}: metadata.json has no spaces; `sudoku-gym record` writes them")
    return minari.MinariDataset(folder)


def transitions(data):
    """Return the boards, masks and actions of all solved games, one row a move."""
    about = data.storage.get_episode_metadata(range(data.total_episodes))
    games = [
        (game.observations[:-1], game.infos["action_mask"][:-1], game.actions)
        for game, facts in zip(data.iterate_episodes(), about, strict=True)
        if facts["solved"]
    ]
    return [np.concatenate(rows) for rows in zip(*games, strict=True)]


def clone(network, boards, masks, actions, geometry, options):
    """Raise the likelihood of the actions taken, after every round of messages."""
    rng = np.random.default_rng(options.seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, options.updates + 1)
    network.train()
    for update in range(1, options.updates + 1):
        rows = rng.integers(len(boards), size=options.batch)
        given = torch.from_numpy(boards[rows]), torch.from_numpy(masks[rows]).bool()
        taken = torch.from_numpy(actions[rows])
        features = network.body(*given, geometry)
        logits = network.heads["policy"](features)  # [rounds, batch, actions]
        loss = functional.cross_entropy(logits.flatten(0, 1), taken.repeat(len(logits)))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if update % 100 == 0 or update == options.updates:
            agreed = (logits[-1].argmax(1) == taken).float().mean()
            print(f"update {update:5}  loss {loss.item():.3f}  same move {100 * agreed:.0f} %")


if __name__ == "__main__":
    main()
