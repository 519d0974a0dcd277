"""Machines and sequences out of a user's file, and the epsilon-machine of what is found there.

A machine: {"transitions": [{"from": "A", "symbol": "0", "to": "B", "probability": 0.5}, ...]}, or
such a list; each may be a list of these four. With "input" in each (second, in a list of five) it
is a transducer. A probability is a number or a fraction ("1/3"). "start" may name the first state,
or give chances by state. A sequence: {"outputs": [...] or text, "inputs": as many, "history": 3,
"level": 0.001}.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.data.tables import read_content, read_json
from quickstudy.machines.beliefs import unifilar
from quickstudy.machines.chains import exact_stationary, reached, recurrent_classes
from quickstudy.machines.entropies import channel, complexity, entropy_rate, topological
from quickstudy.machines.inference import LEVEL, Reconstruction, reconstructed
from quickstudy.machines.minimal import minimised
from quickstudy.machines.transducer import Transducer, meant

_SUM = Fraction(1, 10**9)
"""By so much the sum of chances may miss one."""
_MOST_EXACT = 200
"""States up to which a stationary distribution is computed in fractions."""
_MOST_BELIEFS = 5_000
_MOST = 10**9
_EXPONENT = re.compile(r"[eE][-+]?\d{4}")
"""Of a chance that no number of a computer has: as a fraction it would fill the memory."""
_WORDS = ("from", "symbol", "to", "probability")


class Described(NamedTuple):
    """machine: the minimal recurrent one. given: the states in the file. transient: names of those
    that are left for ever. was_unifilar: whether states, inputs and symbols fixed the next state in
    the input.
    """

    machine: Transducer
    given: int
    transient: tuple[str, ...]
    was_unifilar: bool

    def figures(self) -> dict[str, Any]:
        """states, and in bits topological_complexity, statistical_complexity and entropy_rate; of a
        transducer for uniform memoryless inputs, with channel_complexity, the greatest over
        memoryless ones.
        """
        found = {
            "states": self.machine.size,
            "topological_complexity": topological(self.machine),
            "statistical_complexity": complexity(self.machine),
            "entropy_rate": entropy_rate(self.machine),
        }
        if not self.machine.generator:
            found["channel_complexity"] = channel(self.machine).complexity
        more = {
            "states_given": self.given,
            "transient": list(self.transient),
            "unifilar": self.was_unifilar,
        }
        return {**found, **more}


def describe(machine: Transducer) -> Described:
    """The epsilon-machine of a machine: its recurrent part, made unifilar by beliefs where it is
    not, minimised.

    Raises UsageError where it has several recurrent parts that differ and no start determines which
    is reached, or where no finite machine was found.
    """
    if machine.start:
        return _from_start(machine)
    kept = sorted(int(state) for own in recurrent_classes(machine) for state in own)
    transient = tuple(name for state, name in enumerate(machine.states) if state not in set(kept))
    part = machine.only(kept)
    if machine.unifilar:
        made = minimised(part).machine
    elif machine.generator and len(kept) <= _MOST_EXACT:
        made = minimised(_beliefs(part, exact_stationary(part))).machine
    else:
        wanted = (
            "give its `start`"
            if not machine.generator
            else f"at most {_MOST_EXACT} states can be made so"
        )
        raise UsageError(
            f"the machine is not unifilar, and what is believed at first is not known: {wanted}"
        )
    return Described(_one(made), machine.size, transient, machine.unifilar)


def _from_start(machine: Transducer) -> Described:
    """The same where it is known where the machine begins."""
    part = reached(machine)
    # A unifilar machine is in one of its own states in the long run, for any belief until
    # then.
    made = minimised(part if part.unifilar else _beliefs(part, dict(part.start))).machine
    kept = {part.states[int(state)] for own in recurrent_classes(part) for state in own}
    transient = tuple(name for name in machine.states if name not in kept)
    return Described(_one(made), machine.size, transient, machine.unifilar)


def _beliefs(machine: Transducer, start: Mapping[int, Fraction]) -> Transducer:
    try:
        return unifilar(machine, [(start, Fraction(1))], _MOST_BELIEFS).machine
    except NotApplicable as error:
        raise UsageError(f"the machine is {error}") from error


def _one(machine: Transducer) -> Transducer:
    classes = recurrent_classes(machine)
    if len(classes) > 1:
        named = "; ".join(
            ", ".join(machine.states[state] for state in own[:4]) for own in classes[:4]
        )
        raise UsageError(
            f"the machine has {len(classes)} recurrent parts that behave differently ({named}): its"
            " distribution is not unique; give one part"
        )
    return machine.only(classes[0])


def read_machine(path: str | pathlib.Path) -> Transducer:
    """The machine in a JSON file. Raises UsageError with the transition, the value and what is
    wrong with it.
    """
    content = read_json(path)
    if isinstance(content, list):
        content = {"transitions": content}
    rows = content.get("transitions") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise UsageError(
            f'{path} must be a JSON object with "transitions": a list of from, symbol, to,'
            " probability"
        )
    arrows = [_transition(path, number, row) for number, row in enumerate(rows, 1)]
    if len({arrow[1] is None for arrow in arrows}) > 1:
        raise UsageError(f'{path}: either every transition has an "input", or none')
    known = [str(state) for state in content.get("states", ())] or list(
        dict.fromkeys(arrow[0] for arrow in arrows)
    )
    for number, arrow in enumerate(arrows, 1):
        for state in (arrow[0], arrow[3]):
            if state not in known:
                reason = (
                    "is not among its states"
                    if "states" in content
                    else "has no transitions out of it"
                )
                raise UsageError(
                    f'{path}, transition {number}: the state "{state}" {reason};'
                    f" {nearest(state, known)}"
                )
    return Transducer.of(_summing(path, arrows), _start(path, content.get("start"), known), known)


def read_sequence(
    path: str | pathlib.Path, history: int | None = None, level: float | None = None
) -> Reconstruction:
    """The machine that generates the sequence in a JSON or text file. history, level: over those in
    the file.

    A text has a symbol for every word, or for every character where it is a single word.
    """
    text = read_text(path).strip()
    if not text.startswith(("{", "[", '"')):
        words = text.split()
        content: Any = words if len(words) > 1 else text
    else:
        content = read_json(path)
    if isinstance(content, list | str):
        content = {"outputs": content}
    if not isinstance(content, dict) or not content.get("outputs"):
        raise UsageError(f'{path} must be a text of symbols, or a JSON object with "outputs"')
    history = content.get("history") if history is None else history
    level = content.get("level", LEVEL) if level is None else level
    whole = isinstance(history, int) and not isinstance(history, bool)
    if history is not None and not (whole and abs(history) < _MOST):
        raise UsageError(f"{path}: history must be a whole number, got {repr(history)[:40]}")
    if isinstance(level, bool) or not isinstance(level, int | float) or not abs(level) < _MOST:
        raise UsageError(f"{path}: level must be a number, got {repr(level)[:40]}")
    outputs, inputs = (_symbols(path, name, content.get(name)) for name in ("outputs", "inputs"))
    return reconstructed(outputs or [], inputs, history, float(level))


def read_text(path: str | pathlib.Path) -> str:
    """A text file. Raises UsageError for one that is not UTF-8."""
    try:
        return read_content(path).decode("utf-8")
    except ValueError:
        raise UsageError(f"{path} is not a text in UTF-8") from None


def _symbols(path: Any, name: str, value: Any) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list | str) or any(isinstance(symbol, dict) for symbol in value):
        raise UsageError(
            f"{path}: {name} must be a list of symbols, or a text, got {type(value).__name__}"
        )
    return [str(symbol) for symbol in value]


def _transition(path: Any, number: int, row: Any) -> tuple[str, str | None, str, str, Fraction]:
    place = f"{path}, transition {number}"
    if isinstance(row, list) and len(row) in (4, 5):
        row = dict(
            zip(_WORDS if len(row) == 4 else ("from", "input", *_WORDS[1:]), row, strict=True)
        )
    if not isinstance(row, dict):
        raise UsageError(f"{place}: must have from, symbol, to and probability, got {row!r}")
    if "symbol" not in row and "output" in row:
        row = {**row, "symbol": row["output"]}
    for word in _WORDS:
        if word not in row or isinstance(row[word], dict | list):
            raise UsageError(
                f'{place}: "{word}" is missing; a transition has from, symbol, to and probability'
            )
    given = None if row.get("input") is None else str(row["input"])
    chance = _fraction(f"{place}: probability", row["probability"])
    return str(row["from"]), given, str(row["symbol"]), str(row["to"]), chance


def _fraction(what: str, value: Any) -> Fraction:
    try:
        if isinstance(value, bool) or _EXPONENT.search(str(value)):
            raise ValueError
        found = meant(value)
    except (ValueError, TypeError, ZeroDivisionError):
        raise UsageError(
            f"{what} must be a number between 0 and 1, or a fraction such as 1/3, got {value!r}"
        ) from None
    if not 0 <= found <= 1:
        raise UsageError(f"{what} must lie between 0 and 1, got {value!r}")
    return found


def _summing(
    path: Any, arrows: list[tuple[str, str | None, str, str, Fraction]]
) -> list[tuple[Any, ...]]:
    """The same with chances that sum to exactly one out of every state, for every input; rounding
    is forgiven.
    """
    sums: dict[tuple[str, str | None], Fraction] = {}
    for source, given, _, _, chance in arrows:
        sums[source, given] = sums.get((source, given), Fraction(0)) + chance
    for (state, given), total in sums.items():
        if abs(total - 1) > _SUM:
            word = "" if given is None else f' given "{given}"'
            raise UsageError(
                f'{path}: the probabilities out of state "{state}"{word} sum to'
                f" {float(total):.10g}; they must sum to 1"
            )
    return [(*arrow[:4], arrow[4] / sums[arrow[0], arrow[1]]) for arrow in arrows if arrow[4]]


def _start(path: Any, start: Any, known: list[str]) -> dict[str, Fraction] | None:
    if start is None:
        return None
    chances = start if isinstance(start, dict) else {str(start): 1}
    found = {
        str(state): _fraction(f'{path}: start "{state}"', chance)
        for state, chance in chances.items()
    }
    for state in found:
        if state not in known:
            raise UsageError(f'{path}: the start "{state}" is not a state; {nearest(state, known)}')
    total = sum(found.values(), Fraction(0))
    if abs(total - 1) > _SUM:
        raise UsageError(
            f"{path}: the chances of the start sum to {float(total):.10g}; they must sum to 1"
        )
    return {state: chance / total for state, chance in found.items()}
