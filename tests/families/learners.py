"""Learners for the miniature families, in plain NumPy."""

import numpy as np


class Counter:
    """Counts as far as it has been shown, and no further."""

    def __init__(self, brief, seed):
        self.longest = 0

    def learn(self, inputs, targets):
        self.longest = max(self.longest, int((inputs == 1).sum()))

    def predict(self, inputs):
        known = np.cumsum(inputs == 1) <= self.longest
        return np.where(known & (np.cumsum(inputs == 2) >= np.cumsum(inputs == 1)), 0, 2)


class Taps:
    """Fits the last five inputs by least squares, and keeps some decimals."""

    parameters = 5

    def __init__(self, brief, seed, decimals=9):
        self.decimals, self.weights = decimals, np.zeros((5, 1))

    def learn(self, inputs, targets):
        asked = ~np.isnan(targets[:, 0])
        self.weights = np.linalg.lstsq(self.rows(inputs)[asked], targets[asked], rcond=None)[0]

    def predict(self, inputs):
        return (self.rows(inputs) @ self.weights).round(self.decimals)

    @staticmethod
    def rows(inputs):
        return np.column_stack(
            [np.concatenate([np.zeros(back), inputs[:, 0]])[: len(inputs)] for back in range(5)]
        )
