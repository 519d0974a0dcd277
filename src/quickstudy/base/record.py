"""One run, as in the journal: what was run, where, what came out. Written once, never
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from quickstudy.base.canonical import digest, guarded
from quickstudy.base.measure import is_score_name

OK, FAILED, NOT_APPLICABLE = STATUSES = "ok", "failed", "not-applicable"
DEEPEST = 40
"""Lists and mappings within each other. A learner within a learner takes three; 700 end a reader
that recurses.
"""


@dataclass(frozen=True)
class Record:
    """key: SHA-256 of the canonical JSON of `what`. what: identity (task, learner, protocol with
    ids, versions and parameters; convention, root seed, repetition). where: versions, fingerprints
    of built-in code (none in records of earlier versions), machine, kind of device, lanes, time.
    status: `ok`, `failed` or `not-applicable`, with its reason. scores: by measure id, with the
    measure's version. trace: the raw trace inline ({"kind", "arrays", "facts"}) or {"kind",
    "facts", "file"} relative to the results folder. saved: file of the trained learner, if it was
    asked for. labels: how `task` and `learner` are shown to people, the learner's `role`
    (`learner`, `control` or `oracle`), the `family`, and what of the `protocol` is not the standard
    of its convention (not in records of earlier versions). legend: how the scores are read
    (`quickstudy.base.score_metadata`); empty in records of earlier versions. traceback: what
    Python printed of the error of a learner that failed, cut where it is very long. files: SHA-256
    of every file that it names; none in records of earlier versions.
    """

    what: Mapping[str, Any]
    status: str
    reason: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)
    saved: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    legend: Mapping[str, Any] = field(default_factory=dict)
    traceback: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The identity of the run."""
        return digest(self.what)

    @property
    def passing(self) -> bool:
        """Whether it failed because something was missing that may exist the next time: it is run
        again without a word.
        """
        return self.status == FAILED and self.where.get("passing") is True

    @property
    def started(self) -> float:
        """When it was started, in seconds since the epoch; 0 where it does not say so."""
        said = self.where.get("started")
        return float(said) if said and _is_number(said) else 0.0

    def part(self, name: str) -> Mapping[str, Any]:
        """The task, learner or protocol of `what`; nothing where a record from elsewhere has
        none.
        """
        found = self.what.get(name)
        return found if isinstance(found, Mapping) else {}

    def parameters(self, name: str) -> Mapping[str, Any]:
        """The parameters of the task, learner or protocol."""
        found = self.part(name).get("parameters")
        return found if isinstance(found, Mapping) else {}

    def to_line(self) -> str:
        """One line of JSON, without the newline; it begins with a checksum of the rest of it."""
        return guarded({"key": self.key, **asdict(self)})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Record:
        """The inverse of `to_line`, after parsing. What only a later version knows is left out."""
        return cls(**{name: facts[name] for name in _FIELDS if name in facts})

    def faults(self, sound: dict[int, Any] | None = None) -> Iterator[str]:
        """Everything in it that is not of the kind that its readers rely on. Values of scores may
        be anything.

        sound: by `id`, parts that are not nested too deeply, known from other records; gains those
        of this one.
        """
        for name in _MAPPINGS:
            if not isinstance(getattr(self, name), dict):
                yield f"{name} is not a mapping"
                return  # nothing else can be asked of it
        texts = {"reason": self.reason, "traceback": self.traceback, "saved": self.saved or ""}
        yield from (f"{name} is not a text" for name, text in texts.items() if not _is_text(text))
        for name, kinds in _KINDS.items():
            part = getattr(self, name)
            for entry, (fits, kind) in kinds.items():
                if entry in part and not fits(part[entry]):
                    yield f"{name}.{entry} is not {kind}"
        for name in _COMPONENTS:
            component = self.what.get(name, {})
            if not isinstance(component, dict):
                yield f"what.{name} is not a mapping"
            elif not isinstance(component.get("parameters", {}), dict):
                yield f"what.{name}.parameters is not a mapping"
        yield from (
            f"cost.{name} is not a number" for name, cost in self.cost.items() if not _is_cost(cost)
        )
        for group in ("labels", "files"):
            named = getattr(self, group).items()
            yield from (
                f"{group}.{name} is not a text" for name, text in named if not isinstance(text, str)
            )
        for measure, entry in self.scores.items():
            if not _scored(entry):
                yield f"scores.{measure} has no version and values"
                return
            if any(not is_score_name(name) for name in entry["values"]):
                yield f"scores.{measure} has a score whose name is empty or has * before its end"
                return
        yield from self._faults_of_trace()
        # The rest is flat, or is looked at elsewhere: arrays when they are read, a legend by what
        # is known of legends.
        parts = [*self.what.values(), *self.where.values()]
        parts += [part for name, part in self.trace.items() if name != "arrays"]
        parts += [part for entry in self.scores.values() for part in entry["values"].values()]
        sound = {} if sound is None else sound
        nested = [part for part in parts if type(part) in _HOLDERS and id(part) not in sound]
        if nested and too_deep(nested, DEEPEST - 1):
            yield f"more than {DEEPEST} lists or mappings stand within each other"
        elif len(sound) < _MOST_SOUND:  # held, so that no other part has its id
            sound.update({id(part): part for part in nested})

    def _faults_of_trace(self) -> Iterator[str]:
        if not self.trace:
            return
        if not isinstance(self.trace.get("kind"), str):
            yield "trace.kind is not a text"
        if "file" not in self.trace and not isinstance(self.trace.get("arrays"), dict):
            yield "trace.arrays is not a mapping"
        facts = self.trace.get("facts", {})
        if not isinstance(facts, dict):
            yield "trace.facts is not a mapping"
            return
        yield from (
            f"trace.facts.{name} is not a number"
            for name in _COUNTED
            if not _is_number(facts.get(name, 1))
        )
        several = facts.get("training_sequences", 1)
        if not all(map(_is_number, several if isinstance(several, list) else [several])):
            yield "trace.facts.training_sequences is not a number"


