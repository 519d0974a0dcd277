"""From a setting to outcomes: what is closed, what is kept, what comes back."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from quickstudy.api.run import Results, run
from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Exam
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting
from quickstudy.tasks.sampling import draw_unique, split

SMALL = {"sequences": 60}
LEARNER = '''
import pathlib

import numpy as np


class Opens:
    """Leaves a note when it is closed."""

    def __init__(self, brief, seed, note="", fails=False):
        self.note, self.fails = note, fails

    def learn(self, inputs, targets):
        if self.fails:
            raise ValueError("cannot learn")

    def predict(self, inputs):
        return np.zeros(len(inputs), dtype=int)

    def close(self):
        pathlib.Path(self.note).write_text("closed")
'''


@pytest.mark.parametrize(("fails", "status"), [("false", "ok"), ("true", "failed")])
def test_what_a_learner_has_opened_is_closed_whatever_happens(
    tmp_path: pathlib.Path, fails: str, status: str
) -> None:
    (tmp_path / "opens.py").write_text(LEARNER)
    note = tmp_path / "note"
    learner = f"{tmp_path / 'opens.py'}:Opens:note={note},fails={fails}"
    (outcome,) = examine(Setting("language/qa", learner, protocol=SMALL), [0])
    assert outcome.record.status == status
    assert note.read_text() == "closed"


@pytest.mark.parametrize("learner", ["esn:units=30", "esn+rls:units=30", "lstm:units=5,passes=2"])
def test_a_kept_learner_comes_back_and_gives_the_same_last_accuracy(
    tmp_path: pathlib.Path, learner: str
) -> None:
    results = run(
        "language/qa",
        learner,
        seeds=1,
        out=tmp_path,
        protocol=SMALL,
        controls=False,
        workers=0,
        keep_learners=True,
    )
    (record,) = results.records
    assert record.saved == f"learners/{record.key}.npz"
    pupil = Results(tmp_path).learner(record.key[:12])
    streams, task = (
        Streams(0, "language/qa", 0),
        configure("qa", registries.task.get("language/qa"), {}),
    )
    unique = draw_unique(task, streams.numpy("data"), 60)
    exam = Exam([split(unique, streams.numpy("split"), LanguageProtocol().share).test])
    decisions = pupil.answer(exam).argmax(axis=-1)  # type: ignore[attr-defined]
    assert (decisions == exam.targets).mean() == record.scores["accuracy"]["values"][
        "final-accuracy"
    ]
    assert pupil.cost()[0].examples == record.cost["examples"]


def test_a_learner_that_was_not_kept_is_asked_for_in_vain(tmp_path: pathlib.Path) -> None:
    results = run(
        "language/qa", "majority", seeds=2, out=tmp_path, protocol=SMALL, controls=False, workers=0
    )
    with pytest.raises(UsageError, match="2 runs"):
        results.learner("")


def test_learners_of_one_seed_see_the_same_data_and_cannot_see_whose_it_is() -> None:
    streams = Streams(7, "language/qa", 3)
    private = streams.for_learner()
    assert "language" not in repr(private)
    assert private == streams.for_learner() != Streams(7, "language/qa", 4).for_learner()
    assert not np.array_equal(private.words("data"), streams.words("data"))


def test_what_nothing_here_can_be_trained_for_is_not_applicable_and_the_run_goes_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LanguageProtocol, "asks", "reward", raising=False)
    monkeypatch.setattr(registries.training, "entries", list)
    learners = ["esn", "lstm:units=3,rate=0.1", "relearning:learner=esn", "copy-last"]
    results = run(
        "language/qa", learners, seeds=1, out=tmp_path, protocol=SMALL, controls=False, workers=0
    )
    found = {record.labels["learner"]: (record.status, record.reason) for record in results.records}
    reason = "no way of training a core by reward is installed"
    assert found == {
        **dict.fromkeys(learners[:3], ("not-applicable", reason)),
        "copy-last": ("ok", ""),
    }
    assert "no way of training a core by reward" in str(results.as_json())
