"""Results of one learner as an `.eval_results` file, which a model on the Hugging Face Hub carries.

The form is described at https://huggingface.co/docs/hub/eval-results: a list of entries, each with
the benchmark's data set and task, and a value. A value is the mean of the headline over the runs.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from quickstudy import __version__
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.text import counted
from quickstudy.report.report_data import LEARNING, ReportData, Row, TaskTable

_DATA_SET = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


def eval_results(
    data: ReportData, learner: str, data_set: str, source: str = "", date: str = ""
) -> list[dict[str, Any]]:
    """The entries of one learner, a task each.

    Args:
        data: a report.
        learner: its name, as the report prints it.
        data_set: the benchmark on the Hub, OWNER/NAME.
        source: an address where the runs or the report can be had.
        date: of the results; default: today, in UTC.

    Raises UsageError for a learner without a result, and for a data set that cannot be one.

    """
    if not _DATA_SET.fullmatch(data_set):
        raise UsageError(f'a data set of the Hub is named OWNER/NAME, got "{data_set}"')
    names = {row.learner for table in data.tables for row in table.of_role(*LEARNING)}
    if learner not in names:
        raise UsageError(f'no runs of a learner "{learner}"; {nearest(learner, names)}')
    day = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    entries = [
        {
            "dataset": {"id": data_set, "task_id": task_id(table.task)},
            "value": value,
            "date": day,
            **({"source": {"url": source, "name": "quickstudy"}} if source else {}),
            "notes": notes,
        }
        for table in data.tables
        for value, notes in _results(table, learner)
    ]
    if not entries:
        raise UsageError(f"{learner} has no finished run with a score")
    return entries


def task_id(task: str) -> str:
    """The id of a task in a benchmark's `eval.yaml`.

    >>> task_id("language/qa:verbs=1")
    'language-qa-verbs-1'
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", task).strip("-")


def _results(table: TaskTable, learner: str) -> Iterator[tuple[float, str]]:
    """The value of a learner on a task, and how it came about."""
    row = table.row(learner, *LEARNING)
    found = row.scores.get(table.headline or "") if row else None
    if row is None or found is None:
        return
    score = table.judged
    value, interval = found.shown(score)
    ends = f", 95 % interval [{interval.low:.4g}, {interval.high:.4g}]" if interval else ""
    unit = f" ({score.unit})" if score.unit else ""
    yield (
        value,
        f"{score.title}{unit}, {score.shown} of {counted(len(row.finished), 'seed')}{ends};"
        f" {_rules(table)}convention {table.convention}; quickstudy {__version__}{_failed(row)}",
    )


def _rules(table: TaskTable) -> str:
    """The best control, needed to judge a number."""
    control = table.middle(row) if (row := table.end("control")) else None
    return f"best control {table.best_control} {control:.4g}; " if control is not None else ""


def _failed(row: Row) -> str:
    return f"; {counted(len(row.unfinished), 'run')} without result" if row.unfinished else ""


def as_yaml(entries: list[dict[str, Any]]) -> str:
    """The entries as YAML. Texts are quoted as in JSON, which YAML reads."""
    return "".join("\n".join(_lines(one)) + "\n" for one in entries)


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    start = "- "
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield f"{start}{name}:"
            yield from (f"    {part}: {json.dumps(own)}" for part, own in value.items())
        else:
            yield f"{start}{name}: {json.dumps(value)}"
        start = "  "
