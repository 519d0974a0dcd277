"""A submission to a board: some runs of a results folder, with the SHA-256 of every file.

It is a results folder itself, which every verb reads, and it has one file more, `submission.json`.
The hash of a submission is that of its name and of the hashes of its files, so it changes with any
byte of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from quickstudy import __version__
from quickstudy.base.blocks import PERSON
from quickstudy.base.canonical import digest
from quickstudy.base.errors import UsageError
from quickstudy.base.record import Record
from quickstudy.runs.folder import (
    LEARNERS,
    MARKER,
    SOURCES,
    TRACES,
    make_folder,
    prepare_folder,
    write_aside,
)
from quickstudy.runs.journal_lines import read_lines, write_lines
from quickstudy.runs.merge import read_results

SUBMISSION, FORMAT = "submission.json", 1
ATTRIBUTES = ".gitattributes"
"""Keeps Git from changing the ends of lines, which would change every hash."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_FILE = re.compile(rf"(?:runs/[^/\\]+\.jsonl|(?:{TRACES}|{LEARNERS}|{SOURCES})/[^./\\][^/\\]*)")
_MOST_BYTES = 1 << 24
"""Of `submission.json`: room for a hundred thousand files."""


@dataclass(frozen=True)
class Submission:
    """What `submission.json` says.

    Args:
        name: of the submission, and of its folder on the board.
        files: SHA-256 of every file, by its path in the folder.
        note: who submits, and what; free text.
        quickstudy: the version that packed it.

    """

    name: str
    files: Mapping[str, str]
    note: str = ""
    quickstudy: str = __version__

    @property
    def hash(self) -> str:
        """SHA-256 of the name and of the hashes of all files."""
        return digest({"name": self.name, "note": self.note, "files": self.files})

    def as_text(self) -> str:
        """The content of `submission.json`."""
        facts = {"format": FORMAT, "hash": self.hash, **vars(self)}
        return json.dumps(facts, indent=1, sort_keys=True) + "\n"


def submit(
    folder: str | pathlib.Path,
    target: str | pathlib.Path,
    records: Iterable[Record],
    note: str = "",
) -> Submission:
    """Copy some runs of a folder, failed ones too, into a new folder, and describe it.

    Args:
        folder: where the runs are.
        target: the folder to make; its name is that of the submission.
        records: the runs; those of people are left out.
        note: who submits, and what.

    Raises UsageError for a name that cannot be one, a folder that exists, and where no run is left.

    """
    folder, target = pathlib.Path(folder), pathlib.Path(target)
    if not _NAME.fullmatch(target.name):
        raise UsageError(
            "a submission is named by 1 to 40 small letters, digits and hyphens, got"
            f' "{target.name}"'
        )
    if target.exists():
        raise UsageError(f"{target} exists; name another folder, or remove it first")
    chosen = {one.key: one for one in records if one.labels.get("role") != PERSON}
    if not chosen:
        raise UsageError(
            f"no run of a learner in {folder} fits; look at quickstudy report {folder}"
        )
    prepare_folder(target)
    _copy(folder, target, chosen)
    write_aside(target / ATTRIBUTES, str(os.getpid()), lambda file: file.write(b"* -text\n"))
    made = Submission(target.name, dict(hashes(target)), note)
    text = made.as_text().encode()
    write_aside(target / SUBMISSION, str(os.getpid()), lambda file: file.write(text))
    return made


def _copy(folder: pathlib.Path, target: pathlib.Path, chosen: Mapping[str, Record]) -> None:
    """The journal lines of some runs as they are, and the files that these name."""
    names: set[str] = set()
    for name, lines in groupby(read_lines(folder), key=lambda line: line.file):
        own = [line for line in lines if line.record is not None and line.key in chosen]
        if not own:
            continue
        make_folder((target / name).parent)
        write_lines(target / name, str(os.getpid()), own)
        for record in (line.record for line in own if line.record is not None):
            names |= {*record.files, *sources_of(record).values()}
            names |= {str(record.trace["file"])} if "file" in record.trace else set()
    for name in sorted(names):
        make_folder((target / name).parent)
        shutil.copyfile(folder / name, target / name)


def sources_of(record: Record) -> Mapping[str, str]:
    """The user's files that a run was made with: by name, the file in the folder that keeps it."""
    found = record.where.get("sources", {})
    return found if isinstance(found, Mapping) else {}


def hashes(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """The SHA-256 of every file of a folder by its path in it, but for `submission.json`."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise UsageError(f"{path} is a link; a submission has ordinary files only")
        if path.is_file() and name != SUBMISSION:
            with open(path, "rb") as file:
                yield name, hashlib.file_digest(file, "sha256").hexdigest()


def read_submission(folder: str | pathlib.Path) -> Submission:
    """What a submission says of itself. Raises UsageError where there is none."""
    path = pathlib.Path(folder, SUBMISSION)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        facts = json.loads(path.read_bytes())
        found = Submission(facts["name"], facts["files"], facts["note"], facts["quickstudy"])
        texts = [found.name, found.note, found.quickstudy, *found.files, *found.files.values()]
        if facts["format"] != FORMAT or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"it is not of format {FORMAT}")
    except FileNotFoundError as error:
        raise UsageError(
            f"{folder} has no {SUBMISSION}; make a submission by quickstudy submit RESULTS -o"
            " FOLDER"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if facts.get("hash") != found.hash:
        raise UsageError(f"{path}: its hash is not that of its content; pack the runs again")
    return found


def file_faults(folder: pathlib.Path, found: Submission) -> Iterator[str]:
    """Every file that is missing, more, changed, or not of the kind that a submission has."""
    there = dict(hashes(folder))
    for name in sorted({*there, *found.files}):
        if name not in there:
            yield f"{name} is missing"
        elif name not in found.files:
            yield f"{name} is not part of the submission"
        elif there[name] != found.files[name]:
            yield f"{name} was changed after it was packed"
        elif name not in (MARKER, ATTRIBUTES) and not _FILE.fullmatch(name):
            yield f"{name} is not a file of a results folder"


def records_of(folder: pathlib.Path, keys: Collection[str] = ()) -> list[Record]:
    """The records of a submission; keys: of these runs only."""
    found = read_results(folder, expected=True).records
    return [one for key, one in found.items() if not keys or key in keys]
