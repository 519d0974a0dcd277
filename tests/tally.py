"""What was tried and what held: parts, progress and counts of the long trials of `make chaos`.

A trial is a row of tries with numbers from 0, each with random numbers of its own, so that any part
of it is the same alone as within the whole: `python tests/chaos.py` makes all trials of the script,
`python tests/chaos.py flips=0:5000 records` only some.
"""

import sys
import time
from collections import Counter

import numpy as np

HELD = ("noticed", "harmless", "whole")
SECONDS = 20.0
"""Between two lines of progress."""


def chosen(words, trials):
    """By name, the numbers of the tries that somebody asks for: NAME or NAME=FROM:TO; without words
    all of them.

    trials: how many there are, by name.
    """
    asked = {}
    for word in words or trials:
        name, _, part = word.partition("=")
        if name not in trials:
            sys.exit(f"no trial {name}; there are {', '.join(trials)}")
        start, _, stop = part.partition(":")
        asked[name] = range(int(start or 0), int(stop or trials[name]))
    return asked


def generator(name, number):
    """Random numbers of one try."""
    return np.random.default_rng([*name.encode(), number])


class Tally:
    """Counts of one trial, by kind and verdict.

    faults: what did not hold, in words. loud: whether progress is said, on standard output.
    """

    def __init__(self, name, total, loud=True):
        self.name, self.total, self.loud = name, total, loud
        self.counts, self.faults = Counter(), []
        self._began = self._said = time.monotonic()

    def add(self, kind, verdict, fault=""):
        """One was tried, or something of it did not hold."""
        self.counts[str(kind), verdict] += 1
        if verdict not in HELD:
            self.faults.append(f"{verdict}: {kind}: {fault}")
            self._say(f"{self.name}: DID NOT HOLD {self.faults[-1]}")
        elif time.monotonic() - self._said > SECONDS:
            self._said = time.monotonic()
            self._say(
                f"{self.name}: {self.tried} of {self.total}, {self.held} held,"
                f" {self._seconds:.0f} s"
            )

    @property
    def tried(self):
        return self.counts.total()

    @property
    def held(self):
        return sum(count for (_, verdict), count in self.counts.items() if verdict in HELD)

    @property
    def _seconds(self):
        return time.monotonic() - self._began

    def _say(self, line):
        if self.loud:
            print(line, flush=True)

    def end(self):
        """Say the counts of every kind, and of all. Gives whether all held."""
        for kind in dict.fromkeys(kind for kind, _ in self.counts):
            verdicts = {
                verdict: count
                for (one, verdict), count in sorted(self.counts.items())
                if one == kind
            }
            held = sum(verdicts.get(verdict, 0) for verdict in HELD)
            self._say(
                f"{self.name:8} {kind:16} {sum(verdicts.values()):6} tried, {held:6} held "
                f" {verdicts}"
            )
        self._say(
            f"{self.name:8} {'all':16} {self.tried:6} tried, {self.held:6} held,"
            f" {self._seconds:.0f} s"
        )
        return not self.faults
