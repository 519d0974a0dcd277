"""Parquet files made from the journals, and SQL over them. Derived: they can be deleted at any
time.

`sealed/runs.parquet` has a row per run, `scores.parquet` one per score, `traces.parquet` one per
number of a trace, of any kind. `sealed.json` lists the journals they were made from, the number of
damaged lines left out, whether the traces are included (they are large, and empty until a query
first asks for them), and the checksum of every table. All are made again when the journals have
changed, or what is sealed. A value that its column cannot hold is NULL.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.canonical import CHECK, canonical, guarded, intact, plain, spoken
from quickstudy.base.errors import MissingExtra, QuickstudyError, UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.record import Record
from quickstudy.base.score_metadata import read_legend
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.folder import (
    RUNS,
    SEALED,
    check_format,
    open_ordinary,
    refuse_links,
    write_aside,
)
from quickstudy.runs.grouping import task_groups
from quickstudy.runs.journal import checksum_of
from quickstudy.runs.merge import read_results

CHUNK = 50_000
"""Numbers of a trace that are written at once: a large one goes through in pieces."""

_SEAL = "sealed.json"
_SEAL_BYTES = 1 << 26
_COUNTS = {"examples", "updates", "trained_parameters", "fixed_parameters"}
_COSTS = {field.name: "BIGINT" if field.name in _COUNTS else "DOUBLE" for field in fields(Cost)}
_LABELS = dict.fromkeys(("task", "family", "learner", "role"), "VARCHAR")
_RUN = {"convention": "VARCHAR", "root": "BIGINT", "repetition": "BIGINT"}
_OUTCOME = dict.fromkeys(("status", "reason", "traceback"), "VARCHAR")
_WHERE = {
    "device": "VARCHAR",
    "lanes": "BIGINT",
    "started": "DOUBLE",
    "seconds": "DOUBLE",
    "look_ahead": "VARCHAR",
}
_IDENTITY = {
    **dict.fromkeys(
        ("task_version", "learner_version", "protocol", "headline", "task_code", "learner_code"),
        "VARCHAR",
    ),
    **dict.fromkeys(
        ("task_parameters", "learner_parameters", "report_task", "report_learner"), "VARCHAR"
    ),
}
_WHOLE = dict.fromkeys(("what", "kind", "facts"), "VARCHAR")
_SCORE = {**dict.fromkeys(("key", "measure", "version", "name"), "VARCHAR"), "value": "DOUBLE"}
_PIECE = {
    "start": "BIGINT",
    "count": "BIGINT",
    "width": "BIGINT",
    "value": "DOUBLE[]",
    "text": "VARCHAR[]",
}
_TABLES: dict[str, dict[str, str]] = {
    "runs": {
        "key": "VARCHAR",
        **_LABELS,
        **_RUN,
        **_OUTCOME,
        **_COSTS,
        **_WHERE,
        **_IDENTITY,
        **_WHOLE,
    },
    "scores": {**_SCORE, **dict.fromkeys(("title", "unit", "better"), "VARCHAR")},
    "traces": {**dict.fromkeys(("key", "kind", "name"), "VARCHAR"), **_PIECE},
}
_LONG = """(SELECT key, kind, name, flat // width AS place, flat % width AS part, value, text FROM (
    SELECT key, kind, name, width, start + unnest(range("count")) AS flat,
        unnest(value) AS value, unnest(text) AS text
    FROM {source}))"""
_CURVES = """(SELECT key, step.value AS step, accuracy.value AS accuracy
    FROM traces AS step JOIN traces AS accuracy USING (key, place)
    WHERE step.kind = 'learning-curve' AND step.name = 'step' AND accuracy.name = 'accuracy')"""
_NOTHING = """(SELECT NULL::VARCHAR AS key, NULL::VARCHAR AS kind, NULL::VARCHAR AS name,
    NULL::BIGINT AS place, NULL::BIGINT AS part, NULL::DOUBLE AS value, NULL::VARCHAR AS text
    WHERE false)"""
_NAMES = {name: list(columns) for name, columns in _TABLES.items()}
"""Tables made by an earlier version, with other columns, are made again."""

_OF_A_RUN = ", ".join(f"run.{name}" for name in (*_LABELS, *_RUN, *_IDENTITY))


class QueryResult(NamedTuple):
    """What a query gives. left_out: damaged lines of the journals, which no table has; and damaged
    traces, if the query asks for traces.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]]
    left_out: int


