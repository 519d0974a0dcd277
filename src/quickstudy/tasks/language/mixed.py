"""A language task made of others, and its oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import catalogue
from quickstudy.base.catalogue import control, task
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import CONVENTIONS, configure, parameter
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.language.checking import Verdict, judge
from quickstudy.tasks.language.streams import Translated, common_vocabulary


@task("language/mixed", version=1, controls=["majority", "copy-last"], oracle="mixed-oracle")
@dataclass(frozen=True)
class Mixed:
    """Do what a sequence asks for, where each may come from another task.

    Sees: a sequence of one of the members, each as likely as the others. The vocabulary is that of all members, in the
    order in which their words first come; nothing but the words says which member it is.
    Answers: what that member asks for.
    Scored: share of right answers, over all members; members that ask more count more.
    Chance: depends on the members; the controls are the most frequent answer and the token just read.
    Ceiling: 1 where the words before a question tell its member, as far as the answer depends on it. That is so unless
    `periodic` and `increasing-period` are mixed, where 0.9998 was reached.
    Example: members=periodic/qa, `0 1 0 1 0 1 ...` or `I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE TOM ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, section 7, and the hybrid task of their task package.

    Departures: none; the members are those of the convention.
    """

    members: tuple[str, ...] = parameter(("periodic", "qa"))
    """Names of language tasks without `language/`, such as periodic/qa."""
    convention: str = parameter("corrected", choices=CONVENTIONS)
    """The convention of the members."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        convention: {"convention": convention} for convention in CONVENTIONS
    }

    def __post_init__(self) -> None:
        if not self.members or "mixed" in self.members or len(set(self.members)) < len(self.members):
            raise ValueError(f"members must be different tasks other than mixed, got {'/'.join(self.members)}")
        for member in self.members:
            catalogue.task.find(f"language/{member}")

    @cached_property
    def tasks(self) -> tuple[Any, ...]:
        """The members themselves."""
        ids = [f"language/{member}" for member in self.members]
        return tuple(configure(id, catalogue.task.get(id), {}, self.convention) for id in ids)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return common_vocabulary(self.tasks)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        parts = [Translated(member, self.vocabulary) for member in self.tasks]
        drawn = []
        for _ in range(count):
            # One by one, so that the draws do not depend on how they are grouped.
            drawn.append(parts[int(rng.random() * len(parts))].sample(rng, 1).sequence(0))
        return Examples.from_sequences([tokens for tokens, _ in drawn], [supervised for _, supervised in drawn])

    def check(self, tokens: Any) -> Verdict:
        """The verdict of the member that finds the sequence right, with the masks of all that do; otherwise of the
        first that finds it well formed, or of the first.
        """
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        verdicts: list[Verdict] = [member.check(words) for member in self.tasks]
        best = max(verdicts, key=lambda found: (found.right, found.well_formed))
        masks = dict.fromkeys(mask for found in verdicts if found.right for mask in found.masks)
        return replace(best, masks=tuple(masks) or best.masks)


@control("mixed-oracle", version=1, role="oracle")
class MixedOracle:
    """Asks the oracles of the members whose vocabularies have all the words read so far.

    Of several it believes the one with the fewest words; of those with equally many the one that has foretold the most
    of the latest tokens without a mistake; of these the first.
    """

    def __init__(self, task: Mixed, brief: Brief, seed: int) -> None:
        self._vocabulary = task.vocabulary
        self._members = task.tasks
        self._oracles = [self._oracle(member, brief, seed) for member in task.tasks]

    def _oracle(self, member: Any, brief: Brief, seed: int) -> Any:
        space = Tokens(len(member.vocabulary))
        return catalogue.control.get(member.oracle)(member, replace(brief, inputs=space, outputs=space), seed)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Nothing to learn."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answer of the oracle that is believed, for every prefix; the token just read where none knows it."""
        words = [self._vocabulary[id] for id in inputs.tolist()]
        answers = np.array(inputs, dtype=np.int64)
        belief = np.full(len(words), -np.inf)
        for member, oracle in zip(self._members, self._oracles, strict=True):
            own = {word: id for id, word in enumerate(member.vocabulary)}
            known = next((place for place, word in enumerate(words) if word not in own), len(words))
            if known:
                found = oracle.predict(np.array([own[word] for word in words[:known]])).tolist()
                said = np.array([self._vocabulary.index(member.vocabulary[id]) for id in found])
                # One word less counts more than any number of tokens foretold.
                trust = _streaks(said[:-1] == inputs[1:known]) - len(words) * len(own)
                better = np.flatnonzero(trust > belief[:known])
                answers[better], belief[better] = said[better], trust[better]
        return answers


def _streaks(right: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many predictions in a row were right just before each token, the first included.

    >>> _streaks(np.array([True, True, False, True])).tolist()
    [0, 1, 2, 0, 1]
    """
    places = np.arange(len(right) + 1)
    return places - np.maximum.accumulate(np.where(np.concatenate([[True], ~right]), places, 0))
