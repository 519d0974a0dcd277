"""Both parts of meta-referential games: a speaker and a listener that agree on a language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.catalogue import task
from quickstudy.base.parameters import parameter
from quickstudy.tasks.games.meta import MetaGame


@task("games/pair", version=1, controls=["uniform-pair"], oracle="quantising-pair")
@dataclass(frozen=True)
class Pair(MetaGame):
    """Meta-referential game, both parts: agree on a language within the episode, and name new
    things in it.

    As `games/listener`, but the speaker is a player too: it sees its stimuli and, as its message,
    what it said last (or with `queries` what the listener has said). Both act at every step by a
    decision and a message; the speaker's message and, at the last round, the listener's decision
    count. Both are given the same reward. Roles are part of what a player sees.

    Scored: decisions of the query phase. Chance: 1/(distractors + 2), not descriptive
    1/(distractors + 1). Ceiling: 1. The oracle, `quantising-pair`, is a rule that uses no symbols
    of the space at all: it sends coordinates in as many equal sections as there are words, and
    learns the renaming from feedback. It comes to 96 to 99 %, although the renaming was meant to
    rule it out; `unequal`, `warp`, `renaming=positions` and large spaces do.

    queries: the listener's messages reach the speaker. Other parameters, source and departures:
    `games/listener`.
    """

    samples: int = parameter(4, at_least=1, at_most=256)
    queries: bool = False

    players: ClassVar[int] = 2
    asks: ClassVar[str] = "episodes"
    speaks: ClassVar[str] = "posdis"

    @property
    def replies(self) -> bool:  # type: ignore[override]
        """Whether the speaker reads what the listener says."""
        return self.queries
