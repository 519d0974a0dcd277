"""Language task 6, question answering with more names and verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.catalogue import task
from quickstudy.base.parameters import parameter
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.words import NAMES, VERBS


@task("language/harder-qa", version=1, controls=["majority", "polarity", "polarity-count"], oracle="qa-oracle")
@dataclass(frozen=True)
class HarderQa(Qa):
    """Say whether something was affirmed or denied of a name, out of longer statements.

    Sees: as `language/qa`, a statement about s different names and one verb, then a question about one of them; but
    there are 11 names and 5 verbs, and s is uniform in fewest .. most, up to 10.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which do not look at the queried
    name. In the published form, with 1200 different sequences, they reach 0.69 and 0.81, and the best published
    reservoir 0.72; in the balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I DO NOT CALL LUKE AND LISA BUT I CALL MARC . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 6.

    Balanced or not: as in `language/qa`. Not balanced, the number of affirmed names is uniform in 0 .. s and the
    queried name is uniform, so that the larger clause tells the likelier answer. Balanced, both clauses are always
    there, the answer is a fair coin and the queried name is uniform among those that have it: rules that look at the
    statement only, or at everything but which clause holds the NOT, are right with probability 1/2 exactly.

    Departures. Written: 1 to 5 names in a statement. Published: 1 to 10, never all eleven. Corrected: 2 to 10,
    balanced; the statements that were really used, so that the task stays harder than `language/qa`.
    """

    names: int = parameter(11, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    verbs: int = parameter(5, at_least=1, at_most=len(VERBS))
    """How many verbs there are."""
    most: int = parameter(10, at_least=1)
    """Most names in a statement."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "most": 10, "balanced": False},
        "written": {"fewest": 1, "most": 5, "balanced": False},
        "corrected": {},
    }
