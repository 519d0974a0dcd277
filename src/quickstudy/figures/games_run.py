"""One episode of a referential game, game by game: the message, what the listener saw and
decided, what it was shown then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quickstudy.base.blocks import Block, Steps, Terms, Text
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.registries import figure, task
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.play.listener import Heard, games_of, numbers, stimuli_plot


@figure("games/run", version=1)
def episode(what: Mapping[str, Any], trace: Trace) -> list[Block]:
    """The first episode of the last test, resampled from the run's seed."""
    named = what["task"]
    made = configure(named["id"], task.get(named["id"]), named["parameters"], what["convention"])
    try:
        games = list(games_of(made, Streams(what["root"], named["id"], what["repetition"]), 1))
    except UsageError as error:
        return [Text(f"No episode step by step: {error}.", "remark")]
    first = trace.arrays["episode"] == 0
    known = {name: trace.arrays[name][first] for name in ("right", "game", "query", "foil")}
    if not all(_agrees(games, known[name], name) for name in ("game", "query", "foil")):
        return [
            Text("The episode cannot be resampled: its games are not those of the trace.", "remark")
        ]
    decided = (
        trace.arrays["decision"][first].tolist()
        if "decision" in trace.arrays
        else [None] * len(games)
    )
    right = known["right"].tolist()
    steps = [
        _step(game, good, choice) for game, good, choice in zip(games, right, decided, strict=False)
    ]
    caption = (
        f"The first episode of the test, game by game: {sum(right)} of {len(right)} decisions are"
        " right."
    )
    return [Steps(caption, steps)]


def _agrees(games: list[Heard], known: Any, name: str) -> bool:
    drawn = np.array([getattr(game, name) for game in games])
    return len(known) <= len(drawn) and bool((drawn[: len(known)] == known).all())


def _step(game: Heard, right: bool, decided: int | None) -> tuple[str, list[Block]]:
    words = [f"stimulus {number}" for number in range(1, len(game.stimuli) + 1)]
    decisions = [*words, "none of them"]
    if decided is None and right:
        decided = game.correct
    elif decided is None and len(decisions) == 2:
        decided = 1 - game.correct
    said = "something else" if decided is None else decisions[decided]
    phase = "query" if game.query else "support"
    terms = [
        ("speaker's message", game.said, ""),
        ("target", decisions[game.correct], ""),
        ("listener's choice", f"{said}: {'right' if right else 'wrong'}", ""),
    ]
    if game.seen is not None:
        terms.append(("then it sees", f"{numbers(game.seen)}, what the speaker saw", ""))
    title = f"game {game.game + 1}, {phase}: {'right' if right else 'wrong'}"
    return title, [Terms(terms), stimuli_plot(game, words, after=True)]
