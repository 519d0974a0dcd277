"""Three small models in plain NumPy, right, or with one of ten bugs that are easy to make."""

import numpy as np


class Reservoir:
    """Random recurrent units and a readout by least squares, for `span/delay`."""

    bug = ""

    def __init__(self, brief, seed):
        rng = np.random.default_rng(seed)
        self.recurrent = rng.normal(size=(60, 60))
        radius = np.abs(np.linalg.eigvals(self.recurrent)).max()
        self.recurrent *= (3.0 if self.bug == "radius of 3" else 0.9) / radius
        self.inputs = rng.uniform(-0.3, 0.3, (60, brief.inputs.width))
        self.weights = np.zeros((61, brief.outputs.width))

    def features(self, inputs):
        state, rows = np.zeros(60), []
        for x in inputs:
            before = np.zeros(60) if self.bug == "state forgotten at every step" else state
            state = np.tanh(self.recurrent @ before + self.inputs @ x)
            rows.append(state)
        return np.hstack([rows, np.ones((len(rows), 1))])

    def learn(self, inputs, targets):
        rows, asked = self.features(inputs), ~np.isnan(targets).any(axis=1)
        if self.bug == "targets of another step":
            targets = np.roll(targets, 7, axis=0)
        rows, targets = rows[asked], targets[asked]
        targets = np.nan_to_num(targets)
        self.weights = np.linalg.lstsq(rows, targets, rcond=1e-8)[0]

    def predict(self, inputs):
        return self.features(inputs) @ self.weights


class Policy:
    """A table of preferences by cue, moved by reward minus its running mean, for `span/mapping`."""

    bug = ""

    def __init__(self, brief, seed):
        self.rng = np.random.default_rng(seed)
        self.table = np.zeros((brief.inputs.size, brief.outputs.size))
        self.baseline, self.last = 0.1, None

    def act(self, observation, reward, first, learning=True):
        p = np.exp(self.table[observation] - self.table[observation].max())
        p /= p.sum()
        action = int(self.rng.choice(len(p), p=p))
        credited = (
            (observation, action, p) if self.bug == "credit to the next action" else self.last
        )
        if credited is not None and learning and not first:
            cue, done, was = credited
            advantage = reward - self.baseline
            if self.bug == "sign of the advantage":
                advantage = -advantage
            if self.bug == "baseline is the reward":
                advantage = reward - reward
            gradient = -was
            gradient[done] += 1.0
            moved = self.table.copy() if self.bug == "a copy is updated" else self.table
            moved[cue] += 1.0 * advantage * gradient
            np.clip(moved[cue], -3.5, 3.5, out=moved[cue])
            self.baseline += 0.01 * (reward - self.baseline)
        self.last = observation, action, p.copy()
        return action


class Lookup:
    """Attention to where the present symbol stood before, and a readout of what followed it there,
    trained by gradient, for `span/lookup`.
    """

    bug = ""

    def __init__(self, brief, seed):
        self.read = np.eye(brief.inputs.size)
        self.weights = np.zeros((brief.inputs.size, brief.outputs.size))

    def attended(self, inputs):
        rows = self.read[inputs]
        same = rows @ rows.T
        places = np.arange(len(inputs))
        allowed = places[:, None] > places
        if self.bug == "mask of the future":
            allowed = places[:, None] < places
        if self.bug == "mask leaves the present alone":
            allowed = places[:, None] == places
        scores = np.where(allowed, 20.0 * same, -1e9)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        values = rows if self.bug == "keys for values" else np.roll(rows, -1, axis=0)
        return weights @ values

    def learn(self, inputs, targets):
        rows = self.attended(inputs)
        for t in np.flatnonzero(targets >= 0):
            scores = rows[t] @ self.weights
            p = np.exp(scores - scores.max())
            p /= p.sum()
            p[targets[t]] -= 1.0
            self.weights -= 0.5 * np.outer(rows[t], p)

    def predict(self, inputs):
        return self.attended(inputs) @ self.weights


BUGS = {
    Reservoir: ("state forgotten at every step", "targets of another step", "radius of 3"),
    Policy: (
        "sign of the advantage",
        "credit to the next action",
        "baseline is the reward",
        "a copy is updated",
    ),
    Lookup: ("mask of the future", "mask leaves the present alone", "keys for values"),
}
ON = {
    Reservoir: ("span/delay", 8.0, {}),
    Policy: ("span/mapping:block=400", 2.0, {}),
    Lookup: ("span/lookup", 8.0, {"sequences": 150, "tests": 6}),
}
"""The item, the span that is demanded, and the protocol."""


def with_bug(model, bug):
    """A class of its own."""
    name = "".join(word.capitalize() for word in bug.split())
    return type(f"{model.__name__}With{name}", (model,), {"bug": bug})
