"""Parquet files made from the journals, and SQL over them. Derived: they can be deleted at any time.

`sealed/runs.parquet` has a row per run, `scores.parquet` one per score, `curves.parquet` one per point of a learning
curve. `sealed.json` says from which journals they were made; they are made again when those have changed.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from quickstudy.base.canonical import canonical
from quickstudy.base.errors import MissingExtra, QuickstudyError, UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.record import OK, Record
from quickstudy.runs.folder import RUNS, SEALED, write_aside
from quickstudy.runs.reader import read_results
from quickstudy.runs.traces import load_trace

CURVE = "learning-curve"
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


def seal(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """Make the Parquet files, whatever is there. Gives their paths."""
    folder = pathlib.Path(folder)
    duckdb = _duckdb()
    state = _state(folder)
    records = read_results(folder, expected=True).records
    rows: dict[str, Callable[[], Iterable[Mapping[str, Any]]]] = {
        "runs": lambda: (_run(key, record) for key, record in records.items()),
        "scores": lambda: (row for key, record in records.items() for row in _scores(key, record)),
        "curves": lambda: (row for key, record in records.items() for row in _curve(folder, key, record)),
    }
    paths = []
    with tempfile.TemporaryDirectory(prefix="quickstudy-") as aside, duckdb.connect() as connection:
        for name, columns in _TABLES.items():
            lines, parquet = pathlib.Path(aside, f"{name}.jsonl"), pathlib.Path(aside, f"{name}.parquet")
            with open(lines, "w", encoding="ascii") as file:
                file.writelines(canonical(row) + "\n" for row in rows[name]())
            source = f"read_json({_pattern(lines)}, format='newline_delimited', columns={_columns(columns)})"
            chosen = _SELECT.get(name, "*")
            connection.execute(f"COPY (SELECT {chosen} FROM {source}) TO {_quoted(str(parquet))} (FORMAT parquet)")
            target, content = folder / SEALED / f"{name}.parquet", parquet.read_bytes()
            write_aside(target, str(os.getpid()), lambda file, content=content: file.write(content))  # type: ignore[misc]
            paths.append(target)
    made = json.dumps(state).encode()
    write_aside(folder / SEALED / "sealed.json", str(os.getpid()), lambda file: file.write(made))
    return paths


def query(folder: str | pathlib.Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Answer SQL over the views `runs`, `scores` and `curves` (the latter two with their run's columns): columns, rows.

    Seals first if that was not done or the journals have changed. Raises UsageError for SQL that cannot be answered.
    """
    folder = pathlib.Path(folder)
    duckdb = _duckdb()
    if not _is_sealed(folder):
        seal(folder)
    with duckdb.connect() as connection:
        for name in _TABLES:
            source = f"read_parquet({_pattern(folder / SEALED / f'{name}.parquet')})"
            joined = f"{_RUN_OF_A_ROW} FROM {source} AS row JOIN runs AS run USING (key)"
            connection.execute(f"CREATE VIEW {name} AS {f'SELECT * FROM {source}' if name == 'runs' else joined}")
        try:
            answer = connection.execute(sql)
            return [column[0] for column in answer.description or []], answer.fetchall()
        except duckdb.Error as error:
            raise UsageError(f"the query cannot be answered: {str(error).strip().partition(chr(10))[0]}") from error


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
        made_from = json.loads((folder / SEALED / "sealed.json").read_text())
    except (OSError, ValueError):
        return False
    return made_from == _state(folder) and all((folder / SEALED / f"{name}.parquet").is_file() for name in _TABLES)


def _columns(columns: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in columns.items()) + "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(path: pathlib.Path) -> str:
    """A path for DuckDB's readers, which take it for a pattern: every special letter stands for itself."""
    return _quoted("".join(f"[{letter}]" if letter in "[*?" else letter for letter in str(path)))
