"""Examples of a task as a data set for others: JSON lines, and their description in Croissant.

Croissant 1.1 (http://mlcommons.org/croissant/1.1) says in JSON-LD which files a data set has, with
their SHA-256, and which fields are in them, so that search engines find it and libraries load it.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy import __version__
from quickstudy.api.sample import sample
from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import recorded_id
from quickstudy.data.locate import DataSet, find
from quickstudy.data.measured import rows_of
from quickstudy.runs.folder import make_folder, write_aside

DATA, METADATA = "data.jsonl", "croissant.json"
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The names of the vocabulary, as its specification recommends them."""
_TYPES = ((bool, "sc:Boolean"), (int, "sc:Integer"), (int | float, "sc:Float"), (str, "sc:Text"))
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True)
class Publication:
    """What a description needs and only its publisher knows.

    Args:
        creator: who publishes it.
        license: the address of its licence, as https://spdx.org/licenses/CC0-1.0.html.
        url: the address of its page.
        date: of publication; default: today, in UTC.

    """

    creator: str
    license: str
    url: str
    date: str = ""

    def __post_init__(self) -> None:
        if not self.creator.strip():
            raise UsageError("--creator must name who publishes the data set")
        for name in ("license", "url"):
            if not _ADDRESS.fullmatch(getattr(self, name)):
                raise UsageError(f'--{name} must be an address, got "{getattr(self, name)}"')


def write_croissant(
    task: str,
    folder: str | pathlib.Path,
    publication: Publication,
    *,
    count: int = 1000,
    seed: int = 0,
    convention: str = "corrected",
) -> pathlib.Path:
    """Write examples of a task and their description; gives the path of the description. Of a task
    on a measured CSV file, the file is described where it is, and not copied.

    Args:
        task: a task, with parameters after a colon if need be.
        folder: a folder to make, or an empty one.
        publication: what only the publisher knows.
        count: how many examples.
        seed: the root seed.
        convention: corrected, published or written.

    Raises UsageError for a task on data that are not described, and a folder that is in use.

    """
    folder = pathlib.Path(folder)
    made = registries.typed_task(task, convention)
    licence = str(getattr(made, "taxonomy", {}).get("licence", "generated"))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty; name another folder")
    measured = getattr(made, "data", None)
    if isinstance(measured, DataSet) and measured.layouts[0].endswith(".csv"):
        return _write(folder, {METADATA: _as_text(_of_measured(measured, licence, publication))})
    if licence != "generated" or hasattr(made, "ready"):
        raise UsageError(
            f"{made.id} is on data of somebody else ({licence}), which are not copied, and their"
            " form has no description here; CSV files have one, and what a task generates"
        )
    rows = sample(task, count=count, seed=seed, convention=convention).as_json()
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    summary = registries.task.find(recorded_id(made)).summary
    described = (
        f"{summary} {len(rows)} examples of the task {task}, convention {convention}, sampled with"
        f" root seed {seed} by quickstudy {__version__}: quickstudy sample {task} --count"
        f" {count} --seed {seed} --convention {convention} --json"
    )
    file = _file(DATA, "application/jsonlines", text)
    facts = _metadata(_name(task), described, publication, file, _fields(DATA, rows))
    return _write(folder, {DATA: text, METADATA: _as_text(facts)})


def _write(folder: pathlib.Path, files: Mapping[str, bytes]) -> pathlib.Path:
    make_folder(folder)
    for name, content in files.items():
        write_aside(
            folder / name,
            str(os.getpid()),
            lambda file, content=content: file.write(content),  # type: ignore[misc]
        )
    return folder / METADATA


def _as_text(facts: Mapping[str, Any]) -> bytes:
    return (json.dumps(facts, indent=2) + "\n").encode()


def _of_measured(data: DataSet, licence: str, publication: Publication) -> dict[str, Any]:
    """The description of a measured data set that lies in the user's folder of data."""
    path = find(data)
    rows = [{name: _value(cell) for name, cell in row.items()} for row in rows_of(path)]
    described = (
        f"{data.title}: {len(rows)} rows, as quickstudy reads them from {path.name}. From"
        f" {data.home}; {licence}."
    )
    file = _file(path.name, "text/csv", path.read_bytes())
    return _metadata(data.id, described, publication, file, _fields(path.name, rows))


def _value(cell: Any) -> int | float | str:
    """A cell of a CSV file by what is written in it."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return str(cell)


def _file(name: str, kind: str, content: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": kind,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _fields(file: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any] | None]:
    """The description of every field by its name; None for one that has none."""
    return {name: _field(file, name, [row[name] for row in rows]) for name in rows[0]}


def _metadata(
    name: str,
    described: str,
    publication: Publication,
    file: Mapping[str, Any],
    fields: Mapping[str, dict[str, Any] | None],
) -> dict[str, Any]:
    left_out = [field for field, found in fields.items() if found is None]
    if left_out:
        described += f". Fields that are nested, and not described here: {', '.join(left_out)}"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": described,
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "license": publication.license,
        "url": publication.url,
        "creator": {"@type": "sc:Person", "name": publication.creator},
        "datePublished": publication.date or today,
        "version": "1.0.0",
        "isLiveDataset": False,
        "distribution": [file],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "examples",
                "name": "examples",
                "description": "An example a line.",
                "field": [found for found in fields.values() if found is not None],
            }
        ],
    }


def _field(file: str, name: str, values: Sequence[Any]) -> dict[str, Any] | None:
    """The description of one field; None for one that is neither a value nor a list of values."""
    depth = 0
    while values and all(isinstance(value, list) for value in values):
        values, depth = [part for value in values for part in value], depth + 1
    kind = next((word for type_, word in _TYPES if _all_are(values, type_)), None)
    if kind is None:
        return None
    shape = {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}
    return {
        "@type": "cr:Field",
        "@id": f"examples/{name}",
        "name": name,
        "dataType": kind,
        **shape,
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }


def _all_are(values: Iterable[Any], type_: Any) -> bool:
    """Whether all values are of a type; a truth value is not a number."""
    return all(
        isinstance(value, type_) and (type_ is bool or not isinstance(value, bool))
        for value in values
    )


def _name(task: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", task).strip("-")
