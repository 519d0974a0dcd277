"""How many units a trained network gets so that it trains as many weights as a reservoir's readout does."""

from __future__ import annotations

import math


def matched_units(width: int, budget: int, gates: int) -> int:
    """The largest size whose parameters, output layer included, do not exceed budget * width (at least 1).

    A network with `gates` gates (1 for a plain recurrent layer, 4 for an LSTM), two bias vectors, `width` inputs and
    `width` outputs has gates (h^2 + h width + 2 h) + h width + width parameters.

    >>> matched_units(16, 1800, gates=1)
    153
    """
    linear = gates * (width + 2) + width
    constant = width - budget * width
    units = int((-linear + math.sqrt(linear * linear - 4 * gates * constant)) / (2 * gates))
    return max(1, units)


def published_units(width: int, budget: int) -> int:
    """The published programs' size: the root of h^2 + 2 h width = budget * width, with a slip in the first sign.

    >>> [published_units(width, 1800) for width in (2, 15, 18, 16, 25, 29, 45, 38, 51)]
    [62, 180, 198, 186, 238, 259, 333, 302, 358]
    """
    return int((2 * width + math.sqrt(4 * width * width + 4 * budget * width)) / 2)
