"""Users' files that travel to another machine: each with its hash, checked on arrival.

What travels is the text that the driver has imported: a learner's or task's file, and the files
next to it that it imports. On a machine where the same texts are at the same paths, as on a shared
disk, they are used where they are; elsewhere they are written into the user's cache, in a folder
named after their content. Installed libraries, and data that code reads from a disk, do not travel.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace

from quickstudy.base.code_identity import file_origin
from quickstudy.base.errors import UsageError
from quickstudy.base.hardware import cache_folder
from quickstudy.base.user_imports import content_of
from quickstudy.runs.engines.messages import Bundle
from quickstudy.runs.run_spec import Setting


def files_of(bundle: Bundle) -> tuple[str, ...]:
    """The users' files that a bundle needs: included ones, those of its learners, and what they
    import from their own folders.
    """
    settings = (bundle.setting, *bundle.beside)
    named = [*bundle.includes, *filter(None, (_learner_file(one) for one in settings))]
    found = {path for name in named for path in file_origin(name).files}
    return tuple(sorted(found)) if bundle.room else ()


def pack_files(paths: Iterable[str]) -> str:
    """The files as one text of JSON. Raises UsageError for one that is not text."""
    packed = []
    for path in paths:
        content = content_of(path)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{path} is not text in UTF-8; it cannot be sent to workers"
            ) from error
        packed.append({"path": path, "sha256": _sha256(content), "text": text})
    return json.dumps(packed)


def receive_files(packed: str) -> dict[str, str]:
    """Where each of the files is on this machine, by its path on the driver's. Raises UsageError
    for one that has changed on the way.
    """
    contents = {}
    for one in json.loads(packed):
        content = one["text"].encode()
        if _sha256(content) != one["sha256"]:
            raise UsageError(f"{one['path']} has changed on its way to the worker; run again")
        contents[one["path"]] = content
    if all(_holds(pathlib.Path(path), content) for path, content in contents.items()):
        return {path: path for path in contents}
    root = os.path.commonpath([os.path.dirname(path) for path in contents])
    folder = cache_folder() / "sent" / _sha256(packed.encode())[:16]
    made = {path: folder / os.path.relpath(path, root) for path in contents}
    if not all(_holds(made[path], content) for path, content in contents.items()):
        _write(folder, {os.path.relpath(path, root): one for path, one in contents.items()})
    return {path: str(place) for path, place in made.items()}


def moved(bundle: Bundle, places: dict[str, str], content: str) -> Bundle:
    """The bundle with its files where they are on this machine. content: a hash of them, by which
    a process that has imported them is known: it runs nothing that needs others.
    """

    def setting(one: Setting) -> Setting:
        file = _learner_file(one)
        if file is None or file not in places:
            return one
        return replace(one, learner=places[file] + one.learner[len(file) :])

    return replace(
        bundle,
        setting=setting(bundle.setting),
        beside=tuple(map(setting, bundle.beside)),
        includes=tuple(places.get(path, path) for path in bundle.includes),
        room=(content,),
    )


def _learner_file(setting: Setting) -> str | None:
    """The file that a learner comes from, as `/folder/file.py:Class` names it."""
    path, dot, _ = setting.learner.partition(".py")
    return path + dot if dot and os.path.isabs(path) else None


def _write(folder: pathlib.Path, contents: dict[str, bytes]) -> None:
    """All of them at once: two workers of one machine may do so at the same time."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for name, content in contents.items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(content)
        if folder.exists() and not all(_holds(folder / n, one) for n, one in contents.items()):
            folder.rename(pathlib.Path(tempfile.mkdtemp(dir=folder.parent)) / "damaged")
        if not folder.exists():
            aside.rename(folder)
    except OSError:
        if not all(_holds(folder / name, one) for name, one in contents.items()):
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _holds(path: pathlib.Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
