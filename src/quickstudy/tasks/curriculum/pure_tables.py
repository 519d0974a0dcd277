"""A table-driven task (micro 1 to 5.18) as a pure JAX function of a state and a reply, byte for
byte what `loop` does.

A step draws nothing: the state holds instances that were drawn before, from the same random
numbers, as arrays (`queues`). The kind of task is part of the state too, so that one compiled
program serves all of them. By `begun_by_key` such a task is a `PureWorldTask`: whole rollouts from
a key.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.task import Turn
from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import BUDGET, IN_A_ROW, MICRO_STEPS, SPACE
from quickstudy.tasks.curriculum.queues import (
    ECHO,
    LETTERS_AND_ECHO,
    LONGEST,
    ONE_ANSWER,
    TABLE,
    Rows,
    rules,
)
from quickstudy.tasks.curriculum.tables import FOUR
from quickstudy.tasks.curriculum.world import renaming_of

NEVER = 1 << 30


class Queue(NamedTuple):
    """Instances in their order, one row each. texts: (row, 2, question, byte) keys and values with
    what follows them, their length in front; order: (row, place) numbers of the questions; noise:
    (row, place, byte) random digits before the feedback, their number in front; opens: (row,
    question) and lefts: (row,) what is needed to know the answers.
    """

    texts: Any
    order: Any
    noise: Any
    opens: Any
    lefts: Any


class Fixed(NamedTuple):
    """What does not change: kind of the task, successes that pass it, the mark after the
    feedback (-1: none), whether a right answer is repeated without its end; (256,) bytes as shown,
    and as meant.
    """

    kind: Any
    needed: Any
    closes: Any
    short: Any
    shown_as: Any
    meant: Any


class State(NamedTuple):
    """The state of a rollout. row: of the queue; question: its place in the order; told: that of
    the question whose feedback is shown, said: how long that is, cut: by how much a value is
    shortened there; place, length: of the text; answered, right: bytes of the answer so far, and
    whether they are right; draining: 0, or how the instance has ended whose last text is shown (1:
    failed, 2: solved); shown, run, asked, soft, hard: see `loop.micro`; left, opens: what is still
    needed to know the answers; solved: instances in a row; over: the task is passed.
    """

    queue: Queue
    fixed: Fixed
    row: Any
    question: Any
    told: Any
    said: Any
    cut: Any
    place: Any
    length: Any
    answered: Any
    right: Any
    draining: Any
    shown: Any
    run: Any
    asked: Any
    soft: Any
    hard: Any
    left: Any
    opens: Any
    solved: Any
    over: Any


def begun(queue: Queue, fixed: Fixed, row: Any = 0, solved: Any = 0, over: Any = False) -> State:
    """The instance of a row at its beginning."""
    row = jnp.asarray(row, jnp.int32)
    zero, never = jnp.zeros_like(row), jnp.full_like(row, NEVER)
    return State(
        queue,
        fixed,
        row,
        question=zero,
        told=zero,
        said=zero,
        cut=zero,
        place=zero,
        length=_key_length(queue, row, zero),
        answered=zero,
        right=jnp.asarray(True),
        draining=zero,
        shown=zero,
        run=zero,
        asked=zero,
        soft=never,
        hard=never,
        left=_whole(queue.lefts[row]),
        opens=_whole(queue.opens[row]),
        solved=jnp.asarray(solved, jnp.int32),
        over=jnp.asarray(over),
    )


def seen(state: State) -> Any:
    """The byte that is shown at a place of a text."""
    (texts, order, noise, _, _), row, place = state.queue, state.row, state.place
    told = order[row, state.told]
    digits = _whole(noise[row, state.told, 0])
    value_end = digits + _whole(texts[row, 1, told, 0]) - state.cut

    def at(part: int, question: Any, where: Any) -> Any:
        return _whole(texts[row, part, question, 1 + jnp.clip(where, 0, LONGEST - 2)])

    byte = at(0, order[row, state.question], place - state.said)
    byte = jnp.where(place < state.said, state.fixed.closes, byte)
    byte = jnp.where(place < jnp.minimum(value_end, state.said), at(1, told, place - digits), byte)
    if noise.shape[2] > 1:
        before = _whole(noise[row, state.told, 1 + jnp.clip(place, 0, noise.shape[2] - 2)])
        byte = jnp.where(place < jnp.minimum(digits, state.said), before, byte)
    return _whole(state.fixed.shown_as[byte])


def stepped(state: State, action: Any) -> tuple[State, Any, Any, Any]:
    """One reply: the state, the byte shown, the reward, and how an instance has ended with it (0:
    it has not).
    """
    queue, fixed = state.queue, state.fixed
    reply = _whole(fixed.meant[action])
    draining = state.draining > 0
    talking = ~draining & (state.place < state.length - 1)
    answering = ~draining & ~talking

    # The answer so far.
    current = queue.order[state.row, state.question]
    value = queue.texts[state.row, 1, current]
    late = state.answered >= MICRO_STEPS - state.shown - state.length
    answered = state.answered + 1
    right = state.right & (_whole(value[jnp.minimum(answered, LONGEST - 1)]) == reply)
    whole = answered >= _whole(value[0])
    judged, timed_out = answering & whole, answering & ~whole & late

    # Where the instance stands once it is judged.
    asked, run = state.asked + 1, jnp.where(right, state.run + 1, 0)
    in_a_row = run >= IN_A_ROW
    asks = judged & ~in_a_row & (state.soft == NEVER)
    known, left, opens = _known(state, current, right)
    left, opens = jnp.where(asks, left, state.left), jnp.where(asks, opens, state.opens)
    soft = jnp.where(asks & known, asked + BUDGET, state.soft)
    past = asked > soft
    hard = jnp.where(judged & ~in_a_row & past & (state.hard == NEVER), asked * 2, state.hard)
    failed = past & (asked > hard)
    ended = jnp.where(in_a_row, jnp.where(asked <= soft, 2, 1), jnp.where(failed, 1, 0))
    more = ended == 0

    # The feedback.
    cut = _whole(fixed.short & right)
    digits = _whole(queue.noise[state.row, state.question, 0])
    said = digits + _whole(value[0]) - cut + (fixed.closes >= 0)
    said = jnp.where(fixed.kind == TABLE, said, 0)
    following = state.question + more
    length = said + jnp.where(more, _key_length(queue, state.row, following), 0)
    drains = jnp.where(more, jnp.where(late, 1, 0), ended)

    over_now = (judged & (length == 0)) | timed_out | (draining & (state.place + 1 >= state.length))
    how = jnp.where(
        over_now, jnp.where(draining, state.draining, jnp.where(timed_out, 1, ended)), 0
    )
    punished = (draining | talking) & (reply != SPACE) & ~over_now
    reward = jnp.where(judged, jnp.where(right, 1, -1), jnp.where(punished, -1, 0))
    after = state._replace(
        question=jnp.where(judged, following, state.question),
        told=jnp.where(judged, state.question, state.told),
        said=jnp.where(judged, said, state.said),
        cut=jnp.where(judged, cut, state.cut),
        place=jnp.where(judged, 0, state.place + ~answering),
        length=jnp.where(judged, length, state.length),
        answered=jnp.where(judged, 0, state.answered + answering),
        right=jnp.where(answering, judged | right, state.right),
        draining=jnp.where(judged, drains, state.draining),
        shown=jnp.where(judged, state.shown + state.length + answered - 1, state.shown),
        run=jnp.where(judged, run, jnp.where(talking & (reply != SPACE), 0, state.run)),
        asked=jnp.where(judged, asked, state.asked),
        soft=soft,
        hard=hard,
        left=left,
        opens=opens,
    )
    solved = jnp.where(how == 2, state.solved + 1, 0)
    fresh = begun(queue, fixed, state.row + 1, solved, state.over | (solved >= fixed.needed))
    merged = [jnp.where(over_now, new, old) for new, old in zip(fresh[2:], after[2:], strict=True)]
    state_after = State(queue, fixed, *merged)
    waiting = (answering & ~judged & ~over_now) | state_after.over
    byte = jnp.where(waiting, SPACE, seen(state_after))
    return state_after, byte, jnp.where(state.over, 0, reward), how


def halts(state: State) -> Any:
    """The task is passed, or the last row of the queue is reached: the caller has to pass more."""
    return state.over | (state.row >= state.queue.lefts.shape[-1] - 1)


def _known(state: State, current: Any, right: Any) -> tuple[Any, Any, Any]:
    """Whether the answers can be known by now, and what is still needed; see `tables`."""
    kind = state.fixed.kind
    tried = (kind == ONE_ANSWER) | (kind == LETTERS_AND_ECHO)
    each = ~tried & (kind != ECHO)
    by_trying = (state.left == 0) | (right & ((kind == ONE_ANSWER) | (current < FOUR)))
    fewer = state.opens[current] - 1
    closed = (fewer >= 0) & (right | (fewer == 0))
    opens = state.opens.at[current].set(jnp.where(closed, 0, jnp.maximum(fewer, 0)))
    left = state.left - jnp.where(tried, ~right, each & closed)
    known = jnp.where(tried, by_trying, ~each | (left == 0))
    return known, left, jnp.where(each, opens, state.opens)


def _key_length(queue: Queue, row: Any, question: Any) -> Any:
    return _whole(queue.texts[row, 0, queue.order[row, question], 0])


def _whole(value: Any) -> Any:
    return jnp.asarray(value, jnp.int32)


def key_name(words: NDArray[np.uint32]) -> str:
    """The name of the random stream that the two words of a key encode."""
    return "".join(f"{word:08x}" for word in words)


def begun_by_key(
    member: str, needed: int, renamed: bool, key: Any, steps: int
) -> tuple[State, Any]:
    """A fresh life in a task with instances enough for so many steps, and the first byte.

    The instances are drawn on the host, as the environment draws them: a pure function of the key.
    """
    number = member.partition("-")[2]
    setting = rules(number)
    draw = _drawing(number, steps // setting.least + 2, renamed)
    shapes = jax.tree.map(
        lambda part: jax.ShapeDtypeStruct(part.shape, part.dtype), _room(number, draw.rows)
    )
    shapes = (*shapes, *[jax.ShapeDtypeStruct((256,), np.uint8)] * 2)
    *rows, shown_as, meant = jax.pure_callback(
        draw, shapes, jax.random.key_data(key), vmap_method="sequential"
    )
    kind, closes, short = (
        jnp.int32(setting.kind),
        jnp.int32(setting.closes),
        jnp.asarray(setting.short),
    )
    state = begun(Queue(*rows), Fixed(kind, jnp.int32(needed), closes, short, shown_as, meant))
    return state, seen(state)


def turned(state: State, action: Any) -> tuple[State, Turn]:
    """One reply."""
    after, byte, reward, ended = stepped(state, action)
    return after, Turn(
        byte, reward.astype(jnp.float32), after.over, {"ended": jnp.where(state.over, 0, ended)}
    )


def _room(number: str, rows: int) -> Rows:
    return Rows.empty(rows, rules(number).asked_at_most, rules(number).digits)


class _Drawing:
    """Draws the instances of a task for a key."""

    def __init__(self, number: str, rows: int, renamed: bool) -> None:
        self.number, self.rows, self.renamed = number, rows, renamed

    def __call__(self, words: Any) -> tuple[NDArray[Any], ...]:
        name = key_name(np.asarray(words))
        rows = _room(self.number, self.rows)
        rows.fill(self.number, name, 0)
        shown_as = renaming_of(Draws(f"{name}/symbols")) if self.renamed else bytes(range(256))
        meant = bytes(shown_as.index(byte) for byte in range(256))
        return (*rows, np.frombuffer(shown_as, np.uint8), np.frombuffer(meant, np.uint8))


@lru_cache
def _drawing(number: str, rows: int, renamed: bool) -> _Drawing:
    # One object for equal arguments: a program is compiled once for each.
    return _Drawing(number, rows, renamed)
