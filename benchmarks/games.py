"""How fast meta-referential games are drawn and played: both players, random actions, observations written out.

Counted are steps that belong to an episode, not those behind its end. The original makes about 2,000 a second. Best of
several calls, in CPU seconds of this process on a processor, in wall seconds elsewhere. `python benchmarks/games.py`
writes a table.
"""

import sys
import time
from functools import partial

import numpy as np

from quickstudy.base import catalogue
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.gateway import device_kind, jax, jnp, lax
from quickstudy.tasks.games.episodes import draw_episode
from quickstudy.tasks.worlds import episode_keys

CALLS = 5
SETTINGS = ((1, 1, 0), (2, 4, 0), (4, 16, 0), (1, 4, 3))
"""Shots, samples, distractors."""


@partial(jax.jit, static_argnums=(3,))
def roll(world, key, numbers, players):
    """Draw episodes and play them with random actions to where the longest is over: (steps that count, observations
    (step, episode, player, width), rewards).
    """
    drawn = jax.vmap(lambda number: draw_episode(world.sizes, world.rules, episode_keys(key, number)[0]))(numbers)
    state, seen = jax.vmap(world.started)(drawn)
    steps = world.sizes.turns * drawn.count - world.sizes.feedback
    count, sizes = len(numbers), world.sizes
    written = jnp.zeros((world.horizon, *seen.shape), jnp.float32).at[0].set(seen)
    rewards = jnp.zeros((world.horizon, count), jnp.float32)

    def once(carry):
        at, state, written, rewards = carry
        bits = jax.random.bits(jax.random.fold_in(key, at), (count, players, 1 + sizes.length))
        said = {str(place): bits[..., 1 + place] % (sizes.words + 1) for place in range(sizes.length)}
        action = {"decision": bits[..., 0] % sizes.decisions, "message": said}
        action = jax.tree.map(lambda part: part.astype(jnp.int32), action)
        state, turn = jax.vmap(lambda state, action: world.step(None, state, action))(state, action)
        written = lax.dynamic_update_index_in_dim(written, turn.observation, at + 1, 0)
        return at + 1, state, written, lax.dynamic_update_index_in_dim(rewards, turn.reward[:, 0], at, 0)

    carry = lax.while_loop(lambda carry: carry[0] < steps.max(), once, (0, state, written, rewards))
    return steps.sum(), carry[2], carry[3]


def rate(shots, samples, distractors, episodes, convention="published"):
    """Steps a second, the best of some calls."""
    given = {"shots": shots, "samples": samples, "distractors": distractors}
    task = configure("games/pair", catalogue.task.get("games/pair"), given, convention)
    world, key = task.world(), Streams(0, "benchmark", 0).jax("data")
    clock = time.process_time if device_kind() == "cpu" else time.perf_counter
    best = 0.0
    for call in range(CALLS + 1):
        began = clock()
        steps, *_ = jax.block_until_ready(roll(world, key, call * episodes + np.arange(episodes), 2))
        if call:  # the first compiles
            best = max(best, int(steps) / (clock() - began))
    return best


def main():
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 256 if device_kind() == "cpu" else 8192
    print("| shots | samples | distractors | steps a second |\n|---:|---:|---:|---:|")
    for setting in SETTINGS:
        print(f"| {' | '.join(map(str, setting))} | {rate(*setting, episodes):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
