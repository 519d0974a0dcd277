"""Parquet files made from the journals, and SQL over them. Derived: they can be deleted at any time.

`sealed/runs.parquet` has a row per run, `scores.parquet` one per score, `curves.parquet` one per point of a learning
curve. `sealed.json` says from which journals they were made, and how many damaged lines were left out; they are made
again when the journals have changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from quickstudy.base.canonical import canonical
from quickstudy.base.errors import MissingExtra, QuickstudyError, UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.record import OK, Record
from quickstudy.runs.folder import RUNS, SEALED, write_aside
from quickstudy.runs.reader import read_results
from quickstudy.runs.traces import load_trace

CURVE = "learning-curve"
_SEAL = "sealed.json"
_COUNTS = {"examples", "updates", "trained_parameters", "fixed_parameters"}
_COSTS = {field.name: "BIGINT" if field.name in _COUNTS else "DOUBLE" for field in fields(Cost)}
_LABELS = {"task": "VARCHAR", "family": "VARCHAR", "learner": "VARCHAR", "role": "VARCHAR"}
_RUN = {"convention": "VARCHAR", "root": "BIGINT", "repetition": "BIGINT"}
_OUTCOME = {"status": "VARCHAR", "reason": "VARCHAR"}
_WHERE = {"device": "VARCHAR", "lanes": "BIGINT", "started": "DOUBLE", "seconds": "DOUBLE"}
_TABLES: dict[str, dict[str, str]] = {
    "runs": {"key": "VARCHAR", **_LABELS, **_RUN, **_OUTCOME, **_COSTS, **_WHERE},
    "scores": {"key": "VARCHAR", "measure": "VARCHAR", "version": "VARCHAR", "name": "VARCHAR", "value": "DOUBLE"},
    "curves": {"key": "VARCHAR", "step": "DOUBLE[]", "accuracy": "DOUBLE[]"},
}
_SELECT = {"curves": "key, unnest(step) AS step, unnest(accuracy) AS accuracy"}
_RUN_OF_A_ROW = "SELECT row.*, run.task, run.family, run.learner, run.role, run.convention, run.root, run.repetition"


class Answer(NamedTuple):
    """What a query gives. left_out: damaged lines of the journals, which no table has."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    left_out: int


