"""Language tasks 5 and 6, elementary question answering, and the same with more names and verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.language.statements import (
    GLUE,
    JOINTS,
    NAMES,
    NO,
    VERBS,
    YES,
    plain_names,
    read_statement,
    write_statement,
)
from quickstudy.tasks.sampling import between, heads, shuffled

CONTROLS = ["majority", "polarity", "polarity-count", "verbatim", "not-before", "last-name"]


class Cast:
    """For a task with parameters names, verbs, fewest, most and balanced: its words, and what its
    numbers must obey.
    """

    names: int
    verbs: int
    fewest: int
    most: int
    balanced: bool

    def __post_init__(self) -> None:
        if self.fewest > self.most:
            raise ValueError(f"fewest must be at most most ({self.most}), got {self.fewest}")
        if self.most > self.names:
            raise ValueError(f"most must be at most names ({self.names}), got {self.most}")
        if self.balanced and self.fewest < 2:
            raise ValueError(
                f"fewest must be at least 2 when balanced, got {self.fewest}; or give balanced=no"
            )

    @property
    def people(self) -> tuple[str, ...]:
        """The names in use."""
        return NAMES[: self.names]

    @property
    def actions(self) -> tuple[str, ...]:
        """The verbs in use."""
        return VERBS[: self.verbs]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *self.people, *self.actions, *GLUE


@task("language/qa", version=1, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class Qa(Cast):
    """Say whether something was affirmed or denied of a name.

    Sees: a statement about s different names, s uniform in fewest .. most, and one verb, both drawn
        from the first words of the lists. Some names are affirmed (`I VERB n1 AND n2 ...`), the
        others denied (`I DO NOT VERB n1 AND ...`), each list in random order; an empty list gives
        no clause; either clause comes first with probability 1/2, and two clauses are joined by AND
        or by BUT, equally likely. Then `. DO I VERB NAME ?` with one of the s names.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which do not
        look at the queried name. In the published form, with 1200 different sequences, they reach
        0.73 and 0.80, and the best published reservoir 0.81; in the balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I DO NOT HEAR TOM BUT I HEAR PAUL AND JOHN . DO I HEAR JOHN ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, task 5.

    Balanced or not. Not balanced (published, written): the number of affirmed names is uniform in 0
    .. s and the queried name is uniform among all s. YES and NO are equally likely, but a prompt
    with more affirmed than denied names makes YES more likely. Balanced (corrected): the number of
    affirmed names is uniform in 1 .. s-1, so that both clauses are always there; the answer is a
    fair coin; the queried name is uniform among the names that have this answer. For independent
    draws these rules are then right with probability 1/2 exactly:
    - every rule that looks at the statement only (majority, `polarity`, `polarity-count`, its
      length ...), since the coin is thrown without regard to the statement;
    - every rule that also looks at the queried name but not at which clause holds the NOT (its
      place, the order and sizes of the clauses, the bag of words ...): exchanging affirmed and
      denied turns each sequence into an equally likely one with the other answer, and such a rule
      cannot tell the two apart.
    Leaving out repeated sequences shifts the first kind slightly: the name on the smaller side of
    an uneven statement has no alternative and is repeated more often. Measured over 60 sets of 1200
    different sequences: `polarity-count` 0.504 ± 0.002 (standard error).

    Departures: Written: 1 to 5 names. Published: 1 to 4, never all five. Corrected: 2 to 5,
        balanced.

    Parameters
    ----------
    names:
        Number of names.
    verbs:
        Number of verbs.
    fewest:
        Fewest names in a statement.
    most:
        Most names in a statement.
    balanced:
        The balanced form, in which rules without the name or without the NOT are at 1/2.
    """

    names: int = parameter(5, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    verbs: int = parameter(2, at_least=1, at_most=len(VERBS))
    """How many verbs there are."""
    fewest: int = parameter(2, at_least=1)
    """Fewest names in a statement."""
    most: int = parameter(5, at_least=1)
    """Most names in a statement."""
    balanced: bool = True
    """Whether both clauses are always there and the answer is drawn before the question."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "most": 4, "balanced": False},
        "written": {"fewest": 1, "most": 5, "balanced": False},
        "corrected": {},
    }

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        uniform = rng.random((count, 7 + self.names))
        verbs = between(uniform[:, 0], 0, self.verbs - 1)
        sizes = between(uniform[:, 1], self.fewest, self.most)
        margin = int(self.balanced)
        affirmed = between(uniform[:, 2], margin, sizes - margin)
        affirmed_first = heads(uniform[:, 3])
        joints = between(uniform[:, 4], 0, len(JOINTS) - 1)
        orders = shuffled(uniform[:, 7:])
        # In a row's order the affirmed names come first, then the denied ones, then those that are
        # not mentioned.
        yes = heads(uniform[:, 5])
        low = np.where(yes | (not self.balanced), 0, affirmed)
        high = np.where(yes & self.balanced, affirmed, sizes) - 1
        queried = between(uniform[:, 6], low, high)
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        columns = (verbs, sizes, affirmed, affirmed_first, joints, queried, orders)
        sequences = []
        for verb, size, split, first, joint, query, order in zip(
            *(c.tolist() for c in columns), strict=True
        ):
            names = [self.people[place] for place in order[:size]]
            action = self.actions[verb]
            prompt = write_statement(action, names[:split], names[split:], first, JOINTS[joint])
            answer = YES if query < split else NO
            words = [*prompt, ".", "DO", "I", action, names[query], "?", answer]
            sequences.append([ids[word] for word in words])
        return Examples.from_sequences(sequences, [[len(sequence) - 1] for sequence in sequences])

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence."""
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        reader = Reader(words)
        verb, affirmed, denied = read_statement(reader, plain_names(self.people), self.actions)
        mentioned = affirmed + denied
        if not self.fewest <= len(mentioned) <= self.most:
            wanted = f"{self.fewest} to {self.most} names"
            raise Malformed(
                reader.index, f"the statement ends here with {len(mentioned)} names, not {wanted}"
            )
        if self.balanced and not (affirmed and denied):
            raise Malformed(
                reader.index, "the statement ends here without both an affirmed and a denied name"
            )
        reader.phrase(f". DO I {verb}")
        name = reader.take(mentioned, "a name of the statement")
        reader.phrase("?")
        expected = YES if name in affirmed else NO
        place = reader.index
        found = reader.take((YES, NO), f"{YES} or {NO}")
        reader.end()
        return Verdict.of([Answer((place,), (expected,), (found,))])


@task("language/harder-qa", version=1, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class HarderQa(Qa):
    """Say whether something was affirmed or denied of a name, out of longer statements.

    Sees: as `language/qa`, a statement about s different names and one verb, then a question about
        one of them; but there are 11 names and 5 verbs, and s is uniform in fewest .. most, up to
        10.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which do not
        look at the queried name. In the published form, with 1200 different sequences, they reach
        0.69 and 0.81, and the best published reservoir 0.72; in the balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I DO NOT CALL LUKE AND LISA BUT I CALL MARC . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 6.

    Balanced or not: as in `language/qa`. Not balanced, the number of affirmed names is uniform in 0
    .. s and the queried name is uniform, so that the larger clause tells the likelier answer.
    Balanced, both clauses are always there, the answer is a fair coin and the queried name is
    uniform among those that have it: rules that look at the statement only, or at everything but
    which clause holds the NOT, are right with probability 1/2 exactly.

    Departures: Written: 1 to 5 names in a statement. Published: 1 to 10, never all eleven.
        Corrected: 2 to 10, balanced; the statements that were really used, so that the task stays
        harder than `language/qa`.
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
