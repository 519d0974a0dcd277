"""Both parts of meta-referential games: a speaker and a listener that agree on a language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.games.meta import MetaGame


@task("games/pair", version=1, controls=["uniform-pair"], oracle="quantising-pair")
@dataclass(frozen=True)
class Pair(MetaGame):
    """Meta-referential game, both parts: agree on a language within the episode, and name new
    things in it.

    As `games/listener`, but the speaker is a player too: it sees its stimuli and, as its message,
    its own last message (with `queries` the listener's). Both act at every step by a decision and a
    message; the speaker's message and, at the last round, the listener's decision count. Both get
    the same reward. Roles are part of the observation.

    Scored: decisions of the query phase.
    Chance: 1/(distractors + 2); if not `descriptive`, 1/(distractors + 1).
    Ceiling: 1. The oracle, `quantising-pair`, is a rule without any symbols of the space: it sends
        coordinates in as many equal sections as there are words, and learns the renaming from
        feedback. It reaches 96 to 99 %, although the renaming was meant to exclude it; `unequal`,
        `warp`, `renaming=positions` and large spaces do.
    Source: Denamganaï, Missaoui and Walker 2022, with the departures of `games/listener`.

    Parameters
    ----------
    samples:
        Stimuli that represent one value (O).
    queries:
        The listener's messages reach the speaker.
    """

    samples: int = parameter(4, at_least=1, at_most=256)
    queries: bool = False

    players: ClassVar[int] = 2
    asks: ClassVar[str] = "episodes"
    speaks: ClassVar[str] = "posdis"

    @property
    def replies(self) -> bool:  # type: ignore[override]
        """Whether the speaker reads the listener's messages."""
        return self.queries
