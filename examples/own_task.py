"""Add a task and its solution: quickstudy run language/reverse --include own_task.py ..."""

from dataclasses import dataclass

import numpy as np

import quickstudy as qs


@qs.task("language/reverse", version=1, controls=["majority", "copy-last"], oracle="reverse-oracle")
@dataclass(frozen=True)
class Reverse:
    """Repeat a string backwards. Sees a string and a bar; must give the string from its end."""

    vocabulary = ("a", "b", "c", "d", "|")
    longest: int = qs.parameter(10, at_least=1)

    def sample(self, rng, count):
        words = [rng.integers(4, size=rng.integers(1, self.longest + 1)) for _ in range(count)]
        return qs.Examples.from_pairs(([*word, 4], word[::-1]) for word in words)


@qs.control("reverse-oracle", version=1, role="oracle")
class ReverseOracle:
    """From the bar on, gives the string from its end."""

    def __init__(self, task, brief, seed):
        self.bar = task.vocabulary.index("|")

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        told = inputs[: [*inputs, self.bar].index(self.bar)]
        return np.concatenate([told, told[::-1], np.zeros(len(inputs), dtype=int)])[: len(inputs)]


if __name__ == "__main__":  # workers=0: the task exists in this process only
    few = {"sequences": 60}
    qs.run("language/reverse", "esn:units=100", seeds=2, protocol=few, workers=0).show()
