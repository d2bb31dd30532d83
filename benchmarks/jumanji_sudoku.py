"""Measures Jumanji's Sudoku; `env_throughput.py` runs it in an environment of its own.

Three ways of playing uniformly random legal actions with automatic resets, all on one core: a
compiled scan over a compiled batch (the fastest way Jumanji can be used), a Python loop over a
compiled batch, and a Python loop over one compiled board. Each counts the choosing of actions.
Prints one JSON object: steps a second for each.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import jumanji
from jumanji.wrappers import AutoResetWrapper, VmapAutoResetWrapper


def random_action(mask, key):
    """Draw a legal (row, column, digit) by one uniform number, cheaper than a Gumbel each."""
    counts = jnp.cumsum(mask.reshape(-1))
    wanted = jax.random.randint(key, (), 0, jnp.maximum(counts[-1], 1)) + 1
    index = jnp.searchsorted(counts, wanted)
    return jnp.stack(jnp.unravel_index(jnp.minimum(index, counts.size - 1), mask.shape))


def fastest(play, repeats):
    """Return the smallest time of several runs, the first (which compiles) left out."""
    play()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        play()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(batch, steps, repeats):
    env = VmapAutoResetWrapper(jumanji.make("Sudoku-v0"))
    state, timestep = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), batch))

    def act(key, mask):
        return jax.vmap(random_action)(mask, jax.random.split(key, batch))

    def advance(carry, key):
        state, timestep = carry
        state, timestep = env.step(state, act(key, timestep.observation.action_mask))
        return (state, timestep), timestep.reward

    scan = jax.jit(lambda carry, keys: jax.lax.scan(advance, carry, keys)[0])
    keys = jax.random.split(jax.random.PRNGKey(1), steps)
    scanned = fastest(
        lambda: jax.block_until_ready(scan((state, timestep), keys)[1].reward), repeats
    )
    step = jax.jit(lambda carry, key: advance(carry, key)[0])

    def loop():
        carry = state, timestep
        for key in keys:
            carry = step(carry, key)
        jax.block_until_ready(carry[1].reward)

    return batch * steps / scanned, batch * steps / fastest(loop, repeats)


def measure_one(steps, repeats):
    env = AutoResetWrapper(jumanji.make("Sudoku-v0"))
    first = jax.jit(env.reset)(jax.random.PRNGKey(0))

    @jax.jit
    def step(carry, key):
        state, timestep = carry
        return env.step(state, random_action(timestep.observation.action_mask, key))

    keys = list(jax.random.split(jax.random.PRNGKey(1), steps))

    def loop():
        carry = first
        for key in keys:
            carry = step(carry, key)
        jax.block_until_ready(carry[1].reward)

    return steps / fastest(loop, repeats)


def main(smoke):
    steps, repeats = (2, 1) if smoke else (100, 5)
    figures = {}
    for batch in (8,) if smoke else (64, 256, 1024):
        scanned, looped = measure(batch, steps, repeats)
        figures[f"compiled scan, {batch} boards"] = scanned
        figures[f"Python loop, {batch} boards"] = looped
    figures["Python loop, one board"] = measure_one(10 * steps, repeats)
    print(json.dumps(figures))


if __name__ == "__main__":
    main("--smoke" in sys.argv)