_FIELDS = tuple(field.name for field in fields(Record))
_MAPPINGS = ("what", "where", "cost", "scores", "trace", "labels", "legend", "files")
_COMPONENTS = ("task", "learner", "protocol")
_HOLDERS = {dict, list}
_MOST_SOUND = 20_000
_COUNTED = ("passes", "tokens_per_sequence")
_LARGEST = 1e300
"""A whole number of JSON has no bound; a number above this was not written here, and cannot be
computed with.
"""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return type(value) is float or (isinstance(value, int) and -_LARGEST <= value <= _LARGEST)


def _is_cost(value: Any) -> bool:
    return (
        value is None
        or type(value) is float
        or _is_number(value)
        or value in ("nan", "inf", "-inf")
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and -_LARGEST <= value <= _LARGEST


def _scored(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("values"), dict):
        return False
    return _is_whole(entry.get("version")) and _is_number(entry.get("scored", 0.0))


_MAPPING = (lambda value: isinstance(value, dict), "a mapping")
_TEXT = (_is_text, "a text")
_WHOLE = (_is_whole, "a whole number")
_KINDS: Mapping[str, Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "what": {"convention": _TEXT, "root": _WHOLE, "repetition": _WHOLE},
    "where": {
        **dict.fromkeys(("versions", "fingerprints", "machine"), _MAPPING),
        **dict.fromkeys(("device", "look_ahead", "remark"), _TEXT),
        "lanes": _WHOLE,
    },
    "trace": {"types": _MAPPING, "file": _TEXT},
}


def too_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether more than so many lists and mappings of JSON stand within each other."""
    level = [value]
    for _ in range(most):
        # By type and in one list: a recursion took as long as all else that is done with a line.
        level = [
            part
            for one in level
            for part in (one.values() if type(one) is dict else one)
            if type(part) in _HOLDERS
        ]
        if not level:
            return False
    return True