def seal(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """Make the Parquet files, even if they exist. Gives their paths."""
    folder = pathlib.Path(folder)
    refuse_links(folder)
    with tempfile.TemporaryDirectory(prefix="quickstudy-") as aside:
        _make(folder, pathlib.Path(aside), traces=True)
        return _keep(folder, pathlib.Path(aside))


def query(folder: str | pathlib.Path, sql: str) -> QueryResult:
    """Answer SQL over the views `runs`, `scores`, `traces` and `curves` (all but the first with
    their run's columns).

    Seals first if that was not done or the journals have changed; in a folder that cannot be
    written, the tables are made elsewhere and thrown away. Raises UsageError for SQL that cannot be
    answered.
    """
    folder = pathlib.Path(folder)
    check_format(folder)
    refuse_links(folder)
    duckdb = _duckdb()
    asked_for_traces = asks_for_traces(sql)
    with _tables(folder, asked_for_traces) as (place, left_out), duckdb.connect() as connection:
        try:
            for name in (*_TABLES, "curves"):
                source = (
                    _CURVES
                    if name == "curves"
                    else f"read_parquet({_pattern(place / f'{name}.parquet')})"
                )
                if (
                    name == "traces" and not asked_for_traces
                ):  # their checksums have not been compared yet
                    source = _NOTHING
                joined = (
                    f"SELECT own.*, {_OF_A_RUN} FROM {source} AS own JOIN runs AS run USING (key)"
                )
                connection.execute(
                    f"CREATE VIEW {name} AS"
                    f" {f'SELECT * FROM {source}' if name == 'runs' else joined}"
                )
            answer = connection.execute(sql)
            if answer is None or not answer.description:
                raise UsageError(f'the query asks nothing, got "{sql}"; try: SELECT * FROM runs')
            columns, rows = (
                [column[0] for column in answer.description],
                _rows(answer, connection, sql),
            )
        except RuntimeError as error:  # what DuckDB makes of Ctrl-C
            raise (KeyboardInterrupt if "interrupted" in str(error) else error) from None
        except duckdb.Error as error:
            raise UsageError(f"the query cannot be answered: {_first_line(error)}") from error
        return QueryResult(columns, rows, left_out)


def asks_for_traces(sql: str) -> bool:
    """Whether a query names a view that is made of traces."""
    return bool(re.search(r"\b(traces|curves)\b", sql, re.IGNORECASE))


def _rows(answer: Any, connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows. Times with a zone, which DuckDB gives to Python only through a further library, are
    given as text.
    """
    if not any("TIME ZONE" in str(column[1]) for column in answer.description):
        return list(answer.fetchall())
    found = connection.cursor().sql(sql)  # the previous answer is still open
    kinds = zip(found.columns, map(str, found.types), strict=True)
    texts = (
        f'CAST("{name}" AS VARCHAR)' if "TIME ZONE" in kind else f'"{name}"' for name, kind in kinds
    )
    return list(found.project(", ".join(texts)).fetchall())


@contextlib.contextmanager
def _tables(folder: pathlib.Path, traces: bool) -> Iterator[tuple[pathlib.Path, int]]:
    """Where the tables of a folder are, made now if need be, and how many damaged lines and traces
    they lack.
    """
    if (left_out := _sealed(folder, traces)) is not None:
        yield folder / SEALED, left_out
        return
    with tempfile.TemporaryDirectory(prefix="quickstudy-") as aside:
        left_out = _make(folder, pathlib.Path(aside), traces)
        with contextlib.suppress(
            QuickstudyError
        ):  # a folder that cannot be written can still be asked
            _keep(folder, pathlib.Path(aside))
        yield pathlib.Path(aside), left_out


def _make(folder: pathlib.Path, aside: pathlib.Path, traces: bool) -> int:
    """Write the tables, that of the traces empty if they are not asked for, and from what they were
    made. Gives how many damaged lines and traces were left out.
    """
    duckdb = _duckdb()
    state = _state(folder)
    reading = read_results(folder, expected=True)
    records, titles = reading.records, _titles(reading.records)
    damaged: list[str] = []
    rows: dict[str, Callable[[], Iterable[str]]] = {
        "runs": lambda: (
            canonical({**_run(key, record), **titles[key]}) for key, record in records.items()
        ),
        "scores": lambda: (
            canonical(row) for key, record in records.items() for row in _scores(key, record)
        ),
        "traces": lambda: (
            row
            for key, one in records.items()
            if traces
            for row in _trace(folder, key, one, damaged)
        ),
    }
    with duckdb.connect() as connection:
        for name, columns in _TABLES.items():
            lines, parquet = aside / f"{name}.jsonl", aside / f"{name}.parquet"
            with open(lines, "w", encoding="ascii") as file:
                file.writelines(row + "\n" for row in rows[name]())
            options = f"format='newline_delimited', columns={_columns(columns)}, ignore_errors=true"
            source = f"read_json({_pattern(lines)}, {options})"
            chosen = _LONG.format(source=source) if name == "traces" else source
            try:
                connection.execute(
                    f"COPY (SELECT * FROM {chosen}) TO {_quoted(str(parquet))} (FORMAT parquet)"
                )
            except duckdb.Error as error:
                raise QuickstudyError(
                    f"the table {name} of {folder} cannot be made: {_first_line(error)}"
                ) from error
            lines.unlink()
    sums = {name: checksum_of(aside / f"{name}.parquet") for name in _TABLES}
    left_out = {"left_out": len(reading.damage), "left_out_traces": len(damaged)}
    facts = {"tables": _NAMES, "traces": traces, "journals": state, **left_out, "checksums": sums}
    (aside / _SEAL).write_text(guarded(facts))
    return sum(left_out.values())


def _keep(folder: pathlib.Path, aside: pathlib.Path) -> list[pathlib.Path]:
    """Copy the tables into the folder, the seal last. Gives the paths of the tables."""
    names = [*(f"{name}.parquet" for name in _TABLES), _SEAL]
    for stale in set((folder / SEALED).glob("*.parquet")) - {
        folder / SEALED / name for name in names
    }:
        stale.unlink(missing_ok=True)
    for name in names:
        with open(aside / name, "rb") as made:
            write_aside(
                folder / SEALED / name,
                str(os.getpid()),
                functools.partial(shutil.copyfileobj, made),
            )
    return [folder / SEALED / name for name in names[:-1]]


def _duckdb() -> Any:
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise MissingExtra("duckdb", "report") from error
    return duckdb


def _run(key: str, record: Record) -> dict[str, Any]:
    known = {name: record.labels.get(name) for name in _LABELS}
    for part, names in (
        (record.what, _RUN),
        (record.cost, _COSTS),
        (record.where, _WHERE),
        (vars(record), _OUTCOME),
    ):
        known |= {name: part.get(name) for name in names}
    for name in ("task", "learner"):
        if component := record.part(name):
            known |= {
                f"{name}_version": str(component.get("version")),
                f"{name}_code": component.get("code"),
            }
            known[f"{name}_parameters"] = canonical(component.get("parameters"))
    known |= {"protocol": canonical(record.what.get("protocol")), "what": canonical(record.what)}
    known |= {"kind": record.trace.get("kind"), "facts": canonical(record.trace.get("facts", {}))}
    known["headline"] = read_legend([record]).headline or None
    return dict(spoken({"key": key, **known}))


def _titles(records: Mapping[str, Record]) -> dict[str, dict[str, str]]:
    """What the report calls task and learner of every run, by key."""
    keys = {id(record): key for key, record in records.items()}
    return {
        keys[id(record)]: {"report_task": task.title, "report_learner": learner.title}
        for task in task_groups(records.values())
        for learner in task.learners
        for record in learner.records
    }


def _scores(key: str, record: Record) -> Iterator[dict[str, Any]]:
    legend = read_legend([record])
    for measure, score in record.scores.items():
        for name, value in score["values"].items():
            read = {
                entry: getattr(legend.score(name), entry) for entry in ("title", "unit", "better")
            }
            version = str(score["version"])
            yield {
                "key": key,
                "measure": measure,
                "version": version,
                "name": name,
                "value": value,
                **read,
            }


def _trace(folder: pathlib.Path, key: str, record: Record, damaged: list[str]) -> Iterator[str]:
    """The arrays of a trace, each laid out flat, in pieces: where a piece starts, and how many
    numbers make a step.

    damaged: takes up the key of a run whose trace cannot be read.
    """
    if not record.trace:
        return
    try:
        trace = load_trace(folder, record)
    except (QuickstudyError, KeyError, TypeError, ValueError):
        damaged.append(key)  # the doctor's business; the other runs can still be asked about
        return
    for name, array in trace.arrays.items():
        column = (
            "text" if array.dtype.kind in "US" else "value" if array.dtype.kind in "biuf" else ""
        )
        flat, width = array.reshape(-1), int(np.prod(array.shape[1:]))
        for start in range(0, len(flat) if column else 0, CHUNK):
            piece = flat[start : start + CHUNK]
            place = {"start": start, "count": len(piece), "width": width}
            # Spelled number by number, as all else is, 2.3 million take 15 s instead of 7.
            finite = column == "value" and bool(np.isfinite(piece).all())
            values = (
                piece.tolist()
                if finite
                else plain(piece.astype(str) if column == "text" else piece)
            )
            yield json.dumps(
                {"key": key, "kind": trace.kind, "name": name, **place, column: values}
            )


def _state(folder: pathlib.Path) -> dict[str, list[int]]:
    """Name, size and time of every journal, to detect changes."""
    found = {path.name: path.stat() for path in sorted((folder / RUNS).glob("*.jsonl"))}
    return {name: [facts.st_size, facts.st_mtime_ns] for name, facts in found.items()}


def _sealed(folder: pathlib.Path, traces: bool) -> int | None:
    """How many damaged lines and traces the sealed tables lack; None where they are not those of
    the journals, or not whole.
    """
    try:
        with open_ordinary(folder / SEALED / _SEAL) as file:
            content = file.read(_SEAL_BYTES)
        seal = json.loads(content)
        known = (
            seal["tables"] == _NAMES
            and seal["journals"] == _state(folder)
            and (seal["traces"] or not traces)
        )
        if not known or CHECK not in seal or not intact(content, seal):
            return None
        # The traces are large: they are looked at when they are asked for.
        asked = [name for name in _TABLES if traces or name != "traces"]
        whole = all(
            checksum_of(folder / SEALED / f"{name}.parquet") == seal["checksums"][name]
            for name in asked
        )
        left_out = int(seal["left_out"]) + traces * int(seal["left_out_traces"])
        return left_out if whole and (folder / SEALED / "traces.parquet").is_file() else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _columns(columns: Mapping[str, str]) -> str:
    return (
        "{" + ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in columns.items()) + "}"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(path: pathlib.Path) -> str:
    """A path for DuckDB's readers, which expect a pattern: special characters are escaped."""
    return _quoted("".join(f"[{letter}]" if letter in "[*?" else letter for letter in str(path)))
