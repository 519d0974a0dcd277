"""Hidden curricula: new tasks out of the same building blocks, with other symbols, words and rules,
by number.

A learner that knows the published tasks by heart fails here; one that learns gradually need not.
Those that a learner is developed on and those that it is evaluated on are drawn apart, and have no
number in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.seeds import Streams
from quickstudy.tasks.curriculum.courses import CONTROLS, Rules
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import Instance, Question
from quickstudy.tasks.curriculum.tables import SYMBOLS, Ground, Table, one_answer, shown
from quickstudy.tasks.curriculum.words import word_list
from quickstudy.tasks.curriculum.world import ByteWorld, Member

FAMILIES = ("words", "rules", "deeper")
MARKS = b";|/#*+=~^"

ONE: dict[str, Callable[[bytes], bytes]] = {
    "echo": lambda word: word,
    "backwards": lambda word: word[::-1],
    "twice": lambda word: word + word,
    "without the first": lambda word: word[1:],
    "without the last": lambda word: word[:-1],
    "spelled": lambda word: b" ".join(shown(word)),
    "first": lambda word: word[:1],
}
"""What can be done to a word. The published tasks have the first, and spelling."""
TWO: dict[str, Callable[[bytes, bytes], bytes]] = {
    "both": lambda first, second: first + b" " + second,
    "turned round": lambda first, second: second + b" " + first,
    "glued": lambda first, second: first + second,
    "glued backwards": lambda first, second: second + first,
    "without": lambda first, second: bytes(letter for letter in first if letter not in second),
    "with": lambda first, second: first + bytes(letter for letter in second if letter not in first),
}
"""What can be done to two."""


@dataclass(frozen=True)
class Manner:
    """How a hidden curriculum speaks: its feedback on right and wrong answers, and the mark
    after it.
    """

    praise: bytes
    blame: bytes
    mark: bytes
    gives: bool

    def question(self, text: bytes, answer: bytes) -> Question:
        """A question that ends in a period, and its feedback."""
        right = self.praise + (answer if self.gives else b"") + self.mark
        return Question(text + b".", answer, right, self.blame + answer + self.mark)


def operations(
    manner: Manner, commands: Sequence[bytes], names: Sequence[str], ground: Ground
) -> Instance:
    """Each command does one thing; a question has any of them. Names joined by `+` are done one
    after another, and written with one command for each.
    """
    draws = ground.draws()
    words = [word for word in ground.words.every if len(word) > 2]

    def ask() -> Question:
        place = draws.below(len(names))
        steps = names[place].split("+")
        said = (
            commands[place : place + 1] if len(steps) == 1 else commands[len(names) - len(steps) :]
        )
        operands = [draws.one_of(words) for _ in range(2 if steps[0] in TWO else 1)]
        answer = TWO[steps[0]](*operands) if steps[0] in TWO else ONE[steps[0]](operands[0])
        for step in steps[1:]:
            answer = ONE[step](answer)
        text = b" ".join(said) + b": " + b" ".join(operands)
        return manner.question(text, (answer or operands[0]) + b".")

    return Instance(ask, by_period=True)


def succession(manner: Manner, command: bytes, items: Sequence[bytes], ground: Ground) -> Instance:
    """What comes next in a list; every instance has a part of it, forwards or backwards."""
    draws = ground.draws()
    begin = draws.below(len(items) - 6)
    part = list(items[begin : begin + 6])
    part = part[::-1] if draws.below(2) else part
    asked = [
        manner.question(command + b": " + item, following + b".")
        for item, following in pairwise(part)
    ]
    left = {question.text for question in asked}

    def knows(question: Question, correct: bool) -> bool:
        left.discard(question.text)
        return not left

    return Instance(draws.any_of(asked).__next__, by_period=True, knows=knows, patience=2)


def members_of(family: str, which: str, number: int, needed: int) -> list[Member]:
    """The tasks of a hidden curriculum."""
    name = f"hidden/{family}/{which}/{number}"
    draws, words = Draws(name), word_list(name)
    spare = iter(draws.shuffled(words.every[200:600]))
    manner = Manner(
        next(spare) + b"! ",
        next(spare) + b"! ",
        bytes([draws.one_of(MARKS)]),
        gives=bool(draws.below(2)),
    )
    found: list[tuple[str, Callable[[Ground], Instance]]] = [
        (
            "search",
            partial(one_answer, symbols=bytes(draws.some_of(SYMBOLS, draws.between(15, 40)))),
        )
    ]
    lengths = [tuple(sorted(draws.some_of(range(1, 7), draws.between(1, 3)))) for _ in range(4)]
    found += [
        ("table-1", Table(values=(), asks=b"", ends=b"", closes=b"")),
        ("table-2", Table(values=(), asks=b"", ends=b"", closes=manner.mark)),
        ("table-3", Table(values=lengths[0], closes=manner.mark)),
        (
            "table-4",
            Table(keys=lengths[1], values=lengths[2], closes=manner.mark, noise=lengths[3]),
        ),
    ]
    published = ("echo", "spelled", "both", "turned round", "glued", "with", "without")
    known = [one for one in (*ONE, *TWO) if family != "words" or one in published]
    chosen = draws.some_of(known, 6)
    commands = [next(spare) for _ in chosen]
    for place in range(4):
        found.append(
            (
                f"command-{place + 1}",
                partial(operations, manner, [commands[place]], [chosen[place]]),
            )
        )
    found.append(("commands", partial(operations, manner, commands, chosen)))
    if family == "deeper":
        first = draws.one_of([one for one in chosen if one in TWO] or ["glued"])
        both = [f"{first}+{draws.one_of(['backwards', 'twice', 'without the first'])}"]
        found.append(("composed", partial(operations, manner, [next(spare), next(spare)], both)))
    found.append(
        ("list", partial(succession, manner, next(spare), [next(spare) for _ in range(12)]))
    )
    return [Member(f"{name}/{kind}", draw, needed) for kind, draw in found]


@task(
    "curriculum/hidden", version=1, controls=CONTROLS, oracle="perfect-byte", protocol="curriculum"
)
@dataclass(frozen=True)
class Hidden(Rules):
    """A curriculum of ten to twelve unseen tasks, from the building blocks of the published ones.

    It is used and scored like the published curriculum. Symbols are renamed too, unless `renamed`
    is off. Several numbers of one family are the evaluation; the fewest steps win (definition 3).

    Source: ours, after Feyereisl et al. 2017, section 4.2: curricula are sampled from a
        distribution, and a learner is evaluated on another sample than it was built with.

    Parameters
    ----------
    family:
        `words`: the published operations under other words, symbols and marks. `rules`: other
        operations too. `deeper`: also compositions of two operations.
    part:
        `development`, to build a learner with; or `evaluation`, to judge it. Their curricula are
        sampled separately.
    number:
        Number of the curriculum.
    """

    family: str = parameter("words", choices=FAMILIES)
    part: str = parameter("development", choices=("development", "evaluation"))
    number: int = parameter(0, at_least=0)
    renamed: bool = True

    conventions: ClassVar[dict[str, dict[str, object]]] = {"written": {"limits": "steps"}}

    @property
    def labels(self) -> tuple[str, ...]:
        """What its tasks are called."""
        return tuple(member.name.rpartition("/")[2] for member in self._members())

    def _members(self) -> list[Member]:
        return members_of(self.family, self.part, self.number, self.successes)

    def open(self, streams: Streams) -> ByteWorld:
        """The environment."""
        return self.opened(
            self._members(), streams, dialect=f"hidden/{self.family}/{self.part}/{self.number}"
        )
