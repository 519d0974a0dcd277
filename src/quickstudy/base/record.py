"""One run, as it stands in the journal: what was run, where, what came out. Written once, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from quickstudy.base.canonical import canonical, digest

OK, FAILED, NOT_APPLICABLE = "ok", "failed", "not-applicable"


@dataclass(frozen=True)
class Record:
    """key: SHA-256 of the canonical JSON of `what`. what: identity (task, learner, protocol with ids, versions and
    parameters; convention, root seed, repetition). where: versions, machine, kind of device, lanes, time. status:
    `ok`, `failed` or `not-applicable`, with its reason. scores: by measure id, with the measure's version. trace:
    the raw trace inline ({"kind", "arrays", "facts"}) or {"kind", "facts", "file"} relative to the results folder.
    saved: file of the trained learner, if it was asked for. labels: how `task` and `learner` are shown to people, the
    learner's `role` (`learner`, `control` or `oracle`), the `family`, and what of the `protocol` is not the standard
    of its convention (not in records of earlier versions). legend: how the scores are read
    (`quickstudy.base.legend`); empty in records of earlier versions.
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

    @property
    def key(self) -> str:
        """The identity of the run."""
        return digest(self.what)

    def to_line(self) -> str:
        """One line of JSON, without the newline."""
        return canonical({"key": self.key, **asdict(self)})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Record:
        """The inverse of `to_line`, after parsing."""
        return cls(**{name: value for name, value in facts.items() if name != "key"})
