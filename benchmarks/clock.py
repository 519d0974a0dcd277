"""Time two ways of doing the same thing in turns, so that a busy machine slows both: only the ratio is reported."""

import time


def seconds(*functions, rounds=7):
    """The least CPU seconds of each function over rounds in which they take turns; the first round is not counted."""
    best = [float("inf")] * len(functions)
    for round_ in range(rounds + 1):
        for number, function in enumerate(functions):
            began = time.process_time()
            function()
            if round_:
                best[number] = min(best[number], time.process_time() - began)
    return best
