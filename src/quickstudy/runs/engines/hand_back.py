"""Results between a worker and the folder of the driver: is it the same folder, which runs does it
hold already, and how results come back where it is not.

The driver leaves a file with a secret in its folder. A worker that reads it there writes into the
folder itself. Any other works in a folder of its own, and hands back what is in there as the bytes
of a zip file: journals, traces, trained learners, kept sources. The driver writes files first, then
the lines that name them.
"""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import re
import secrets
import zipfile
from collections.abc import Collection
from dataclasses import replace

from quickstudy.base.canonical import intact
from quickstudy.base.code_identity import content_version
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import NOT_APPLICABLE, OK, Record
from quickstudy.runs.folder import LEARNERS, RUNS, SOURCES, TEMPORARY, TRACES, write_aside
from quickstudy.runs.journal import Journal, checksum_of

_ROOMS = (TRACES, LEARNERS, SOURCES, RUNS)
_NAME = re.compile(rf"(?:{TRACES}|{LEARNERS})/[^./\\][^/\\]*\.npz")
_KEY = re.compile(rb'"key":\s*"([0-9a-f]{64})"')


class Probe:
    """A file of the driver in the results folder, by which workers know that it is theirs too.

    Its name is that of a file written aside: `quickstudy doctor` removes what a dead driver left.
    """

    def __init__(self, journal: Journal) -> None:
        self.secret = secrets.token_hex(16)
        self.path = journal.folder / f".driver.{journal.writer}{TEMPORARY}"
        self.path.write_text(self.secret)

    def remove(self) -> None:
        """The run has ended."""
        self.path.unlink(missing_ok=True)


def is_shared(probe: str, secret: str) -> bool:
    """Whether the driver's folder is on a disk of this machine."""
    try:
        return pathlib.Path(probe).read_text() == secret
    except (OSError, ValueError):
        return False


class FoundRuns:
    """Which runs a folder holds that were made since a driver has begun. Journals only grow, so
    each is read on from where it was left.
    """

    def __init__(self, probe: str) -> None:
        path = pathlib.Path(probe)
        self._folder = path.parent
        self._since = path.stat().st_mtime
        self._read: dict[pathlib.Path, int] = {}
        self._found: dict[str, str] = {}

    def of(self, keys: Collection[str]) -> dict[str, str]:
        """The status of the stored runs among these that have not failed."""
        for path in (self._folder / RUNS).glob("*.jsonl"):
            try:
                facts = path.stat()
                if facts.st_mtime >= self._since and facts.st_size > self._read.get(path, 0):
                    self._read_on(path)
            except OSError:  # set aside by a repair
                continue
        return {key: self._found[key] for key in keys if key in self._found}

    def _read_on(self, path: pathlib.Path) -> None:
        with open(path, "rb") as file:
            file.seek(start := self._read.get(path, 0))
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read[path] = start + len(whole)
        for line in filter(_KEY.search, whole.splitlines()):
            try:
                facts = json.loads(line)
                good = intact(line, facts) and facts["status"] in (OK, NOT_APPLICABLE)
                name = facts.get("trace", {}).get("file")
                if good and (name is None or (self._folder / name).is_file()):
                    self._found[facts["key"]] = facts["status"]
            except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
                continue  # damaged: the run is made again


def pack_results(folder: pathlib.Path) -> bytes:
    """All results in a folder, as the bytes of a zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for room in _ROOMS:
            for path in sorted((folder / room).glob("[!.]*")):
                archive.write(path, f"{room}/{path.name}")
    return made.getvalue()


def write_results(content: bytes, journal: Journal) -> set[str]:
    """Write what has come back into the folder of a journal. Gives the keys of the runs.

    A file of the same name and other content, of another run of that key, is kept; the new one gets
    a name of its own. Raises QuickstudyError for what is not such results.
    """
    written = set()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise QuickstudyError(f"a worker has sent back no readable results: {error}") from error
    for name, text in files.items():
        if name == f"{SOURCES}/{content_version(text)}.py":
            _put(journal, name, text)
    for name, text in files.items():
        if name.startswith(f"{RUNS}/"):
            for line in text.splitlines():
                record = Record.from_facts(json.loads(line))
                journal.write(_with_files(record, files, journal))
                written.add(record.key)
    return written


def _with_files(record: Record, files: dict[str, bytes], journal: Journal) -> Record:
    names = {}
    for name in filter(None, (record.trace.get("file"), record.saved)):
        if not _NAME.fullmatch(name) or name not in files:
            raise QuickstudyError(f"a worker has sent back a record without its file {name!r}")
        found = hashlib.sha256(files[name]).hexdigest()
        if (journal.folder / name).exists() and checksum_of(journal.folder / name) != found:
            names[name] = f"{name.removesuffix('.npz').partition('.')[0]}.{found[:12]}.npz"
        _put(journal, names.get(name, name), files[name])
    if not names:
        return record
    trace, saved = dict(record.trace), record.saved
    if "file" in trace:
        trace["file"] = names.get(trace["file"], trace["file"])
    sums = {names.get(name, name): checksum for name, checksum in record.files.items()}
    return replace(record, trace=trace, saved=names.get(saved or "", saved), files=sums)


def _put(journal: Journal, name: str, content: bytes) -> None:
    if not (journal.folder / name).exists():
        write_aside(journal.folder / name, journal.writer, lambda file: file.write(content))
