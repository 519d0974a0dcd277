"""A trained learner brought back from its snapshot: named arrays and facts, never a pickle."""

from __future__ import annotations

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Keeping, Pupil, Snapshot, face
from quickstudy.base.seeds import Streams
from quickstudy.learners.naming import choose_named


def revive(snapshot: Snapshot) -> Pupil:
    """A pupil of one lane, as it was when the snapshot was taken. Raises UsageError if it does not say what it is."""
    try:
        what, brief = snapshot.facts["learner"], Brief.from_facts(snapshot.facts["brief"])
    except KeyError as error:
        raise UsageError(f"the snapshot does not say which learner it is: no {error} in its facts") from error
    choice = choose_named(what["id"], what["parameters"], snapshot.facts.get("convention", "corrected"))
    if choice.what["version"] != what["version"]:
        raise UsageError(f"{what['id']} is at version {choice.what['version']}, the snapshot at {what['version']}")
    # Whatever is drawn here is overwritten by the snapshot.
    pupil = choice.make(None).begin(brief, [Streams(0, "revived", 0)])
    face(pupil, Keeping).restore(snapshot)
    return pupil
