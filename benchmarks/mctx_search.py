"""Measures mctx on Sudoku; `search.py` runs it in an environment that has mctx and jax.

Sudoku is written as mctx likes it best: a batch steps by one look-up and a few comparisons, all of
it compiled together with the search. Reads an npz file with boards and networks, writes one with
seconds and visit counts; knows nothing of Sudoku Gym, whose packages need not be installed there.
"""

import functools
import json
import sys
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mctx
import numpy as np


class Game(NamedTuple):
    """Boards under way: the digits int8 `[B, N**2]`, and what may be placed, bool `[B, N**3]`."""

    board: jax.Array
    mask: jax.Array


def clashes(size, height):
    """Which placements exclude each other, or are the same: bool `[N**3, N**3]`."""
    cell, digit = np.divmod(np.arange(size**3), size)
    row, column = np.divmod(cell, size)
    box = row // height * height + column // (size // height)
    constraints = (cell, row * size + digit, column * size + digit, box * size + digit)
    return np.any([of[:, None] == of for of in constraints], 0)


def make_step(size, height):
    """Return the function that plays an action on each board: `(game, reward, is_over)`."""
    excluded = jnp.asarray(clashes(size, height))

    def step(game, action):
        cells = jnp.arange(size**2)
        played = cells == (action // size)[:, None]
        board = jnp.where(played, (action % size + 1)[:, None].astype(jnp.int8), game.board)
        mask = game.mask & ~excluded[action]
        has_candidate = mask.reshape(len(action), size**2, size).any(2)
        is_solved = (board > 0).all(1)
        is_over = is_solved | ((board == 0) & ~has_candidate).any(1)
        return Game(board, mask), is_solved.astype(jnp.float32), is_over

    return step


def make_network(arrays, name, size):
    """Return the network: games in, logits and values out, as `search.py` has it in numpy."""
    weights = {key: jnp.asarray(value) for key, value in arrays.items()}

    def table(game):
        shares = weights["digits"][jnp.arange(size**2), game.board]
        return jnp.broadcast_to(weights["logits"], game.mask.shape), shares.mean(1)

    def perceptron(game):
        hidden = (game.board[:, :, None] == jnp.arange(1, size + 1)).astype(jnp.float32)
        hidden = hidden.reshape(len(game.board), -1)
        for layer in ("first", "second"):
            hidden = jax.nn.relu(hidden @ weights[layer])
        out = hidden @ weights["last"]
        return out[:, :-1], jax.nn.sigmoid(out[:, -1])

    network = {"table": table, "perceptron": perceptron}[name]

    def evaluate(game):
        logits, value = network(game)
        return jnp.where(game.mask, logits, -1e9), value

    return evaluate


def make_search(evaluate, step, policy, simulations):
    """Return the compiled search: `(key, game)` in, mctx's `PolicyOutput` out."""

    def recurrent(_params, _key, action, game):
        after, reward, is_over = step(game, action)
        logits, value = evaluate(after)
        goes_on = 1.0 - is_over.astype(jnp.float32)
        found = mctx.RecurrentFnOutput(
            reward=reward, discount=goes_on, prior_logits=logits, value=value * goes_on
        )
        return found, after

    if policy == "gumbel":
        transform = functools.partial(mctx.qtransform_completed_by_mix_value, rescale_values=False)
        search = functools.partial(mctx.gumbel_muzero_policy, qtransform=transform)
    else:
        search = functools.partial(mctx.muzero_policy, dirichlet_fraction=0.0)

    @jax.jit
    def run(key, game):
        logits, value = evaluate(game)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=game)
        return search(
            None, key, root, recurrent, num_simulations=simulations, invalid_actions=~game.mask
        )

    return run


def main(path_in, path_out, policy, network, simulations, repeats):
    with np.load(path_in) as npz:
        arrays = dict(npz)
    boards, masks, height = arrays["boards"], arrays["masks"], int(arrays["height"])
    size = boards.shape[1]
    game = Game(jnp.asarray(boards.reshape(len(boards), -1)), jnp.asarray(masks))
    evaluate = make_network(arrays, network, size)
    run = make_search(evaluate, make_step(size, height), policy, int(simulations))
    found = jax.block_until_ready(run(jax.random.PRNGKey(0), game))  # compiles
    seconds = []
    for _ in range(int(repeats)):
        start = time.process_time()
        jax.block_until_ready(run(jax.random.PRNGKey(0), game))
        seconds.append(time.process_time() - start)
    visits = found.search_tree.summary().visit_counts
    extra = found.search_tree.extra_data
    noise = extra.root_gumbel if policy == "gumbel" else np.zeros(masks.shape)
    np.savez(path_out, visits=visits, noise=noise, weights=found.action_weights)
    print(json.dumps(min(seconds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
