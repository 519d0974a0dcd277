"""Numbers out of traces: when a run ends, and again when the user applies a new measure to stored
traces.

A record never changes. Scoring again writes the record once more, with more scores, into a journal
of its own; the reader puts the two together (`quickstudy.runs.merge`).
"""

from __future__ import annotations

import math
import pathlib
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from quickstudy.base import registries
from quickstudy.base.code_identity import code_of
from quickstudy.base.errors import QuickstudyError, UsageError, nearest
from quickstudy.base.measure import Measure, Score
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import read_legend
from quickstudy.base.study import Study
from quickstudy.base.text import described
from quickstudy.base.trace import Trace
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import Reading, read_results
from quickstudy.runs.run_spec import protocol_of

MAXIMUM_OF_MEAN = "maximum-of-mean-curve"
"""A score of many runs together, which no single one has."""
MEAN_CURVE = Score(
    MAXIMUM_OF_MEAN,
    "maximum of the mean curve",
    "share of test questions answered rightly",
    better="higher",
    range=(0.0, 1.0),
)
_MOST_SAID = 8


class LeftOut(NamedTuple):
    """A run that a measure was not applied to, and why. key: empty where the measure fits no run;
    measure: empty where the trace itself cannot be read.
    """

    key: str
    measure: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.key[:12], self.measure, self.reason)))


@dataclass(frozen=True)
class Scoring:
    """The runs that were rescored, or in a dry run would be. runs: finished runs that were looked
    at; scored: those that have new scores now; measures: by id, the version and how many runs;
    left_out: what was not scored.
    """

    runs: int = 0
    scored: int = 0
    measures: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    dry_run: bool = False

    @property
    def exit_status(self) -> int:
        """0 fine, 1 if a trace could not be read or a measure has failed on one."""
        return int(any(one.key for one in self.left_out))

    def lines(self) -> list[str]:
        """What happened, for people: the first few of what was left out, one line each."""
        done = ", ".join(
            f"{id} v{found['version']} ({found['runs']})" for id, found in self.measures.items()
        )
        what = (
            f"{self.scored} of {self.runs} runs {'would be ' if self.dry_run else ''}scored again"
        )
        said = [what + (f": {done}" if done else "" if self.left_out else ", nothing was missing")]
        said += [f"left out: {one}" for one in self.left_out[:_MOST_SAID]]
        rest = len(self.left_out) - _MOST_SAID
        return [*said, *([f"left out: {rest} more"] if rest > 0 else [])]


def find_measures(names: str | Sequence[str] | None = None) -> list[Measure]:
    """The measures of these names, or all that are installed or included; UsageError for one that
    does not exist.
    """
    chosen = (
        registries.measure.names()
        if names is None
        else [names]
        if isinstance(names, str)
        else names
    )
    return [registries.measure.get(name) for name in dict.fromkeys(chosen)]


def score_trace(trace: Trace, measures: Iterable[Measure], convention: str) -> dict[str, Any]:
    """The scores of a record: by measure its version, the code of one that is not the package's,
    and its numbers.
    """
    return {
        measure.id: {
            "version": measure.version,
            **code_of(measure.function),
            "values": dict(measure(trace, convention)),
        }
        for measure in measures
    }


def score_again(
    folder: str | pathlib.Path,
    measures: str | Sequence[str] = (),
    *,
    keys: Collection[str] | None = None,
    reading: Reading | None = None,
    dry_run: bool = False,
) -> Scoring:
    """Apply measures to the stored traces whose kind they can read, where the record lacks their
    numbers.

    measures: ids; without them, every measure that is installed or included. What a record has of a
    measure's own or a later version stays, unless it is of other code of a user's. keys: of these
    runs only. reading: of the folder, if it has just been read. Killed at any moment, nothing is
    lost: the same command goes on.
    """
    folder, chosen = pathlib.Path(folder), find_measures(measures or None)
    records = (reading or read_results(folder, expected=True)).records
    runs = {
        key: one
        for key, one in records.items()
        if one.status == OK and (keys is None or key in keys)
    }
    kinds = {str(record.trace.get("kind")) for record in runs.values() if record.trace}
    # Report measures that fit nothing only if they were named, not if they are merely installed.
    left_out = [
        LeftOut(
            "",
            measure.id,
            f"reads {', '.join(measure.kinds)}; the runs have {', '.join(sorted(kinds)) or 'none'}",
        )
        for measure in (chosen if measures and runs else ())
        if not kinds & set(measure.kinds)
    ]
    counts: Counter[str] = Counter()
    scored = 0
    with Journal(folder) as journal:
        for key, record in runs.items():
            wanted = [measure for measure in chosen if _lacks(record, measure)]
            if not record.trace:
                left_out.append(LeftOut(key, "", "it has no trace"))
            if not wanted:
                continue
            found, faults = _scores(folder, key, record, wanted)
            left_out += faults
            if found and not dry_run:
                try:
                    journal.write(_with(record, found, wanted))
                except (TypeError, ValueError) as error:
                    left_out.append(
                        LeftOut(
                            key, ", ".join(found), f"the scores cannot be written down: {error}"
                        )
                    )
                    continue
            counts.update(found.keys())
            scored += bool(found)
    versions = {measure.id: measure.version for measure in chosen}
    by_measure = {
        id: {"version": versions[id], "runs": count} for id, count in sorted(counts.items())
    }
    return Scoring(len(runs), scored, by_measure, tuple(left_out), dry_run)


