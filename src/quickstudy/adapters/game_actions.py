"""What players of referential games do and see in other programs: spaces of actions, and the
original's form of an observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.tasks.games.settings import Sizes

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtra("gymnasium", "rl") from error

spaces = gymnasium.spaces
CHANNEL = "communication_channel"
BINARY = "communication_channel_multi_binary"
NOISE = 10
"""Numbers of `other_agent_id`."""


@dataclass(frozen=True)
class Form:
    """In which form an observation is given, as by the wrappers of the original.

    original: with an axis of 1 in front of everything but the stimulus, in `info` in front of
    latents, `round_id` and masks; tokens as 64-bit floats; and the noise by which the other player
    is known, uniform in 0 .. 1 and resampled for every episode. binary: the message also as blocks
    of zeros with a one, `communication_channel_multi_binary`. bare: the stimulus only; everything
    else is in `info`.
    """

    original: bool = False
    binary: bool = False
    bare: bool = False

    def of(self, view: Mapping[str, Any], other: NDArray[np.float32], words: int) -> dict[str, Any]:
        """An observation by its keys; other: the noise of the other player."""
        parts = dict(view)
        if self.binary:
            parts[BINARY] = np.eye(words + 1, dtype=np.int8)[view[CHANNEL]].reshape(-1)
        if not self.original:
            return parts
        parts[CHANNEL] = parts[CHANNEL].astype(np.float64)
        wide = {key: part if key == "stimulus" else part[None] for key, part in parts.items()}
        return {**wide, "other_agent_id": other[None].copy()}

    def batched(self, part: NDArray[Any]) -> NDArray[Any]:
        """An array of `info`, with the axis of 1 where there is one."""
        return part[None] if self.original else part

    def space(self, plain: Mapping[str, Any]) -> Any:
        """Of such observations, from the spaces of the plain keys."""
        parts = dict(plain)
        if self.bare:
            return parts["stimulus"]
        if self.binary:
            parts[BINARY] = spaces.MultiBinary(int(parts[CHANNEL].nvec.sum()))
        if self.original:
            parts[CHANNEL] = spaces.Box(
                0.0, float(parts[CHANNEL].nvec.max() - 1), parts[CHANNEL].shape, np.float64
            )
            parts = {key: part if key == "stimulus" else _wide(part) for key, part in parts.items()}
            parts["other_agent_id"] = spaces.Box(0.0, 1.0, (1, NOISE), np.float32)
        return spaces.Dict(parts)


def _wide(part: Any) -> Any:
    """A space with an axis of 1 in front."""
    if isinstance(part, spaces.MultiBinary):
        return spaces.MultiBinary((1, *part.shape))
    return spaces.Box(float(part.low.min()), float(part.high.max()), (1, *part.shape), part.dtype)


class Actions:
    """What a player may do: a plain decision, a decision with a message, or one number for both, as
    in the original.

    flat: decision x (number of messages) + number of the message, and last the action that does
    nothing (decision 0, no message). Messages are numbered in the base of the words, the first
    position least significant, with digits from 1: 0 is the empty one, 1 .. V have one token, V + 1
    is (1, 1). form: `decision`, `both` or `flat`.
    """

    def __init__(self, sizes: Sizes, form: str) -> None:
        self.sizes, self.form = sizes, form
        self.messages = sum(sizes.words**length for length in range(sizes.length + 1))
        decision = spaces.Discrete(sizes.decisions)
        if form == "flat":
            self.space: Any = spaces.Discrete(sizes.decisions * self.messages + 1)
        elif form == "both":
            said = spaces.MultiDiscrete([sizes.words + 1] * sizes.length)
            self.space = spaces.Dict({"decision": decision, "communication_channel": said})
        else:
            self.space = decision

    def read(self, action: Any, player: str) -> tuple[int, NDArray[np.int32]]:
        """(decision, tokens). Raises UsageError for what is outside the space."""
        if isinstance(action, int) and not isinstance(action, bool):
            action = np.int64(action)
        try:
            parts = (
                {name: np.asarray(part) for name, part in action.items()}
                if isinstance(action, Mapping)
                else action
            )
            fits = self.space.contains(parts)
        except ValueError:  # a list whose entries are lists of unequal lengths
            fits = False
        if not fits:
            raise UsageError(f"action of the {player} must be in {self.space}, got {action!r}")
        silence = np.zeros(self.sizes.length, np.int32)
        if self.form == "both":
            return int(parts["decision"]), parts["communication_channel"].astype(np.int32)
        if self.form == "decision":
            return int(action), silence
        if int(action) == self.space.n - 1:
            return 0, silence
        decision, number = divmod(int(action), self.messages)
        return decision, self.tokens(number)

    def tokens(self, number: int) -> NDArray[np.int32]:
        """The message of a number."""
        said = np.zeros(self.sizes.length, np.int32)
        for place in range(self.sizes.length):
            if number:
                said[place] = (number - 1) % self.sizes.words + 1
                number = (number - 1) // self.sizes.words
        return said

    def mask(self, player: str, deciding: bool) -> NDArray[np.int8]:
        """Which flat actions are legal: a listener does nothing but at the decision, and all else
        is.
        """
        acts = player == "speaker" or deciding
        mask = np.full(self.space.n, acts, dtype=np.int8)
        mask[-1] = not acts
        return mask
