"""A trained learner brought back from its snapshot: named arrays and facts, never a pickle."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Keeping, Pupil, Snapshot, face
from quickstudy.base.parameters import write_assignments
from quickstudy.base.registry import included_files
from quickstudy.base.seeds import Streams
from quickstudy.learners.naming import Choice, choose_learner, choose_named


def revive(snapshot: Snapshot, file: str | pathlib.Path | None = None) -> Pupil:
    """A pupil of one lane, as it was when the snapshot was taken. file: where a learner out of a file is, if that file
    was not included here yet: a snapshot of somebody else's must not say what is imported. Raises UsageError if it does
    not say what it is, or is not what it was.
    """
    try:
        what, brief = snapshot.facts["learner"], Brief.from_facts(snapshot.facts["brief"])
    except KeyError as error:
        raise UsageError(f"the snapshot does not say which learner it is: no {error} in its facts") from error
    choice = _choice(what, snapshot.facts.get("convention", "corrected"), file)
    if choice.what["version"] != what["version"]:
        raise UsageError(
            f"{what['id']} is at version {choice.what['version']}, the snapshot at {what['version']}: "
            "its code has changed since"
        )
    # Whatever is drawn here is overwritten by the snapshot.
    pupil = choice.make(None).begin(brief, [Streams(0, "revived", 0)])
    face(pupil, Keeping).restore(snapshot)
    return pupil


def _choice(what: Mapping[str, Any], convention: str, file: str | pathlib.Path | None) -> Choice:
    name, is_file, kind = str(what["id"]).rpartition(".py:")
    if not is_file:
        return choose_named(what["id"], what["parameters"], convention)
    if file is None:
        known = [path for path in included_files() if pathlib.Path(path).name == f"{name}.py"]
        if len(known) != 1:
            raise UsageError(
                f'{what["id"]} comes from a file; say where it is: learner(key, file="{name}.py"), '
                "and only if you trust it, since it is run"
            )
        file = known[0]
    usual = choose_learner(f"{file}:{kind}", convention)
    # What is as usual need not be typed, and might not be spelled as it would have to be.
    defaults = usual.what["parameters"]
    changed = {one: value for one, value in what["parameters"].items() if one not in defaults or defaults[one] != value}
    return choose_learner(f"{file}:{kind}:{write_assignments(changed)}", convention) if changed else usual
