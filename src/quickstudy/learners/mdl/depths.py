"""A proof that a network of counters is right for every string of brackets of one kind, or how deep
it is first wrong.

What such a network knows of a balanced beginning must be how deep it is, and perhaps which symbol
it read last: a state for every depth and last symbol. The first depths are gone through one by one,
along every edge, and each state must be the same however it is reached. From some depth on the
states are then taken to be lines in the depth. That reading a bracket leads from the line of one
depth to the line of the next is shown for all depths at once, with the same units on. At every step
those symbols that may follow, and no others, must have a probability above 0. All in exact
arithmetic, without the limit on values.
"""

from __future__ import annotations

from fractions import Fraction

from quickstudy.base.errors import NotApplicable
from quickstudy.learners.mdl.exact import ONE, ZERO
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.symbolic_states import FROM, Certificate, SymbolicNetwork
from quickstudy.learners.mdl.verification import (
    Curve,
    Form,
    Region,
    Unknown,
    Wrong,
    added,
    judge_possible,
)

BRACKETS = "dyck-1"
_END, _OPEN, _CLOSE = 0, 1, 2
_WIDTH = 3
"""Of a form: a constant, the depth, and no step."""
_MORE = 3
"""Depths enumerated one by one after the one from which lines are fitted."""
State = dict[int, Form]


def certificate(network: Network) -> Certificate:
    """Of a network over `#` and one kind of brackets."""
    reading = SymbolicNetwork(network)
    for least in FROM:
        try:
            states = _one_by_one(reading, least + _MORE)
            if reason := _lines(reading, states, least):
                continue
        except Wrong as depth:
            return Certificate(BRACKETS, False, (int(str(depth)),), counted="depth ")
        except NotApplicable as why:
            return Certificate(BRACKETS, None, reason=str(why))
        steps = (f"depth 0 to {least + _MORE}: one by one, depth from {least} on: by induction",)
        return Certificate(BRACKETS, True, limit=reading.limit, steps=steps)
    return Certificate(BRACKETS, None, reason=reason)


def _valid(depth: int) -> set[int]:
    return {_OPEN, _CLOSE} if depth else {_OPEN, _END}


def _one_by_one(reading: SymbolicNetwork, deepest: int) -> dict[tuple[int, int], State]:
    """The state for every last symbol and depth. Raises Wrong, with the depth of a step that is,
    the first there is by the number of symbols read; NotApplicable where two prefixes of the same
    depth are distinguished.
    """
    region = Region(1)
    first, outputs = reading.step(None, _END, region, _WIDTH)
    _judged(outputs, 0, region)
    found, waiting = {(_END, 0): first}, [(_END, 0)]
    for place in waiting:  # grows while it is enumerated: the shortest prefixes first
        depth = place[1]
        for symbol, then in ((_OPEN, depth + 1), (_CLOSE, depth - 1)):
            if not 0 <= then <= deepest:
                continue
            state, outputs = reading.step(found[place], symbol, region, _WIDTH)
            _judged(outputs, then, region)
            if found.setdefault((symbol, then), state) != state:
                raise NotApplicable(
                    f"it tells beginnings of depth {then} apart by more than their last symbol"
                )
            if (symbol, then) not in waiting:
                waiting.append((symbol, then))
    return found


def _judged(outputs: list[Form | Curve], depth: int, region: Region) -> None:
    try:
        judge_possible(outputs, _valid(depth), region)
    except Wrong:
        raise Wrong(str(depth)) from None
    except Unknown:
        raise NotApplicable(f"whether an output is 0 at depth {depth} is undecided") from None


def _lines(reading: SymbolicNetwork, states: dict[tuple[int, int], State], least: int) -> str:
    """Nothing, where from a depth on the states are lines in the depth that lead to one another;
    else why not.
    """
    region, deeper = Region(least), Region(least + 1)
    lines = dict[int, State]()
    for last in (_OPEN, _CLOSE):
        here, next_one = states[last, least], states[last, least + 1]
        lines[last] = {
            unit: (form[0] - least * slope, slope, ZERO)
            for unit, form in here.items()
            for slope in [next_one[unit][0] - form[0]]
        }
    try:
        for line in lines.values():
            state, outputs = reading.step(line, _OPEN, region, _WIDTH)
            judge_possible(outputs, _valid(least + 1), region)
            if state != _moved(lines[_OPEN], ONE):
                return "states are not linear in the depth"
            state, outputs = reading.step(line, _CLOSE, deeper, _WIDTH)
            judge_possible(outputs, _valid(least), deeper)
            if state != _moved(lines[_CLOSE], -ONE):
                return "states are not linear in the depth"
    except (Unknown, Wrong):
        return "units do not stay on or off, or outputs cannot be compared, however deep"
    return ""


def _moved(line: State, by: Fraction) -> State:
    """A line as a function of the depth that is so much less."""
    return {unit: added(form, (form[1], ZERO, ZERO), by) for unit, form in line.items()}
