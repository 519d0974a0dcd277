"""Measure what the reference learners cost to run: `python docs/costs.py`.

No run is needed: each learner is begun on each item of the battery as a run would begin it, and
measured (`quickstudy.learners.footprint`). The result is
`src/quickstudy/norms/costs.json`, from which cards draw spans against bytes of state.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from quickstudy.api.study import request_study
from quickstudy.base.learner import Brief, pace_of
from quickstudy.base.seeds import Streams
from quickstudy.base.study import StudyRow
from quickstudy.learners.footprint import MACS, MATRIX, STATE, Footprint, footprint
from quickstudy.learners.learner_spec import fitted
from quickstudy.pages.profile.norms import load_norms
from quickstudy.pages.profile.spans import item_name
from quickstudy.pages.profile.tuning import asked_on
from quickstudy.pages.study_request import Request

COSTS = pathlib.Path(__file__).resolve().parent.parent / "src/quickstudy/norms/costs.json"


class Measured(Exception):
    """Raised when a learner is measured: it ends the examination, and nothing is wrong."""


class BegunOnly:
    """A learner that is measured as it begins, or after one batch where it must learn first."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self.found = Footprint({}, {STATE: "it is not asked in a test"})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Any:
        """A pupil whose methods `learn` and `answer` are replaced."""
        pupil: Any = self._learner.begin(brief, streams)
        self.found = footprint(pupil, brief)
        if STATE in self.found.known:
            raise Measured
        # A readout that is solved for exists only once something was learned.
        learn, stride = pupil.learn, pace_of(self._learner).stride

        def briefly(lesson: Any, start: int, stop: int) -> None:
            if start == 0:
                learn(lesson, 0, min(stop, stride * max(1, 8 // stride)))

        def answer(exam: Any) -> None:
            self.found = footprint(pupil, brief)
            raise Measured

        pupil.learn, pupil.answer = briefly, answer
        return pupil


def measured(request: Request, row: StudyRow, learner: str) -> Footprint:
    """Of a learner on an item."""
    asked = asked_on(row.task, row.protocol, request.convention)
    name = fitted(learner, request.convention, asked).name
    parts = request.setting(row, name).resolve()
    begun = BegunOnly(parts.learner.make(parts.task))
    streams = [Streams(request.root, parts.task.id, 0)]
    try:
        parts.protocol.examine(parts.task, begun, streams)
    except Measured:
        return begun.found
    except Exception as error:  # the others are still measured
        return Footprint({}, {STATE: f"{type(error).__name__}: {error}"})
    return begun.found


def main() -> None:
    """Measure all, or those that are missing where there is a file (`--missing`)."""
    norms = load_norms()
    assert norms is not None
    request = request_study("battery", out=pathlib.Path("costs-scratch"), controls=False)
    old = json.loads(COSTS.read_text())["items"] if "--missing" in sys.argv else {}
    items: dict[str, dict[str, dict[str, float]]] = {}
    for row in request.rows:
        item = item_name(row)
        if item not in norms.items:
            continue
        items[item] = dict(old.get(item, {}))
        for learner in norms.items[item].learners:
            if learner in items[item]:
                continue
            found = measured(request, row, learner)
            if STATE in found.known:
                parts = (STATE, MACS, MATRIX)
                items[item][learner] = {p: found.known[p] for p in parts if p in found.known}
            said = dict(found.known) or found.unknown.get(STATE, "")
            sys.stderr.write(f"{item} {learner} {said}\n")
        facts = {"measured": "one sequence, one step, before training"}
        COSTS.write_text(json.dumps({"facts": facts, "items": items}, indent=1) + "\n")


if __name__ == "__main__":
    main()
