"""A prioritised replay buffer of short sequences: those with the largest errors are sampled
most often.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from quickstudy.jax_gateway import jax, jnp


class Sequences(NamedTuple):
    """(sequence, ...): inputs and actions (time, player, ...), rewards (time, player), there
    (time,): whether a step belongs to the episode; state: what every player's memory held before
    the first step.
    """

    inputs: Any
    actions: Any
    rewards: Any
    there: Any
    state: Any


class Replay(NamedTuple):
    """kept: as many sequences as there is room for. priorities: of each, 0 where there is none yet.
    place: where the next one goes, in the place of the oldest.
    """

    kept: Sequences
    priorities: Any
    place: Any

    @classmethod
    def empty(cls, one: Sequences, room: int) -> Replay:
        """Room for so many sequences of the shapes of this one."""
        kept = jax.tree.map(lambda leaf: jnp.zeros((room, *leaf.shape), leaf.dtype), one)
        return cls(kept, jnp.zeros(room), jnp.int32(0))

    def with_more(self, more: Sequences, valid: Any) -> Replay:
        """With those of some sequences that are valid (sequence,), each as urgent as the most
        urgent one so far: it is looked at soon, and then priced. Of more than there is room for,
        the last are kept.
        """
        room = len(self.priorities)
        before = jnp.cumsum(valid) - valid
        count = valid.sum()
        valid = valid & (count - before <= room)
        at = jnp.where(
            valid, (self.place + before) % room, room
        )  # entries written after the end are dropped
        kept = jax.tree.map(lambda old, new: old.at[at].set(new, mode="drop"), self.kept, more)
        urgent = jnp.where((self.priorities > 0).any(), self.priorities.max(), 1.0)
        return Replay(
            kept, self.priorities.at[at].set(urgent, mode="drop"), (self.place + count) % room
        )

    def drawn(self, key: Any, count: int, exponent: Any) -> tuple[Any, Any]:
        """Numbers of some sequences, by their priorities to a power, and the probability of each;
        at least one must be there.
        """
        shares = jnp.where(self.priorities > 0, self.priorities**exponent, 0.0)
        upto = jnp.cumsum(shares / shares.sum())
        uniform = (jnp.arange(count) + jax.random.uniform(key, (count,))) / count
        # Compared with all at once: to halve again and again is a row of small steps, each a wait
        # on a GPU.
        found = jnp.searchsorted(upto, uniform * upto[-1], side="right", method="compare_all")
        numbers = jnp.minimum(found, len(shares) - 1)
        return numbers, shares[numbers] / shares.sum()

    def importance(self, probabilities: Any, exponent: Any) -> Any:
        """What each that was drawn counts, so that the mean is (for exponent 1) as if all were
        equally likely; the largest is 1.
        """
        weights = ((self.priorities > 0).sum() * probabilities) ** -exponent
        return weights / weights.max()

    def priced(self, numbers: Any, priorities: Any) -> Replay:
        """With new priorities of some."""
        return self._replace(priorities=self.priorities.at[numbers].set(priorities))


class Pieces(NamedTuple):
    """A rollout, in pieces in each of which every actor begins at most one sequence. kept:
    (piece, step, actor, ...), what sequences are made of, with the number of the episode, -1 for
    none, in the place of `there`. start: (piece, actor), at which step of the piece it begins, -1
    where none does; state: (piece, actor, ...), the memories before it.
    """

    kept: Sequences
    start: Any
    state: Any


def cut_into_sequences(
    lived: Sequences, start: Any, state: Any, length: int
) -> tuple[Sequences, Any]:
    """The sequences that begin in the first of some pieces, (piece * actor, time, ...), and which
    of them there are.

    lived: as `Pieces.kept`; start, state: of as many pieces as are followed by a sequence's length
    of steps.
    """
    gap, (pieces, actors) = lived.there.shape[1], start.shape
    at = jnp.arange(pieces)[:, None] * gap + jnp.maximum(start, 0)
    at = at[..., None] + jnp.arange(length), jnp.arange(actors)[:, None]
    taken = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[at].reshape(-1, length, *leaf.shape[3:]),
        lived._replace(state=None),
    )
    there = (taken.there == taken.there[:, :1]) & (taken.there >= 0)
    state = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), state)
    return taken._replace(there=there, state=state), start.reshape(-1) >= 0
