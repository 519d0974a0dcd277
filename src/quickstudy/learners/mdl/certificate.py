"""A proof that a network of counters is right for every string of a language, or the first where it
is not.

While one letter is read again and again, a network of linear and ReLU units is an affine map, as
long as no unit turns on or off. So in each block the first steps are taken symbolically, with
fractions that depend on the variables of the language; then every step is shown to add the same to
the state, by induction, with the same units on, up to the last few steps, which are taken
symbolically again. At every step that is scored, outputs are compared as functions of the
variables. That is done for all values from some number on; the smaller ones are fixed, one after
another, in the same way. All of it is in exact arithmetic without the limit of ±10^6 on values, and
states from which string on that limit matters. It does not prove anything about rounded numbers.
Brackets of one kind have a proof of their own (`quickstudy.learners.mdl.depths`).

Where it does not apply: brackets of two kinds; curved activations (tanh, sigmoid ...) of an input
that varies, unless their unit is an output that nothing else hears; products of two varying values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.learners.mdl import depths
from quickstudy.learners.mdl.depths import BRACKETS
from quickstudy.learners.mdl.exact import ONE, ZERO, Automaton
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.symbolic_states import FROM, Certificate, SymbolicNetwork
from quickstudy.learners.mdl.verification import Form, Region, Unknown, Wrong, added, judge
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.strings import StringTask

HEAD, TAIL = 4, 6
"""Most steps at the beginning and at the end of a block that are taken one by one."""
TRIED = 60
"""Strings that are read one by one, the shortest first, before anything is proved."""


def certified(network: Network, language: str, tried: int = TRIED) -> Certificate:
    """Of a network for a language by name, or, without one, for the first over as many symbols that
    it masters; or for a counter language by its text. Raises UsageError where there is no such
    language, or no proof for it.
    """
    network, known = network.spread(), dict[str, Counting | None]()
    if "->" in language:
        raise UsageError(
            "proofs are for languages of counters; write rules such as S -> a S b [0.7] | a b [0.3]"
            " as a^n b^n [n 0.3], if that is the same language"
        )
    if "^" in language:
        grammar = Counting(language)
        if len(grammar.symbols) != network.symbols:
            raise UsageError(
                f"the network has {network.symbols} symbols, and {language} has"
                f" {len(grammar.symbols)}"
            )
        return certificate(network, language, grammar, tried)
    for name in registries.task.names():
        found = registries.task.get(name) if name.startswith("grammar/") else None
        if (
            found
            and issubclass(found, StringTask)
            and isinstance(grammar := found().grammar, Counting)
        ):
            known[name.removeprefix("grammar/")] = grammar
    known[BRACKETS] = None
    own = language.removeprefix("grammar/")
    symbols = {name: len(grammar.symbols) if grammar else 3 for name, grammar in known.items()}
    fitting = [name for name in known if symbols[name] == network.symbols]
    if own not in fitting if own else not fitting:
        what = f'"{language}" is not a' if language else "there is no"
        raise UsageError(
            f"{what} language of counters over {network.symbols} symbols; {nearest(own, known)}"
        )
    shown = [
        (
            depths.certificate(network)
            if grammar is None
            else certificate(network, name, grammar, tried)
        )
        for name in ([own] if own else fitting)
        for grammar in [known[name]]
    ]
    return next((one for one in shown if one.right), shown[0])


def certificate(
    network: Network, language: str, grammar: Counting, tried: int = TRIED
) -> Certificate:
    """Of a network for a counter language. tried: strings that are read one by one to find a
    failure.
    """
    try:
        fails = _first_wrong(network, grammar, tried)
        if fails is None:
            proof = _Proof(network, grammar)
            proof.prove([None] * len(grammar.stops))
            return Certificate(language, True, limit=proof.limit, steps=tuple(proof.steps))
    except NotApplicable as reason:
        return Certificate(language, None, reason=str(reason))
    except Wrong as where:
        fails = _first_wrong(network, grammar, int(str(where)))
        if fails is None:
            raise AssertionError("what is proved to be wrong is right") from where
    return Certificate(language, False, fails)


def _first_wrong(network: Network, grammar: Counting, most: int) -> tuple[int, ...] | None:
    """Read strings one by one."""
    pupil = Automaton(network, clipped=False)
    for values in itertools.islice(grammar.in_order(), most):
        string, state = grammar.string(values), pupil.start(1, 1)
        scored = grammar.likely(string) == 1
        for time, symbol in enumerate(string[:-1]):
            state, said = pupil.step(state, [[symbol]])  # type: ignore[arg-type]
            if time and scored[time] and not said[0, 0, string[time + 1]]:
                return values
    return None


class _Proof:
    def __init__(self, network: Network, grammar: Counting) -> None:
        self._reading, self._grammar = SymbolicNetwork(network), grammar
        self.steps: list[str] = []

    @property
    def limit(self) -> int | None:
        return self._reading.limit

    def prove(self, fixed: Sequence[int | None]) -> None:
        """For all values of the variables that are None. Raises Wrong, with how many strings to
        look at, or NotApplicable.
        """
        free = [number for number, value in enumerate(fixed) if value is None]
        names = list(self._grammar.stops)
        for least in FROM if free else (1,):
            try:
                parts = self._blocks(fixed, free, least)
                break
            except Unknown:
                continue
            except Wrong:
                values = [least if value is None else value for value in fixed]
                place = self._grammar.in_order()
                raise Wrong(
                    str(1 + next(n for n, one in enumerate(place) if list(one) == values))
                ) from None
        else:
            raise NotApplicable(
                "units do not stay on or off while a letter is repeated, or outputs cannot be"
                " compared"
            )
        known = [
            f"{names[number]} = {value}" for number, value in enumerate(fixed) if value is not None
        ]
        self.steps.append(
            ", ".join([*known, *(f"{names[number]} from {least} on" for number in free)])
            + f": {parts}"
        )
        for number, value in itertools.product(free, range(1, least)):
            self.prove([value if place == number else own for place, own in enumerate(fixed)])

    def _blocks(self, fixed: Sequence[int | None], free: Sequence[int], least: int) -> str:
        """Through the string. Gives what was done, in words."""
        region, zero = Region(least), (ZERO,) * (len(free) + 2)
        state, words = self._step(None, 0, region, zero, None), []
        blocks = self._grammar.blocks
        for number, (letter, times, more, fresh) in enumerate(blocks):
            known = sum(
                count * value
                for count, value in zip(times, fixed, strict=True)
                if value is not None
            )
            length = (Fraction(more + known), *(Fraction(times[one]) for one in free), ZERO)
            after = blocks[number + 1][0] if number + 1 < len(blocks) else 0
            state, said = self._block(
                state, letter, length, after if fresh < 0 else None, region, least
            )
            words.append(f"{self._grammar.symbols[letter]} {said}")
        return ", ".join(words)

    def _block(
        self,
        state: dict[int, Form],
        letter: int,
        length: Form,
        after: int | None,
        region: Region,
        least: int,
    ) -> tuple[dict[int, Form], str]:
        """One letter again and again. after: what comes after it, where that is scored."""
        same = None if after is None else letter
        if not any(length[1:]):
            for left in reversed(range(int(length[0]))):
                state = self._step(state, letter, region, length, same if left else after)
            return state, f"{length[0]} single"
        for head, tail in itertools.product(range(HEAD + 1), range(1, TAIL + 1)):
            try:
                return (
                    self._repeated(state, letter, length, (same, after), region, least, head, tail),
                    f"{head}+{tail}",
                )
            except Unknown:
                continue
        raise Unknown

    def _repeated(
        self,
        state: dict[int, Form],
        letter: int,
        length: Form,
        targets: tuple[int | None, int | None],
        region: Region,
        least: int,
        head: int,
        tail: int,
    ) -> dict[int, Form]:
        """Some steps at the beginning, those in between by induction, some at the end."""
        for _ in range(head):
            state = self._step(state, letter, region, length, targets[0])
        between = (length[0] - head - tail, *length[1:])
        if region.bounds(between)[0] < 1:
            raise Unknown
        then = self._step(state, letter, region, length, targets[0])
        change = {unit: added(then[unit], form, -ONE) for unit, form in state.items()}
        if any(any(form[1:]) for form in change.values()):
            raise Unknown  # it grows faster than the string
        # At the s-th of these steps the state is state + s change; then at the next it is state +
        # (s + 1) change.
        slope = {unit: (*form[:-1], change[unit][0]) for unit, form in state.items()}
        inside = Region(least, (between[0] - 1, *between[1:]))
        reached = self._step(slope, letter, inside, length, None)
        if any(reached[unit] != added(form, change[unit]) for unit, form in slope.items()):
            raise Unknown
        state = {unit: added(form, between, change[unit][0]) for unit, form in state.items()}
        for left in reversed(range(tail)):
            state = self._step(state, letter, region, length, targets[0] if left else targets[1])
        # The steps in between come last: a wrong step at the end is known by then.
        self._step(slope, letter, inside, length, targets[0])
        return state

    def _step(
        self,
        state: dict[int, Form] | None,
        symbol: int,
        region: Region,
        like: Form,
        target: int | None,
    ) -> dict[int, Form]:
        """The state after a symbol. target: the required output, if any."""
        state, outputs = self._reading.step(state, symbol, region, len(like))
        if target is not None:
            judge(outputs, target, region)
        return state