def seal(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """Make the Parquet files, whatever is there. Gives their paths."""
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory(prefix="quickstudy-") as aside:
        _make(folder, pathlib.Path(aside))
        return _keep(folder, pathlib.Path(aside))


def query(folder: str | pathlib.Path, sql: str) -> Answer:
    """Answer SQL over the views `runs`, `scores` and `curves` (the latter two with their run's columns).

    Seals first if that was not done or the journals have changed; in a folder that cannot be written, the tables are
    made elsewhere and thrown away. Raises UsageError for SQL that cannot be answered.
    """
    folder = pathlib.Path(folder)
    duckdb = _duckdb()
    with _tables(folder) as place, duckdb.connect() as connection:
        for name in _TABLES:
            source = f"read_parquet({_pattern(place / f'{name}.parquet')})"
            joined = f"{_RUN_OF_A_ROW} FROM {source} AS row JOIN runs AS run USING (key)"
            connection.execute(f"CREATE VIEW {name} AS {f'SELECT * FROM {source}' if name == 'runs' else joined}")
        try:
            answer = connection.execute(sql)
            if answer is None or not answer.description:
                raise UsageError(f'the query asks nothing, got "{sql}"; try: SELECT * FROM runs')
            columns, rows = [column[0] for column in answer.description], answer.fetchall()
        except duckdb.Error as error:
            raise UsageError(f"the query cannot be answered: {str(error).strip().partition(chr(10))[0]}") from error
        return Answer(columns, rows, json.loads((place / _SEAL).read_text())["left_out"])


@contextlib.contextmanager
def _tables(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Where the tables of a folder are, made now if need be."""
    if _is_sealed(folder):
        yield folder / SEALED
        return
    with tempfile.TemporaryDirectory(prefix="quickstudy-") as aside:
        _make(folder, pathlib.Path(aside))
        with contextlib.suppress(QuickstudyError):  # a folder that cannot be written can still be asked
            _keep(folder, pathlib.Path(aside))
        yield pathlib.Path(aside)


def _make(folder: pathlib.Path, aside: pathlib.Path) -> None:
    """Write the tables, and from what they were made, into another folder."""
    duckdb = _duckdb()
    state = _state(folder)
    reading = read_results(folder, expected=True)
    records = reading.records
    rows: dict[str, Callable[[], Iterable[Mapping[str, Any]]]] = {
        "runs": lambda: (_run(key, record) for key, record in records.items()),
        "scores": lambda: (row for key, record in records.items() for row in _scores(key, record)),
        "curves": lambda: (row for key, record in records.items() for row in _curve(folder, key, record)),
    }
    with duckdb.connect() as connection:
        for name, columns in _TABLES.items():
            lines, parquet = aside / f"{name}.jsonl", aside / f"{name}.parquet"
            with open(lines, "w", encoding="ascii") as file:
                file.writelines(canonical(row) + "\n" for row in rows[name]())
            source = f"read_json({_pattern(lines)}, format='newline_delimited', columns={_columns(columns)})"
            chosen = _SELECT.get(name, "*")
            connection.execute(f"COPY (SELECT {chosen} FROM {source}) TO {_quoted(str(parquet))} (FORMAT parquet)")
    (aside / _SEAL).write_text(json.dumps({"journals": state, "left_out": len(reading.damage)}))


def _keep(folder: pathlib.Path, aside: pathlib.Path) -> list[pathlib.Path]:
    """Copy the tables into the folder, the seal last. Gives the paths of the tables."""
    names = [*(f"{name}.parquet" for name in _TABLES), _SEAL]
    for name in names:
        content = (aside / name).read_bytes()
        write_aside(folder / SEALED / name, str(os.getpid()), lambda file, content=content: file.write(content))  # type: ignore[misc]
    return [folder / SEALED / name for name in names[:-1]]


def _duckdb() -> Any:
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise MissingExtra("duckdb", "report") from error
    return duckdb


def _run(key: str, record: Record) -> dict[str, Any]:
    known = {name: record.labels.get(name) for name in _LABELS}
    known |= {name: record.what.get(name) for name in _RUN}
    known |= {name: record.cost.get(name) for name in _COSTS}
    known |= {name: record.where.get(name) for name in _WHERE}
    return {"key": key, **known, "status": record.status, "reason": record.reason}


def _scores(key: str, record: Record) -> Iterator[dict[str, Any]]:
    for measure, score in record.scores.items():
        for name, value in score["values"].items():
            yield {"key": key, "measure": measure, "version": str(score["version"]), "name": name, "value": value}


def _curve(folder: pathlib.Path, key: str, record: Record) -> Iterator[dict[str, Any]]:
    if record.status != OK or record.trace.get("kind") != CURVE:
        return
    try:
        arrays = load_trace(folder, record).arrays
    except QuickstudyError:  # a damaged file is the doctor's business; the other runs can still be asked about
        return
    if "step" in arrays and "accuracy" in arrays:
        yield {"key": key, "step": arrays["step"], "accuracy": arrays["accuracy"]}


def _state(folder: pathlib.Path) -> dict[str, list[int]]:
    """Name, size and time of every journal, which says whether anything has changed."""
    found = {path.name: path.stat() for path in sorted((folder / RUNS).glob("*.jsonl"))}
    return {name: [facts.st_size, facts.st_mtime_ns] for name, facts in found.items()}


def _is_sealed(folder: pathlib.Path) -> bool:
    try:
        made_from = json.loads((folder / SEALED / _SEAL).read_text())["journals"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return made_from == _state(folder) and all((folder / SEALED / f"{name}.parquet").is_file() for name in _TABLES)


def _columns(columns: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in columns.items()) + "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(path: pathlib.Path) -> str:
    """A path for DuckDB's readers, which take it for a pattern: every special letter stands for itself."""
    return _quoted("".join(f"[{letter}]" if letter in "[*?" else letter for letter in str(path)))
