"""How many units a trained network gets so that it trains as many weights as a reservoir's readout does."""

from __future__ import annotations

import math


def matched_units(width: int, budget: int, gates: int, biases: bool = True) -> int:
    """The largest size whose parameters, output layer included, do not exceed budget * width (at least 1).

    A network with `gates` gates (1 for a plain recurrent layer, 4 for an LSTM), two bias vectors, `width` inputs and
    `width` outputs has gates (h^2 + h width + 2 h) + h width + width parameters. Without biases, which the publication
    does not count, there are gates (h^2 + h width) + h width.

    >>> matched_units(16, 1800, gates=1), matched_units(16, 1800, gates=1, biases=False)
    (153, 154)
    """
    linear = gates * (width + 2 * biases) + width
    constant = width * biases - budget * width
    units = int((-linear + math.sqrt(linear * linear - 4 * gates * constant)) / (2 * gates))
    return max(1, units)


def matched_widths(
    width: int, budget: int, heads: int, layers: int, embedding: int | None, hidden: int | None
) -> tuple[int, int]:
    """Embedding and feed-forward widths of a Transformer, where they are None: the most within budget * width.

    The embedding is the largest multiple of `heads` that leaves room for a feed-forward part of 5/8 of it, the ratio of
    the published network (80 and 50); then the feed-forward part takes all the room there is. With `width` inputs and
    outputs an embedding e and layers of feed-forward width f have e width + layers (4 e^2 + 2 e f + 9 e + f) + (e + 1)
    width parameters. An embedding that is given gets 5/8 of it.

    >>> matched_widths(2, 1800, 8, 1, None, None)
    (24, 20)
    """

    def parameters(e: int, f: int) -> int:
        return e * width + layers * (4 * e * e + 2 * e * f + 9 * e + f) + (e + 1) * width

    def usual(e: int) -> int:
        return max(1, 5 * e // 8) if hidden is None else hidden

    if embedding is not None:
        return embedding, usual(embedding)
    e = heads
    while parameters(e + heads, usual(e + heads)) <= budget * width:
        e += heads
    if hidden is None:
        hidden = max(1, (budget * width - parameters(e, 0)) // (layers * (2 * e + 1)))
    return e, hidden


def published_units(width: int, budget: int) -> int:
    """The published programs' size: the root of h^2 + 2 h width = budget * width, with a slip in the first sign.

    >>> [published_units(width, 1800) for width in (2, 15, 18, 16, 25, 29, 45, 38, 51)]
    [62, 180, 198, 186, 238, 259, 333, 302, 358]
    """
    return int((2 * width + math.sqrt(4 * width * width + 4 * budget * width)) / 2)
