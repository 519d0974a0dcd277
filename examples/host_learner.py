"""Measure your own learner, in plain NumPy, next to a built-in one.

    python examples/host_learner.py

The sizes are small so that it ends in seconds; leave `protocol` out for the real ones.
"""

import numpy as np

import quickstudy as qs


class Context:
    """Counts which answer followed the last `reach` tokens; the largest count wins."""

    def __init__(self, brief, seed, reach=3):
        self.weights = brief.inputs.size ** np.arange(reach)
        self.counts = np.zeros((brief.inputs.size**reach, brief.outputs.size))
        self.parameters = self.counts.size

    def learn(self, inputs, targets):
        asked = targets >= 0
        np.add.at(self.counts, (self.places(inputs)[asked], targets[asked]), 1)

    def predict(self, inputs):
        return self.counts[self.places(inputs)]

    def places(self, inputs):
        reach = len(self.weights)
        padded = np.concatenate([np.zeros(reach - 1, dtype=int), inputs])
        return np.lib.stride_tricks.sliding_window_view(padded, reach) @ self.weights


results = qs.run(
    "language/periodic", [Context, "esn:units=100"], seeds=2, protocol={"sequences": 60}
)
results.show()
print(results.report())
