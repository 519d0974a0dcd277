"""Acting with any PyTorch network: the built-in `actor-critic`, around a network that gives
scores.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals, Tokens

WINDOW, EVERY = 32, 8
"""Steps before those that are learned from that the network reads, and steps between two
updates.
"""
DISCOUNT, TRACE = 0.8, 0.9
"""gamma and lambda of the generalised advantage."""
ENTROPY, CRITIC = 0.01, 0.5
"""Weights of the policy's entropy and of the value's error."""
SIGNS = 3
"""The sign of a reward: below, at, or above 0."""


class Actor:
    """Policy gradient with a learned baseline: one update every few steps, as the built-in
    `actor-critic`.

    The network reads the observation, the action before and the sign of its reward, side by side as
    numbers (a network of `symbols`: the observation alone); its scores are the logits of the
    policy. The critic is a linear layer on the network's states, or on its scores where the states
    are not known. The network reads at most WINDOW + EVERY steps, also when it acts. Without
    learning it takes the likeliest action.
    Source: Mnih et al. 2016, one actor; Schulman et al. 2016 for the advantage.
    """

    def __init__(self, host: Any, brief: Brief) -> None:
        self._host, self._brief, self._torch = host, brief, host.torch
        self._seen: deque[Any] = deque(maxlen=WINDOW + EVERY)
        self._done: list[int] = []
        self._gained: list[float] = []
        self._last: int | None = None
        with self._torch.no_grad():
            blank = self._read(
                0 if isinstance(brief.inputs, Tokens) else np.zeros(brief.inputs.width), 0.0
            )
            features = host.scores_and_features(host.given(blank[None, None]))[1]
        self.critic = self._torch.nn.Linear(features.shape[-1], 1).to(host.device)

    @staticmethod
    def widened(brief: Brief) -> Brief:
        """The brief of the network. Raises NotApplicable for actions that are not symbols."""
        if not isinstance(brief.outputs, Tokens):
            raise NotApplicable("the PyTorch adapters act with symbols only")
        width = brief.inputs.width + brief.outputs.width + SIGNS
        return dataclasses.replace(brief, inputs=Reals(width))

    def act(self, observation: Any, reward: Any, first: bool, learning: bool = True) -> int:
        """The next action; the reward is that of the action before."""
        if np.ndim(reward):
            raise NotApplicable("the PyTorch adapters act for one player")
        if self._done:
            self._gained[-1] = float(reward)
        if learning and self._done and (first or len(self._done) == EVERY):
            self._learn(ended=first)
        if first or not learning or len(self._done) == EVERY:
            self._done, self._gained = [], []
        if first:
            self._seen.clear()
            self._last = None
        self._seen.append(self._read(observation, float(reward)))
        self._last = self._chosen(learning)
        if learning:
            self._done.append(self._last)
            self._gained.append(0.0)
        return self._last

    def kept(self) -> dict[str, Any]:
        """Everything that a later step depends on, for a snapshot."""
        seen = self._torch.tensor(np.array(self._seen))
        return {
            "critic": self.critic.state_dict(),
            "seen": seen,
            "done": list(self._done),
            "gained": list(self._gained),
            "last": self._last,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """The inverse of `kept`."""
        self.critic.load_state_dict(kept["critic"])
        self._seen = deque(kept["seen"].numpy(), maxlen=WINDOW + EVERY)
        self._done, self._gained, self._last = (
            list(kept["done"]),
            list(kept["gained"]),
            kept["last"],
        )

    def _read(self, observation: Any, reward: float) -> NDArray[Any]:
        """One step as the network reads it."""
        if self._host.symbols:
            return np.asarray(observation, np.int32)
        size = self._brief.inputs.width
        tokens = isinstance(self._brief.inputs, Tokens)
        seen = np.arange(size) == observation if tokens else np.asarray(observation)
        done = np.arange(self._brief.outputs.width) == (-1 if self._last is None else self._last)
        sign = 0.0 if self._last is None else np.sign(reward)
        return np.concatenate([seen, done, np.arange(SIGNS) == sign + 1]).astype(np.float32)

    def _chosen(self, learning: bool) -> int:
        with self._host.asking():
            logits = self._host.scores(self._inputs())[-1, 0]
            if not learning:
                return int(logits.argmax())
            return int(self._torch.multinomial(logits.softmax(-1).cpu(), 1))

    def _inputs(self) -> Any:
        return self._host.given(np.stack(self._seen)[:, None])

    def _learn(self, ended: bool) -> None:
        """One update on the steps since the last one. ended: the episode is over, so nothing
        follows.
        """
        steps = len(self._done)
        with self._host.training():
            scores, features = self._host.scores_and_features(self._inputs())
            chances = scores[-steps:, 0].log_softmax(-1)
            values = self.critic(features[-steps:, 0])[:, 0]
            advantage = self._advantage(values.detach().tolist(), ended)
            gains = chances.gather(
                1, self._torch.tensor(self._done, device=chances.device)[:, None]
            )[:, 0]
            spread = -(chances.exp() * chances).sum(-1)
            miss = (values - values.detach() - advantage) ** 2
            self._host.update((CRITIC * miss - gains * advantage - ENTROPY * spread).mean())

    def _advantage(self, values: list[float], ended: bool) -> Any:
        """Generalised advantages. The value after the last step is not known yet: its own value
        replaces it.
        """
        following = [*values[1:], 0.0 if ended else values[-1]]
        later, found = 0.0, []
        for gained, value, after in zip(
            self._gained[::-1], values[::-1], following[::-1], strict=True
        ):
            later = gained + DISCOUNT * after - value + DISCOUNT * TRACE * later
            found.append(later)
        return self._torch.tensor(found[::-1], device=self._host.device)
