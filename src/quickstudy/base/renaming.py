"""Earlier names of ids, parameters and scores, in records that were made under them.

A renamed component declares the name that it had first, at most one:

    @core("reservoir", version=2, alias="esn")          # an id of any registry
    units: int = parameter(200, alias="nodes")          # a parameter
    Score("accuracy", alias="right")                    # a score of a measure

The first name is still understood wherever it is typed, and stays in the identity of a run, so that
keys and random streams are as before. Records are read by the present names: `canonical` changes
the labels and the names of scores of a record, so that rows of a table do not split.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.parameters import aliases_of, cut_assignments
from quickstudy.base.record import Record
from quickstudy.base.registry import Registry

_LEARNERS = (registries.core, registries.training, registries.learner, registries.control)


class Renaming:
    """Present names by earlier ones. It looks each name up once: make a new one to read a folder.

    No implementation is imported but that of a component whose source declares an alias.
    """

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], str] = {}
        self._scores: dict[str, Mapping[str, str]] = {}

    def canonical(self, record: Record) -> Record:
        """The record with the present names in its labels, scores and score metadata."""
        labels = dict(record.labels)
        for part, kinds in (("task", (registries.task,)), ("learner", _LEARNERS)):
            if part in labels:
                labels[part] = self.label(labels[part], *kinds)
        protocol = record.part("protocol").get("id")
        if labels.get("protocol") and isinstance(protocol, str):
            typed = self.label(f"{protocol}:{labels['protocol']}", registries.protocol)
            labels["protocol"] = typed.partition(":")[2]
        ids = {id: registries.measure.current(id) for id in record.scores}
        renamed = {id: names for id in record.scores if (names := self.scores(id))}
        if not renamed and all(id == now for id, now in ids.items()):
            return record if labels == record.labels else replace(record, labels=labels)
        scores = {
            ids[id]: {**entry, "values": _renamed(entry["values"], renamed.get(id, {}))}
            for id, entry in record.scores.items()
        }
        return replace(record, labels=labels, scores=scores, legend=_legend(record, renamed, ids))

    def label(self, text: str, *kinds: Registry[Any]) -> str:
        """A task, learner or protocol as it would be typed now."""
        mark = kinds[0].kind, text
        if mark not in self._labels:
            self._labels[mark] = self._typed(text, kinds)
        return self._labels[mark]

    def scores(self, measure: str) -> Mapping[str, str]:
        """The present names of the scores of a measure by the names they had first."""
        if measure not in self._scores:
            found = _component(registries.measure, measure)
            declared = () if found is None else found.scores
            self._scores[measure] = {one.alias: one.name for one in declared if one.alias}
        return self._scores[measure]

    def score(self, name: str) -> str:
        """The present name of a score of any measure."""
        for measure in registries.measure.names():
            if name in (known := self.scores(measure)):
                return known[name]
        return name

    def _typed(self, text: str, kinds: tuple[Registry[Any], ...]) -> str:
        name, colon, assignments = text.partition(":")
        ids, parameters = [], dict[str, str]()
        for id in name.split("+"):
            now = next((one.current(id) for one in kinds if id in one), id)
            ids.append(now)
            for registry in kinds:
                if (found := _component(registry, now)) is not None:
                    parameters |= aliases_of(found)
        parts = cut_assignments(assignments) if parameters and assignments else [assignments]
        for place, part in enumerate(parts if parameters else ()):
            old, sign, value = part.partition("=")
            parts[place] = parameters.get(old, old) + sign + value
        return "+".join(ids) + colon + ",".join(parts)


def _component(registry: Registry[Any], id: str) -> Any:
    """A component whose source declares an alias; None for any other, and for one that cannot be
    imported here.
    """
    with contextlib.suppress(QuickstudyError, ImportError):
        if id in registry and registry.find(id).renames:
            return registry.get(id)
    return None


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


def _legend(
    record: Record, renamed: Mapping[str, Mapping[str, str]], ids: Mapping[str, str]
) -> Mapping[str, Any]:
    """The score metadata of a record by the present names."""
    every = {old: new for names in renamed.values() for old, new in names.items()}
    legend = dict(record.legend)
    scores = legend.get("scores")
    if isinstance(scores, Mapping):
        legend["scores"] = {
            ids.get(id, id): _renamed(found, renamed.get(id, {}))
            if isinstance(found, Mapping)
            else found
            for id, found in scores.items()
        }
    for entry, named in legend.items():
        if isinstance(named, str):
            legend[entry] = every.get(named, named)
        elif isinstance(named, list | tuple):
            legend[entry] = [every.get(one, one) if isinstance(one, str) else one for one in named]
    return legend
