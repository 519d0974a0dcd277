"""Episodes written down, and episodes that were recorded elsewhere played again, step by step."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError, nearest
from quickstudy.jax_gateway import double, jax, jnp, lax
from quickstudy.tasks.games.episodes import Episode
from quickstudy.tasks.games.play import KEYS, Standing, begin, observe, proceed, round_of, spoken
from quickstudy.tasks.games.settings import Sizes

FIELDS = ("task", "values", "renamed", "games", "messages", "decisions", "replies")
"""The fields that are read of a recording."""
TITLES = ("game", "phase", "target", "said", "heard", "speaker", "listener", "right")


def recorded(episode: Episode, number: int) -> dict[str, Any]:
    """One of some episodes in plain JSON types: `values`, `renamed` and `games`.

    Stimuli are lists of numbers, one stimulus after the other, as a player observes them.
    """
    count, renamed = int(episode.count[number]), episode.renamed[number]
    shared = (renamed == renamed[0]).all()
    games = [
        {
            "query": bool(game >= episode.support[number]),
            "target": episode.target[number, game].tolist(),
            "speaker": _exact(episode.speaker[number, game]),
            "listener": _exact(episode.listener[number, game]),
            "correct": int(episode.correct[number, game]),
        }
        for game in range(count)
    ]
    return {
        "values": episode.values[number].tolist(),
        "renamed": (renamed[0] if shared else renamed).tolist(),
        "games": games,
    }


def table_of(episode: Episode, number: int, length: int) -> list[tuple[str, ...]]:
    """The same for people, a row for every game."""

    def numbers(array: NDArray[Any]) -> str:
        return " | ".join(" ".join(f"{value:5.2f}" for value in row) for row in array)

    rows: list[tuple[str, ...]] = [TITLES]
    for game in range(int(episode.count[number])):
        said = episode.message[number, game][:length]
        heard = episode.renamed[number, np.arange(length), said]
        phase = "query" if game >= episode.support[number] else "support"
        target = " ".join(map(str, episode.target[number, game]))
        shown = numbers(episode.speaker[number, game]), numbers(episode.listener[number, game])
        told = " ".join(map(str, said)), " ".join(map(str, heard))
        rows.append((str(game), phase, target, *told, *shown, str(episode.correct[number, game])))
    return rows


def _exact(array: NDArray[Any]) -> list[float]:
    """The shortest numbers that are these, in single precision."""
    return [float(str(value)) for value in array.astype(np.float32).ravel()]


def replayed(sizes: Sizes, line: Mapping[str, Any], replies: bool) -> list[dict[str, Any]]:
    """Every observation of a recorded episode, the first before any action: `round_idx`, `speaker`
    and `listener` by the original's keys, and the `reward` and `done` that came with it.

    line: as `recorded` has it, with `messages` (step, token), the speaker's, and `decisions`
    (step,), the listener's; where the speaker reads the listener's messages, `replies`, also
    `replies` (step, token), the listener's messages. There is one entry for every step; where the
    last observation is one of feedback, after which nothing is done, there may be one for it too.
    A recording that breaks off is played as far as it goes, and then no step is `done`. A decision
    that does not count may be None. Without messages the speaker is the one by rule, without
    decisions the listener is right, without replies it is silent. Raises UsageError, with the
    field, for a line that does not fit.
    """
    _check_fields(line)
    if line.get("replies") is not None and not replies:
        raise UsageError("replies is for a speaker that reads them, as in games/pair:queries=True")
    episode = _episode(sizes, line)
    if line.get("messages") is None and (
        sizes.language != "posdis" or (episode.message > sizes.words).any()
    ):
        raise UsageError(
            "messages is missing, and a speaker that names dimension i by token i cannot replace"
            " them"
        )
    games = len(line["games"])
    steps = sizes.turns * games - sizes.feedback
    acted = {
        "messages": _table(line, "messages", sizes, steps, sizes.words, (sizes.length,)),
        "decisions": _table(line, "decisions", sizes, steps, sizes.decisions - 1, ()),
        "replies": _table(line, "replies", sizes, steps, sizes.words, (sizes.length,)),
    }
    given = {len(array) for array in acted.values() if array is not None}
    if len(given) > 1:
        raise UsageError(
            "messages, decisions and replies must have one entry for every step, and are unequally"
            " long"
        )
    taken = given.pop() if given else steps
    if replies and acted["replies"] is None:
        acted["replies"] = np.zeros((taken, sizes.length), np.int64)
    room = 1 << (games - 1).bit_length()
    padded = replace(
        episode,
        **{name: _grown(part, room) for name, part in episode.games_at(slice(None)).items()},
    )
    most = sizes.turns * room - sizes.feedback
    with double():
        actions = {
            name: None if array is None else _grown(array, most) for name, array in acted.items()
        }
        seen, rewards, over = jax.tree.map(np.asarray, _played(sizes, most)(padded, actions))
    return [_step(seen, rewards, over, number) for number in range(taken + 1)]


def _grown(array: Any, length: int) -> NDArray[Any]:
    array = np.asarray(array)
    return np.pad(array, [(0, length - len(array)), *[(0, 0)] * (array.ndim - 1)], mode="edge")


def _step(seen: Any, rewards: Any, over: Any, number: int) -> dict[str, Any]:
    place, views = seen
    players = [{key: np.asarray(view[key][number]).tolist() for key in KEYS} for view in views]
    reward, done = (float(rewards[number - 1]), bool(over[number - 1])) if number else (0.0, False)
    return {
        "round_idx": int(place[number]),
        "speaker": players[0],
        "listener": players[1],
        "reward": reward,
        "done": done,
    }


@lru_cache(maxsize=32)
def _played(sizes: Sizes, steps: int) -> Any:
    """A program that plays one episode with given actions: observations (step + 1, ...), rewards,
    ends (step,).
    """

    def look(episode: Episode, standing: Standing) -> Any:
        return round_of(sizes, standing), observe(sizes, episode, standing)

    def run(episode: Episode, actions: Mapping[str, Any]) -> Any:
        def step(standing: Standing, now: Any) -> Any:
            message = (
                spoken(sizes, episode, standing) if now["messages"] is None else now["messages"]
            )
            decision = (
                episode.correct[standing.game] if now["decisions"] is None else now["decisions"]
            )
            standing, reward, _ = proceed(
                sizes, episode, standing, message, decision, now["replies"]
            )
            return standing, (look(episode, standing), reward, standing.over)

        first = begin(sizes)
        _, (seen, rewards, over) = lax.scan(step, first, actions, length=steps)
        whole = jax.tree.map(
            lambda one, rest: jnp.concatenate([jnp.asarray(one, rest.dtype)[None], rest]),
            look(episode, first),
            seen,
        )
        return whole, rewards, over

    return jax.jit(run)


def _check_fields(line: Mapping[str, Any]) -> None:
    """Raise UsageError for a field that is a slip for another, which would be passed over in
    silence. Other fields of a line, such as its time, are ignored.
    """
    missing = [field for field in FIELDS if field not in line]
    for name in line:
        if name not in FIELDS and difflib.get_close_matches(name, missing):
            raise UsageError(f'no field "{name}"; {nearest(name, missing)}')


def _episode(sizes: Sizes, line: Mapping[str, Any]) -> Episode:
    """The recording, checked field by field."""
    values = _whole("values", line.get("values"), (sizes.dimensions,))
    if not ((values >= 1) & (values <= sizes.most)).all():
        raise UsageError(f"values must lie in 1..{sizes.most}, got {values.tolist()}")
    table = np.asarray(line.get("renamed"), dtype=object)
    shape = (sizes.length, sizes.words + 1) if table.ndim == 2 else (sizes.words + 1,)
    renamed = np.broadcast_to(
        _whole("renamed", line.get("renamed"), shape), (sizes.length, sizes.words + 1)
    )
    if not (np.sort(renamed, axis=1) == np.arange(sizes.words + 1)).all() or renamed[:, 0].any():
        raise UsageError(
            f"renamed must have each of 0..{sizes.words} once, 0 first, got {line.get('renamed')}"
        )
    games = line.get("games")
    if (
        not isinstance(games, list)
        or not games
        or not all(isinstance(game, Mapping) for game in games)
    ):
        raise UsageError("games must be a list of objects, one for every game")
    found: dict[str, list[Any]] = {
        name: [] for name in ("query", "target", "speaker", "listener", "correct")
    }
    for number, game in enumerate(games):
        at = f"games[{number}]"
        if missing := [name for name in found if name not in game]:
            raise UsageError(f"{at} has no {missing[0]}")
        if not isinstance(game["query"], bool):
            raise UsageError(f"{at}.query must be true or false, got {game['query']!r}")
        found["query"].append(game["query"])
        target = _whole(f"{at}.target", game["target"], (sizes.dimensions,))
        if not ((target >= 0) & (target < values)).all():
            raise UsageError(
                f"{at}.target must be below values {values.tolist()}, got {target.tolist()}"
            )
        found["target"].append(target)
        for name in ("speaker", "listener"):
            found[name].append(_numbers(f"{at}.{name}", game[name], sizes.seen, sizes.dimensions))
        correct = _whole(f"{at}.correct", game["correct"], ())
        if not 0 <= correct < sizes.decisions:
            raise UsageError(f"{at}.correct must lie in 0..{sizes.decisions - 1}, got {correct}")
        found["correct"].append(correct)
    query = np.array(found["query"])
    if (np.diff(query.astype(int)) < 0).any():
        raise UsageError("games of the query must come after all others")
    shown = len(games), sizes.distractors + 1, sizes.dimensions
    targets = np.stack(found["target"])
    width = max(sizes.length, sizes.dimensions)
    return Episode(
        targets,
        np.reshape(found["speaker"], shown),
        np.reshape(found["listener"], shown),
        np.zeros(shown, np.int32),
        np.zeros(shown, np.int32),
        np.array(found["correct"]),
        np.zeros(len(games), np.int32),
        np.pad(targets + 1, ((0, 0), (0, width - sizes.dimensions))),
        values,
        renamed,
        np.int32((~query).sum()),
        np.int32(len(games)),
    )


def _numbers(name: str, given: Any, count: int, least: int) -> NDArray[np.float64]:
    """Stimuli, in one list or one for each; of a speaker that sees the target alone, with zeros
    after it.
    """
    try:
        array = np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} must be numbers, got {given}") from error
    if len(array) == least and name.endswith("speaker"):
        array = np.pad(array, (0, count - least))
    if len(array) != count:
        raise UsageError(f"{name} must be {count} finite numbers, got {len(array)}")
    if not np.isfinite(array).all():
        raise UsageError(
            f"{name} must be {count} finite numbers, got {array[~np.isfinite(array)][0]}"
        )
    return array


def _whole(name: str, given: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} must be whole numbers, got {given}") from error
    if array.shape != shape or not ((array == np.floor(array)) & (np.abs(array) < 2**31)).all():
        wanted = f"{'a whole number' if shape == () else f'{shape[0]} whole numbers'}"
        raise UsageError(f"{name} must be {wanted}, got {given}")
    return array.astype(np.int64)


def _table(
    line: Mapping[str, Any], name: str, sizes: Sizes, steps: int, most: int, shape: tuple[int, ...]
) -> NDArray[np.int64] | None:
    """The actions at every step; shape: of an entry."""
    given = line.get(name)
    if given is None:
        return None
    wanted = f"{name} must have an entry for each of {steps} steps"
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UsageError(f"{wanted}, got {given}")
    rows = []
    for number, entry in enumerate(given[:steps]):
        if entry is None and name == "decisions":
            if number % sizes.turns == sizes.rounds:
                raise UsageError(
                    f"{name}[{number}] must be a whole number, since the listener decides there,"
                    " got null"
                )
            entry = 0
        flat = (
            entry[0] if shape and isinstance(entry, list) and len(entry) == 1 != shape[0] else entry
        )
        row = _whole(f"{name}[{number}]", flat, shape)
        if not ((row >= 0) & (row <= most)).all():
            raise UsageError(f"{name}[{number}] must lie in 0..{most}, got {row.tolist()}")
        rows.append(row)
    if not 1 <= len(given) <= steps + sizes.feedback:
        raise UsageError(f"{wanted}, got {len(given)}")
    return np.stack(rows)
