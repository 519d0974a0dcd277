"""Meta-referential games as environments of other programs: Gymnasium for the listener, PettingZoo
for both players.

    import gymnasium
    import quickstudy.adapters.games
    env = gymnasium.make("quickstudy/Listener-v1", shots=1, samples=4)

    from quickstudy.adapters.games import parallel_env
    env = parallel_env(shots=1, samples=4)

Observations have the keys of the original; with `original=True` also its batch axis of 1 and the
noise in its `other_agent_id`, with `binary=True` the message as zeros and ones too, with
`bare=True` the stimulus alone. What a player must not see is in `info`, and what it did last. The
ids of the original are registered too, with its defaults. Without a seed, the first reset begins
with random episodes. Needs the extras `learners` and `rl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from quickstudy.adapters.game_actions import NOISE, Actions, Form
from quickstudy.adapters.rendering import METADATA, check_render_mode, root_seed, spelled
from quickstudy.base import registries
from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.jax_gateway import jax
from quickstudy.tasks.games.episodes import Episode
from quickstudy.tasks.games.play import LISTENER, SPEAKER, begin, observe, proceed, round_of, spoken
from quickstudy.tasks.games.settings import Sizes

try:
    import gymnasium
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "pettingzoo", "rl") from error

spaces = gymnasium.spaces
PLAYERS = ("speaker", "listener")
FARTHEST = 2.0
"""No stimulus lies beyond: 5.3 deviations, 3 of them inside a section that is at most 2 wide."""
BUFFERED = 256
"""Episodes that are drawn at once."""


class Table:
    """A task's episodes, one after another, played step by step in the program that learners play
    in. form: of what players see.
    """

    def __init__(self, task: Any, form: Form) -> None:
        self.task, self.sizes, self._form = task, task.sizes, form
        self._compile()
        self.opened = False

    def _compile(self) -> None:
        self.program = _program(self.sizes, bool(stated(self.task, TaskFacts).replies))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled programs."""
        return {name: value for name, value in vars(self).items() if name != "program"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._compile()

    def open(self, seed: int) -> None:
        """From the first episode of a root seed on."""
        streams = Streams(seed, self.task.id, 0)
        self._key, self._noise, self._next = streams.jax("data"), streams.numpy("agent-ids"), 0
        self._drawn: list[Episode] = []
        self.opened = True

    def begin(self) -> dict[str, Any]:
        """The next episode: what both players see."""
        if not self._drawn:
            drawn = self.task.episodes(self._key, self._next, BUFFERED)
            self._drawn = [drawn.alone(row) for row in range(BUFFERED)]
            self._next += BUFFERED
        self.episode, self._standing = self._drawn.pop(0), begin(self.sizes)
        self._steps, self._right, self._games = 0, 0, 0
        self._before: tuple[Mapping[str, Any], float] = dict.fromkeys(PLAYERS), 0.0
        self._agents = self._noise.random((len(PLAYERS), NOISE), np.float32)
        return self._views(self.program[0](self.episode, self._standing))

    def step(
        self, message: Any, decision: int, reply: Any, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], float, bool]:
        """(views, reward, done). message: None for the speaker by rule. actions: of the
        players, unchanged.
        """
        if message is None:
            message = self.program[2](self.episode, self._standing)
        mode = self._mode()
        self._standing, reward, info, views = self.program[1](
            self.episode, self._standing, message, decision, reply
        )
        self._steps, self._before = self._steps + 1, (actions, float(reward))
        if info["decided"]:
            self._games, self._right = self._games + 1, self._right + int(info["right"])
        if self._mode() != mode:
            self._games = self._right = 0
        return self._views(views), float(reward), bool(self._standing.over)

    @property
    def deciding(self) -> bool:
        """Whether the listener's decision is asked for now."""
        return bool(int(self._standing.turn) == self.sizes.rounds)

    def _mode(self, after: int = 0) -> str:
        """The phase of the present game or of one after it, by the original's names: every pass has
        its own.
        """
        game, support = int(self._standing.game) + after, int(self.episode.support)
        return (
            "test" if game >= support else f"train{game // max(support // self.sizes.repeats, 1)}"
        )

    def _place(self) -> int:
        """The number of the present game in its phase, or in its pass of the support games."""
        game, support = int(self._standing.game), int(self.episode.support)
        return game - support if game >= support else game % max(support // self.sizes.repeats, 1)

    def _views(self, views: Any) -> dict[str, Any]:
        kinds = {
            "stimulus": np.float32,
            "previous_game_reward": np.float32,
            "communication_channel": np.int64,
        }
        self._seen: dict[str, dict[str, Any]] = {}
        for role, (player, view) in enumerate(zip(PLAYERS, views, strict=True)):
            own = {
                key: np.asarray(part).astype(kinds.get(key, np.int8)) for key, part in view.items()
            }
            own["role_id"] = np.eye(2, dtype=np.int8)[role]
            self._seen[player] = self._form.of(own, self._agents[1 - role], self.sizes.words)
        return {
            player: own["stimulus"] if self._form.bare else own
            for player, own in self._seen.items()
        }

    def space(self) -> Any:
        """Of a player's observation."""
        sizes = self.sizes
        plain = {
            "stimulus": spaces.Box(-FARTHEST, FARTHEST, (sizes.seen,), np.float32),
            "communication_channel": spaces.MultiDiscrete([sizes.words + 1] * sizes.length),
            "mode_id": spaces.MultiBinary(2),
            "previous_game_result": spaces.MultiBinary(2),
            "previous_game_reward": spaces.Box(-2.0, 1.0, (1,), np.float32),
            "role_id": spaces.MultiBinary(2),
        }
        return self._form.space(plain)

    def info(self, player: str, actions: Actions) -> dict[str, Any]:
        """Information not meant for learners, by the original's names: latents, round, phase,
        results so far; and the player's last action, with its reward. At first there is no
        `previous_action`: vectors of environments have no room for None.
        """
        turn, game = int(self._standing.turn), int(self._standing.game)
        feedback, last = turn > self.sizes.rounds, game + 1 >= int(self.episode.count)
        wide, means = (
            self._form.batched,
            self.episode.speaker_means if feedback else self.episode.listener_means,
        )
        found = {
            "speaker_exp_latents": wide(self.episode.speaker_means[game].copy()),
            "listener_exp_latents": wide(means[game].copy()),
            "round_idx": int(round_of(self.sizes, self._standing)),
            "round_id": wide(np.eye(self.sizes.rounds + 2, dtype=np.int8)[turn][:-1]),
            "nbr_communication_rounds": self.sizes.rounds,
            "stimulus_idx": self._place(),
            "step_idx": self._steps,
            "mode": self._mode(),
            "end_of_mode": turn == self.sizes.turns - 1 and (last or self._mode(1) != self._mode()),
            "nbr_games": self._games,
            "nbr_successes": self._right,
            "running_accuracy": 100.0 * self._right / max(self._games, 1),
            "previous_reward": self._before[1],
        }
        if self._before[0][player] is not None:
            found["previous_action"] = self._before[0][player]
        if self._form.bare:
            found |= {key: part for key, part in self._seen[player].items() if key != "stimulus"}
        if actions.form == "flat":
            found["action_mask"] = wide(actions.mask(player, self.deciding))
            found["legal_actions"] = found["action_mask"]
        return found

    def text(self, player: str, action: Any) -> str:
        """What a player sees now, after what it did last, for people."""
        own, before = self._seen[player], ""
        if self._before[0].get(player) is not None:
            before = f"you {spelled(action)}\nreward {self._before[1]:g}\n"
        heard = spelled(own["communication_channel"])
        place = (
            f"{self._mode()}, game {self._place()}, round"
            f" {int(round_of(self.sizes, self._standing))}"
        )
        return f"{before}{place}\nstimulus {spelled(own['stimulus'])}\nmessage {heard}"


@lru_cache(maxsize=32)
def _program(sizes: Sizes, replies: bool) -> tuple[Any, Any, Any]:
    """(observe, proceed and observe, the message of the rule-based speaker), compiled."""

    def step(episode: Episode, standing: Any, message: Any, decision: Any, reply: Any) -> Any:
        standing, reward, info = proceed(
            sizes, episode, standing, message, decision, reply if replies else None
        )
        return standing, reward, info, observe(sizes, episode, standing)

    looked = jax.jit(lambda episode, standing: observe(sizes, episode, standing))
    return (
        looked,
        jax.jit(step),
        jax.jit(lambda episode, standing: spoken(sizes, episode, standing)),
    )


def _task(id: str, convention: str, parameters: Mapping[str, Any]) -> Any:
    return configure(id, registries.task.get(id), parameters, convention)


class ListenerEnv(gymnasium.Env[Any, Any]):
    """`games/listener` for one learner; the speaker is the one by rule.

    flat: the original's space of 519 actions (for V = 6, L = 3, K = 0), whose messages no listener
    reads. original, binary, bare: the form of an observation (`Form`). Other arguments are
    parameters of the task. An action is asked for at every step, and counts where `round_idx` is N.
    """

    metadata = METADATA

    def __init__(
        self,
        convention: str = "corrected",
        flat: bool = False,
        original: bool = False,
        binary: bool = False,
        bare: bool = False,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self._table = Table(
            _task("games/listener", convention, parameters), Form(original, binary, bare)
        )
        self._actions = Actions(self._table.sizes, "flat" if flat else "decision")
        self.observation_space, self.action_space = self._table.space(), self._actions.space
        self._on = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The first observation of the next episode, or of the first of a root seed."""
        super().reset(seed=seed)
        if seed is not None or not self._table.opened:
            self._table.open(root_seed(self.np_random) if seed is None else seed)
        self._last: Any = None
        self._on, views = True, self._table.begin()
        return views["listener"], self._table.info("listener", self._actions)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One action."""
        if not self._on:
            raise UsageError("reset the environment before the first step")
        decision, _ = self._actions.read(action, "listener")
        views, reward, done = self._table.step(None, decision, None, {"listener": action})
        self._on, self._last = not done, action
        return views["listener"], reward, done, False, self._table.info("listener", self._actions)

    def action_masks(self) -> Any:
        """Which actions are legal now, as agents that mask actions ask for them; without `flat` all
        are.
        """
        if self._actions.form != "flat":
            return np.ones(self.action_space.n, np.bool_)  # type: ignore[attr-defined]
        return self._actions.mask("listener", self._table.deciding).astype(np.bool_)

    def render(self) -> str | None:
        """The present step as text, with `render_mode="ansi"`; else None."""
        return (
            self._table.text("listener", self._last)
            if self.render_mode and self._table.opened
            else None
        )


class PairEnv(ParallelEnv[str, Any, Any]):
    """`games/pair`: speaker and listener act at every step, and are given the same reward.

    flat: one number for decision and message. original, binary, bare: the form of an observation
    (`Form`). Other arguments are parameters of the task.
    """

    # As PettingZoo wants it.
    metadata = {"name": "quickstudy_pair_v1", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        convention: str = "corrected",
        flat: bool = False,
        original: bool = False,
        binary: bool = False,
        bare: bool = False,
        render_mode: None = None,
        **parameters: Any,
    ) -> None:
        self._table = Table(
            _task("games/pair", convention, parameters), Form(original, binary, bare)
        )
        self._actions = Actions(self._table.sizes, "flat" if flat else "both")
        self.possible_agents = list(PLAYERS)
        self.agents: list[str] = []
        self.observation_spaces = {player: self._table.space() for player in PLAYERS}
        self.action_spaces = {
            player: Actions(self._table.sizes, self._actions.form).space for player in PLAYERS
        }
        self.render_mode = render_mode

    def observation_space(self, agent: str) -> Any:
        """The same for both."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same for both."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """(observations, infos) by player."""
        if seed is not None or not self._table.opened:
            self._table.open(root_seed(np.random.default_rng()) if seed is None else seed)
        self.agents, views = list(PLAYERS), self._table.begin()
        return views, self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """(observations, rewards, terminations, truncations, infos) by player."""
        if not self.agents:
            raise UsageError("reset the environment before the first step")
        if not isinstance(actions, Mapping):
            raise UsageError(
                f"actions must be given by player, {' and '.join(PLAYERS)}, got {actions!r}"
            )
        if missing := [player for player in PLAYERS if player not in actions]:
            raise UsageError(f"an action of the {missing[0]} is missing")
        read = [self._actions.read(actions[player], player) for player in PLAYERS]
        views, reward, done = self._table.step(
            read[SPEAKER][1], read[LISTENER][0], read[LISTENER][1], actions
        )
        everybody = list(PLAYERS)
        self.agents = [] if done else everybody
        ends, cuts = dict.fromkeys(everybody, done), dict.fromkeys(everybody, False)
        return views, dict.fromkeys(everybody, reward), ends, cuts, self._infos()

    def _infos(self) -> dict[str, Any]:
        return {player: self._table.info(player, self._actions) for player in PLAYERS}


parallel_env = PairEnv

ORIGINAL = {
    "convention": "published",
    "shots": 0,
    "distractors": 1,
    "descriptive": False,
    "feedback": False,
}
"""The defaults of the original's factory; its 2-shot variant plays the same support games twice."""
_BENCHMARK = "SymbolicBehaviourBenchmark"
for _id, _entry, _given in (
    ("quickstudy/Listener-v1", "games:ListenerEnv", {}),
    ("quickstudy/Recall-v1", "recall:RecallEnv", {}),
    (f"{_BENCHMARK}-ReceptiveConstructiveTestEnv-v0", "games:ListenerEnv", ORIGINAL),
    (
        f"{_BENCHMARK}-ReceptiveConstructiveTestEnv-2Shots-v0",
        "games:ListenerEnv",
        {**ORIGINAL, "repeats": 2},
    ),
    (f"{_BENCHMARK}-RecallTestEnv-v0", "recall:RecallEnv", {"convention": "published", "shots": 1}),
    (f"{_BENCHMARK}-RecallTestEnv-2Shots-v0", "recall:RecallEnv", {"convention": "published"}),
):
    if _id not in gymnasium.registry:
        gymnasium.register(id=_id, entry_point=f"quickstudy.adapters.{_entry}", kwargs=_given)
