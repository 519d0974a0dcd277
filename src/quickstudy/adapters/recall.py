"""The recall task as a Gymnasium environment, by the original's keys. Needs the extras `learners`
and `rl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quickstudy.adapters.rendering import METADATA, check_render_mode, root_seed, spelled
from quickstudy.base import registries
from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.tasks.worlds import PureWorld

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtra("gymnasium", "rl") from error

spaces = gymnasium.spaces


class RecallEnv(gymnasium.Env[Any, Any]):
    """`games/recall` for one learner: a stimulus, then the question for one of its values.

    shots: 2, or 1 for the first alone. flat: the original's space, with one more action after all
    values, which does nothing. Other arguments are parameters of the task.
    """

    metadata = METADATA

    def __init__(
        self,
        convention: str = "corrected",
        shots: int = 2,
        flat: bool = False,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        if shots not in (1, 2):
            raise UsageError(f"shots must be 1 or 2, got {shots}")
        id = "games/recall"
        self._task: Any = configure(id, registries.task.get(id), parameters, convention)
        self._shots, self._shown = shots, ""
        self._world: PureWorld | None = None
        width = self._task.inputs.width - 2
        self.observation_space = spaces.Dict(
            {
                "stimulus": spaces.Box(-2.0, 2.0, (width,), np.float32),
                "previous_game_result": spaces.MultiBinary(2),
            }
        )
        self.action_space = spaces.Discrete(self._task.outputs.size + flat)
        self._on = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The first observation of the next episode, or of the first of a root seed."""
        super().reset(seed=seed)
        if seed is not None or self._world is None:
            root = root_seed(self.np_random) if seed is None else seed
            self._world = PureWorld(self._task, Streams(root, self._task.id, 0))
        self._on, seen = True, self._seen(self._world.reset())
        self._shown = f"train0\n{spelled(seen)}"
        return seen, {"mode": "train0"}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One action."""
        if not self._on or self._world is None:
            raise UsageError("reset the environment before the first step")
        if not self.action_space.contains(np.int64(action) if isinstance(action, int) else action):
            raise UsageError(f"action must be in {self.action_space}, got {action!r}")
        answer = (
            -1 if int(action) == self._task.outputs.size else int(action)
        )  # no value: never the right one
        turn = self._world.step(answer)
        second = bool(turn.info["second"])
        done = bool(turn.done) or (self._shots == 1 and second)
        self._on = not done
        info = {
            "mode": f"train{int(second and self._shots > 1)}",
            "right": bool(turn.info["right"]),
        }
        seen = self._seen(turn.observation)
        if self.render_mode:
            self._shown = (
                f"you {spelled(action)}\nreward {turn.reward:g}\n{info['mode']}\n{spelled(seen)}"
            )
        return seen, float(turn.reward), done, False, info

    def render(self) -> str | None:
        """The last step as text, with `render_mode="ansi"`; else None."""
        return self._shown if self.render_mode else None

    @staticmethod
    def _seen(observation: Any) -> dict[str, Any]:
        seen = np.asarray(observation)
        return {
            "stimulus": seen[:-2].astype(np.float32),
            "previous_game_result": seen[-2:].astype(np.int8),
        }
