"""How fast meta-referential games are drawn and played: both players, random actions, observations
written out.

Counted are steps that belong to an episode: a new one begins in the slot where one ends, which is
no step. The original makes about 2,000 a second. Best of several calls, in CPU seconds of this
process on a processor, in wall seconds elsewhere.

`python benchmarks/games.py [EPISODES [SLOTS [UNROLLED]]]` writes a table; several numbers with
commas between, as in `32768,131072 8192,32768 1,3`, are all tried.
"""

import itertools
import sys
import time
from functools import partial

from quickstudy.base import registries
from quickstudy.base.exchange import Rehearsal
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import device_kind, jax, jnp, lax
from quickstudy.learners.episode_batches import drawn, laid_out
from quickstudy.learners.rollout import Arena

CALLS = 5
SETTINGS = ((1, 1, 0), (1, 4, 3), (2, 4, 0), (4, 16, 0))
"""Shots, samples, distractors."""
USUAL = {"cpu": ((256,), (32,), (1,))}
"""Episodes of a call, slots, steps of one turn of the loop."""


@partial(jax.jit, static_argnums=(3, 4, 5))
def roll(world, key, material, slots, steps, unrolled):
    """Play them with random actions: (steps that count, observations (step, slot, player, width),
    rewards, ends).
    """
    sizes = world.sizes
    row, begun = laid_out(world, material)
    episodes = len(begun[1])
    arena = Arena(row, begun, None, jnp.arange(episodes), episodes)
    first = arena.first(slots)

    def once(playing, at):
        word = jax.random.bits(jax.random.fold_in(key, at), (slots, world.players)).astype(
            jnp.uint32
        )
        digits = [word % sizes.decisions]
        word = word // sizes.decisions
        for _ in range(sizes.length):
            digits.append(word % (sizes.words + 1))
            word = word // (sizes.words + 1)
        decision, *said = (digit.astype(jnp.int32) for digit in digits)
        action = {
            "decision": decision,
            "message": {str(place): token for place, token in enumerate(said)},
        }
        counts = ~playing.ended
        playing, said, _ = arena.step(playing, jnp.zeros((slots, 0)), action)
        return playing, (playing.seen, said.reward[:, 0], said.done, counts)

    _, (written, rewards, done, counts) = lax.scan(once, first, jnp.arange(steps), unroll=unrolled)
    return counts.sum(), first.seen, written, rewards, done


def rate(setting, episodes, slots, unrolled, convention="published"):
    """Steps a second, the best of some calls; the part of the time that drawing takes; the part of
    steps that count.
    """
    given = dict(zip(("shots", "samples", "distractors"), setting, strict=True))
    task = configure("games/pair", registries.task.get("games/pair"), given, convention)
    world, key = task.world(), Streams(0, "benchmark", 0).jax("data")
    clock = time.process_time if device_kind() == "cpu" else time.perf_counter
    best, steps = (0.0, 0.0, 0.0), None
    for call in range(CALLS + 1):
        began = clock()
        numbers = jnp.arange(call * episodes, (call + 1) * episodes)
        material = jax.block_until_ready(drawn(Rehearsal(world, key[None]), numbers[None]))
        _, games = material = jax.tree.map(lambda leaf: leaf[0], material)
        between = clock()
        steps = steps or int(games.starts[-1]) * world.sizes.turns // slots // unrolled * unrolled
        count, *_ = jax.block_until_ready(roll(world, key, material, slots, steps, unrolled))
        if call:  # the first compiles
            taken = clock() - began
            best = max(
                best, (int(count) / taken, (between - began) / taken, int(count) / (slots * steps))
            )
    return best


def main():
    usual = USUAL.get(device_kind(), ((131072,), (32768,), (3,)))
    given = [tuple(map(int, one.split(","))) for one in sys.argv[1:]]
    print(
        "| shots | samples | distractors | episodes | slots | unrolled | steps a second | drawing |"
        " counts |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for setting in SETTINGS:
        for sizes in itertools.product(*given, *usual[len(given) :]):
            speed, drawing, counts = rate(setting, *sizes)
            row = " | ".join(map(str, (*setting, *sizes)))
            print(f"| {row} | {speed:,.0f} | {drawing:.0%} | {counts:.0%} |", flush=True)


if __name__ == "__main__":
    main()
