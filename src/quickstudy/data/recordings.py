"""States that were recorded of a device or in another simulator, and what may be wrong with them."""

from __future__ import annotations

import pathlib

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.data.tables import read_table


def read_states(path: str | pathlib.Path) -> NDArray[np.float64]:
    """(row, state): the numbers of a CSV, NPY or Parquet file. Raises UsageError as `read_table` does."""
    return _columns(path) if pathlib.Path(path).suffix.lower() == ".parquet" else read_table(path)


def _columns(path: str | pathlib.Path) -> NDArray[np.float64]:
    """Of a Parquet file, by DuckDB."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingExtra("duckdb", "report") from None
    if not pathlib.Path(path).is_file():
        raise UsageError(f"no file {path}")
    try:
        columns = duckdb.read_parquet(str(path)).fetchnumpy()
        table = np.column_stack(
            [np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan) for column in columns.values()]
        )
    except (duckdb.Error, ValueError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {str(error).partition(chr(10))[0][:200]}") from None
    strange = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(strange):
        raise UsageError(f"{path}, row {strange[0] + 1}: every number must be finite")
    return table
