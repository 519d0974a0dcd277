"""Language task 5, elementary question answering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import task
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.tasks.language.cast import Cast
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.language.clauses import JOINTS, plain_names, read_statement, write_statement
from quickstudy.tasks.language.draws import between, heads, shuffled
from quickstudy.tasks.language.words import NAMES, NO, VERBS, YES


@task("language/qa", version=1, controls=["majority", "polarity", "polarity-count"], oracle="qa-oracle")
@dataclass(frozen=True)
class Qa(Cast):
    """Say whether something was affirmed or denied of a name.

    Sees: a statement about s different names, s uniform in fewest .. most, and one verb, both drawn from the first
    words of the lists. Some names are affirmed (`I VERB n1 AND n2 ...`), the others denied (`I DO NOT VERB n1 AND
    ...`), each list in random order; an empty list gives no clause; either clause comes first with probability 1/2,
    and two clauses are joined by AND or by BUT, equally likely. Then `. DO I VERB NAME ?` with one of the s names.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which do not look at the queried
    name. In the published form, with 1200 different sequences, they reach 0.73 and 0.80, and the best published
    reservoir 0.81; in the balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I DO NOT HEAR TOM BUT I HEAR PAUL AND JOHN . DO I HEAR JOHN ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, task 5.

    Balanced or not. Not balanced (published, written): the number of affirmed names is uniform in 0 .. s and the
    queried name is uniform among all s. YES and NO are equally likely, but a prompt with more affirmed than denied
    names makes YES more likely. Balanced (corrected): the number of affirmed names is uniform in 1 .. s-1, so that
    both clauses are always there; the answer is a fair coin; the queried name is uniform among the names that have
    this answer. For independent draws these rules are then right with probability 1/2 exactly:
    - every rule that looks at the statement only (majority, `polarity`, `polarity-count`, its length ...), since the
      coin is thrown without regard to the statement;
    - every rule that also looks at the queried name but not at which clause holds the NOT (its place, the order and
      sizes of the clauses, the bag of words ...): exchanging affirmed and denied turns each sequence into an equally
      likely one with the other answer, and such a rule cannot tell the two apart.
    Leaving out repeated sequences shifts the first kind slightly: the name on the smaller side of an uneven statement
    has no alternative and is repeated more often. Measured over 60 sets of 1200 different sequences: `polarity-count`
    0.504 ± 0.002 (standard error).

    Departures. Written: 1 to 5 names. Published: 1 to 4, never all five. Corrected: 2 to 5, balanced.
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
        # In a row's order the affirmed names come first, then the denied ones, then those that are not mentioned.
        yes = heads(uniform[:, 5])
        low = np.where(yes | (not self.balanced), 0, affirmed)
        high = np.where(yes & self.balanced, affirmed, sizes) - 1
        queried = between(uniform[:, 6], low, high)
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        columns = (verbs, sizes, affirmed, affirmed_first, joints, queried, orders)
        sequences = []
        for verb, size, split, first, joint, query, order in zip(*(c.tolist() for c in columns), strict=True):
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
            raise Malformed(reader.index, f"the statement ends here with {len(mentioned)} names, not {wanted}")
        if self.balanced and not (affirmed and denied):
            raise Malformed(reader.index, "the statement ends here without both an affirmed and a denied name")
        reader.phrase(f". DO I {verb}")
        name = reader.take(mentioned, "a name of the statement")
        reader.phrase("?")
        expected = YES if name in affirmed else NO
        place = reader.index
        found = reader.take((YES, NO), f"{YES} or {NO}")
        reader.end()
        return Verdict.of([Answer((place,), (expected,), (found,))])