class Compared(NamedTuple):
    """Scores in a folder against those computed again. equal: how many are the same; skipped: how
    many have another version of their measure, or code that is not here; differences: one line
    each.
    """

    equal: int
    skipped: int
    differences: tuple[str, ...]


def compare_scores(folder: str | pathlib.Path) -> Compared:
    """Compute every score of the finished runs of a folder again from its trace. Changes
    nothing.
    """
    folder = pathlib.Path(folder)
    equal, skipped, differences = 0, 0, []
    for key, record in read_results(folder, expected=True).records.items():
        for id, entry in record.scores.items() if record.status == OK else ():
            measure = registries.measure.get(id) if id in registries.measure else None
            if measure is None or _identity(entry) != (measure.version, code_of(measure.function)):
                skipped += len(entry["values"])
                continue
            found, faults = _scores(folder, key, record, [measure])
            now = found[id]["values"] if id in found else {}
            differences += [f"{fault} (recorded {len(entry['values'])} scores)" for fault in faults]
            for name in {} if faults else sorted({*entry["values"], *now}):
                was, computed = (_number(values.get(name)) for values in (entry["values"], now))
                if _same(was, computed):
                    equal += 1
                else:
                    differences.append(
                        f"{key[:12]}: {name} is {was} in the record, {computed} by its trace"
                    )
    return Compared(equal, skipped, tuple(differences))


def _identity(entry: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    code = {"code": entry["code"]} if "code" in entry else {}
    return entry["version"], code


def _number(value: Any) -> float | None:
    """A score as a number: one that is not finite is recorded as a text."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _same(one: float | None, other: float | None) -> bool:
    """Up to rounding: another machine may add in another order."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (one != one and other != other)


def _with(record: Record, scores: Mapping[str, Any], measures: Sequence[Measure]) -> Record:
    """The record with further scores, and with what their measures say of how they are read."""
    legend = read_legend([record])
    read = {
        **legend.scores,
        **{measure.id: measure.scores for measure in measures if measure.id in scores},
    }
    return replace(
        record, scores={**record.scores, **scores}, legend=replace(legend, scores=read).as_facts()
    )


def _lacks(record: Record, measure: Measure) -> bool:
    """Whether a measure can read the trace and the record has none of its numbers, or old ones."""
    if record.trace.get("kind") not in measure.kinds:
        return False
    known = record.scores.get(measure.id)
    version = known.get("version") if isinstance(known, Mapping) else None
    if known and version == measure.version:
        return bool(known.get("code") != code_of(measure.function).get("code"))
    return not isinstance(version, int) or version < measure.version


def _scores(
    folder: pathlib.Path, key: str, record: Record, measures: Sequence[Measure]
) -> tuple[dict[str, Any], list[LeftOut]]:
    try:
        trace = load_trace(folder, record)
    except (QuickstudyError, KeyError, TypeError, ValueError) as error:
        return {}, [
            LeftOut(key, "", str(error) if isinstance(error, QuickstudyError) else described(error))
        ]
    found: dict[str, Any] = {}
    faults = []
    now = {"scored": round(time.time(), 3)}
    for measure in measures:
        try:
            (entry,) = score_trace(trace, [measure], str(record.what.get("convention"))).values()
            if entry["values"]:  # a measure may have no number for a trace that it can read
                found[measure.id] = {**entry, **now}
        except Exception as error:  # a user's measure may do anything; the others go on
            faults.append(LeftOut(key, measure.id, described(error)))
    return found, faults


def check_scores(study: Study) -> None:
    """Raise UsageError for a score that the runs of some row will not have."""
    for row in (row for row in study.rows if row.learners):
        protocol = registries.protocol.get(
            protocol_of(registries.task.get(row.task.partition(":")[0]))
        )
        measures = [registries.measure.get(id) for id in (*protocol.measures, *study.measures)]
        for score in study.scores:
            if score != MAXIMUM_OF_MEAN and not any(measure.gives(score) for measure in measures):
                known = [
                    *(one.name for measure in measures for one in measure.scores),
                    MAXIMUM_OF_MEAN,
                ]
                raise UsageError(
                    f'{study.id}: {row.task} has no score "{score}"; {nearest(score, known)}'
                )
