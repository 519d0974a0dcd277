"""The end of the HTML report: how to read the numbers, and the whole record of what was run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

from quickstudy.base.canonical import plain
from quickstudy.base.measure import Score
from quickstudy.report.html_table import Head, cell, table
from quickstudy.report.markup import escape, tag
from quickstudy.report.model import MeasureNote, Place, ReportData, TaskTable
from quickstudy.report.numbers import seconds, written
from quickstudy.report.statistics import CLOSEST, FEWEST

_KEY_LETTERS = 12

_TERMS = (
    (
        "Interval",
        "The numbers in brackets are a 95 % interval of the mean over runs: Student's t, longer on the side to which "
        "the runs are skewed, and cut at the ends of the score's range. One run has no interval, and medians are shown "
        f"without; that of two or three is wide. Fewer than {FEWEST} runs, or pairs of runs, give no verdict. "
        "Where orders of magnitude count, the mean is the geometric one, and ×÷ stands before the factor from it to "
        "either end.",
    ),
    (
        "Scaled",
        "(headline − best control) ÷ (oracle − best control): 0 is the best rule that never learns, 1 the best that "
        "can be done. The headline is the first score of a table; the best control has the best mean. Not defined "
        f"without a control or an oracle, or where the two are closer than {CLOSEST}. Runs of the same seed are "
        "compared with one another.",
    ),
    ("Control", "A rule that never learns, run under the same protocol on the same data."),
    (
        "Above the best control",
        "Above: the interval of the difference from every control lies above 0. Below: that from some control lies "
        "below 0 at a level corrected for their number, since the one that looks best was chosen in the same runs. "
        "Nothing is corrected for the number of learners and tasks.",
    ),
    ("Oracle", "The best that can be done with what a learner is shown, run the same way."),
    (
        "Bold",
        "The best learner is bold only where the interval of its difference from the next one leaves 0 out, and both "
        f"have {FEWEST} runs or more.",
    ),
    (
        "Curves",
        "Each run is read as a step function, on the steps of all runs together. Line and shading are the mean and "
        "its 95 % interval, at every step by itself.",
    ),
    (
        "Convention",
        "corrected does it right; written follows the paper's text; published repeats what produced the published "
        "numbers. Two conventions never share a table.",
    ),
)


def how_to_read(data: ReportData, picture: str) -> str:
    """Definitions: the words of the report, then every measure with unit, direction, range, chance and equation."""
    terms = "".join(tag("dt", term) + tag("dd", escape(meaning)) for term, meaning in _TERMS)
    measures = [_measure(note) for note in data.measures]
    parts = [tag("dl", terms, class_="terms"), picture]
    if measures:
        parts += [tag("h3", "Measures"), tag("div", *measures, class_="measures")]
    return "".join(parts)


def run_record(data: ReportData) -> str:
    """Where, with what and how everything was run; every setting whole; every run."""
    parts = []
    if data.command:
        parts += [
            tag(
                "p",
                "The last command that wrote this report; given again, it runs nothing twice. Runs of earlier commands "
                "in the same folder are in the report too: their settings are below.",
            ),
            tag("pre", escape(data.command)),
        ]
    parts += [tag("h3", "Where"), *(_place(number, place) for number, place in enumerate(data.places))]
    parts.append(tag("h3", "Every setting and every run"))
    for index, found in enumerate(data.tables):
        parts.append(tag("h4", escape(f"{found.task}, {found.convention}")))
        parts += _settings(found)
        runs = sum(len(row.runs) for row in found.rows)
        body = _runs(found, f"runs-{index}")
        parts.append(tag("details", tag("summary", f"All runs ({runs:,})"), body))
    return "".join(parts)


def _measure(note: MeasureNote) -> str:
    facts = [
        ("equation", note.equation),
        ("unit", _each(note, lambda score: score.unit)),
        ("better", _each(note, lambda score: score.better)),
        ("range", _each(note, lambda score: " to ".join(map(_bound, score.range))) if note.known else ""),
        ("chance", note.chance),
    ]
    rows = "".join(tag("dt", name) + tag("dd", escape(value)) for name, value in facts if value)
    names = ", ".join(score.name for score in note.scores)
    title = escape(note.id) + tag(
        "small", escape(f" version {note.version}" + (f": {names}" if names != note.id else ""))
    )
    summary = note.summary if note.known else "This measure is not installed here: all that is known is in the records."
    return tag("section", tag("h4", title), tag("p", escape(summary)), tag("dl", rows, class_="facts") if rows else "")


def _each(note: MeasureNote, say: Callable[[Score], str]) -> str:
    """What is said of the scores of a measure: once where it is the same of all."""
    said = {score.name: say(score) for score in note.scores}
    return next(iter(said.values()), "") if len(set(said.values())) < 2 else "; ".join(map(": ".join, said.items()))


def _bound(value: float) -> str:
    return "∞" if math.isinf(value) and value > 0 else "−∞" if math.isinf(value) else f"{value:g}"


def _place(number: int, place: Place) -> str:
    facts = [
        ("runs", f"{place.runs:,}"),
        ("device", place.device),
        ("lanes", str(place.lanes)),
        ("machine", ", ".join(f"{name} {value}" for name, value in place.machine.items())),
        ("versions", ", ".join(f"{name} {value}" for name, value in place.versions.items())),
    ]
    rows = "".join(tag("dt", name) + tag("dd", escape(value)) for name, value in facts if value)
    return tag("section", tag("h4", f"Place {number}"), tag("dl", rows, class_="facts"))


def _settings(found: TaskTable) -> Iterator[str]:
    for row in found.rows:
        text = json.dumps(plain(row.setting), indent=2, sort_keys=True, ensure_ascii=False)
        summary = tag("summary", escape(row.learner), tag("small", f" {row.role}"))
        yield tag("details", summary, tag("pre", escape(text)))


def _runs(found: TaskTable, id: str) -> str:
    names = found.scores
    read = {name: found.legend.score(name) for name in names}
    heads = [Head("run", False), Head("learner", False), Head("root"), Head("repetition"), Head("status", False)]
    heads += [*(Head(escape(name)) for name in names), Head("learn s"), Head("place")]
    watched = any(run.look_ahead for row in found.rows for run in row.runs)
    heads += [Head("looks ahead", False)] if watched else []
    rows = []
    for row in found.rows:
        for run in row.runs:
            key = tag("code", run.key[:_KEY_LETTERS])
            first = [tag("th", key, scope="row", class_="name"), tag("td", escape(row.learner))]
            seed = [cell(str(run.root), run.root), cell(str(run.repetition), run.repetition)]
            values = {name: run.scores.get(name) for name in names}
            scores = [cell(escape(written(read[name], value)), value) for name, value in values.items()]
            time = run.cost.get("learn_seconds")
            last = [cell(seconds(time), time), cell(str(run.place), run.place)]
            last += [tag("td", escape(run.look_ahead))] if watched else []
            rows.append(tag("tr", *first, *seed, tag("td", escape(run.status)), *scores, *last, class_=row.role))
    return table(id, f"All runs on {found.task}, convention {found.convention}", heads, [("", rows)])
