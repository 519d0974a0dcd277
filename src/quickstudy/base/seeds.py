"""Random streams: every draw comes from a stream named by (root seed, task, repetition, purpose).

Two learners at the same seed see the same data; a further task, learner, seed or worker changes no
other number. Names are hashed by SHA-256, so that streams are the same on every machine and in
every version of Python.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Streams:
    """The random streams of one repetition of one task.

    root: the one seed a user gives; task: the task's id; repetition: 0, 1, 2 ... Purposes in use:
    `data` (what is sampled), `split` (what is held out), `order` (in which order it is shown),
    `core` (weights that are drawn), `noise` (everything random that a learner does later), `host`
    (the seed of a host learner).
    """

    root: int
    task: str
    repetition: int

    def words(self, purpose: str, count: int = 8) -> NDArray[np.uint32]:
        """`count` (at most 8) 32-bit words that identify this stream."""
        name = f"{self.root}/{self.task}/{self.repetition}/{purpose}"
        return np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype="<u4")[:count].astype(
            np.uint32
        )

    def numpy(self, purpose: str) -> np.random.Generator:
        """A NumPy generator at the start of the stream; asking again starts it again."""
        return np.random.Generator(
            np.random.PCG64(np.random.SeedSequence([int(word) for word in self.words(purpose)]))
        )

    def order(self, count: int, passes: int) -> NDArray[np.int64]:
        """(item,) numbers of so many examples in the order shown: all in every pass, each time in a
        new order.
        """
        rng = self.numpy("order")
        return np.concatenate([rng.permutation(count) for _ in range(passes)])

    def for_learner(self) -> Streams:
        """Streams of their own for a learner: from these it can find out neither the task nor its
        data.
        """
        name = "".join(f"{word:08x}" for word in self.words("learner"))
        return Streams(int(name, 16), "", 0)

    def integer(self, purpose: str) -> int:
        """A non-negative 31-bit seed, for learners that take an integer."""
        return int(self.words(purpose, 1)[0] >> 1)

    def jax(self, purpose: str) -> Any:
        """A JAX key (threefry) at the start of the stream."""
        from quickstudy.jax_gateway import key_from_words

        return key_from_words(self.words(purpose, 2))
