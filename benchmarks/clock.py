"""Time ways of doing the same thing in turns, so that a busy machine slows all: only ratios are
reported; and the most that a core can do.
"""

import time


def seconds(*functions, rounds=7):
    """The least CPU seconds of each function over rounds in which they take turns; the first round
    is not counted.
    """
    best = [float("inf")] * len(functions)
    for round_ in range(rounds + 1):
        for number, function in enumerate(functions):
            began = time.process_time()
            function()
            if round_:
                best[number] = min(best[number], time.process_time() - began)
    return best


def product_rate(side=1024):
    """Multiply-adds a second of one large float32 product on one thread: the most this core can
    do.
    """
    from quickstudy.jax_gateway import jax, jnp

    square = jnp.ones((side, side), jnp.float32)
    product = jax.jit(jnp.matmul)
    (best,) = seconds(lambda: product(square, square).block_until_ready())
    return side**3 / best
