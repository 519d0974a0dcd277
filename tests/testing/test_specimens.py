"""Every specimen is caught, by the finding that is about its fault; the honest ones pass."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import faulty
from quickstudy.testing import check_core, check_learner, check_task
from quickstudy.testing.small_tasks import Partners


def broken(findings):
    return [finding.what for finding in findings if not finding.ok]


def test_the_honest_pass():
    assert broken(check_task(Partners())) == []
    assert broken(check_task(Partners)) == []
    assert broken(check_learner(faulty.Table)) == []
    assert broken(check_core(faulty.FaultyCore())) == []


@pytest.mark.parametrize(
    ("specimen", "finding"),
    [
        (faulty.Peeker, "does not look ahead"),
        (faulty.Cribber(), "does not look ahead"),
        (faulty.GlobalSeeder, "touches no global randomness"),
        (faulty.Scribbler, "does not change its inputs"),
        (faulty.WrongShape, "answers in the right shape, all finite"),
        (faulty.NotFinite, "answers in the right shape, all finite"),
        (faulty.Hasty(), "learns the same in two calls as in one"),
        (faulty.LastAnswer, "learns from nothing"),
    ],
)
def test_a_faulty_learner_breaks_one_promise(specimen, finding):
    found = check_learner(specimen)
    # Who knows all answers needs to learn nothing.
    knows_all = isinstance(specimen, faulty.Cribber)
    assert broken(found) == [finding, *(["learns from nothing"] if knows_all else [])]
    assert all(each.detail for each in found if not each.ok)


def test_a_learner_that_carries_its_state_over():
    assert "answers each example by itself" in broken(check_learner(faulty.CarriesOver))


def test_a_learner_with_a_generator_nobody_seeded():
    found = broken(check_learner(faulty.Guesser))
    assert found[0] == "same seed, same answers"
    assert "touches no global randomness" not in found


def test_details_say_what_was_seen():
    details = {finding.what: finding.detail for finding in check_learner(faulty.LastAnswer)}
    assert details["learns from nothing"].startswith("accuracy on shuffled labels")
    details = {finding.what: finding.detail for finding in check_learner(faulty.Scribbler)}
    assert (
        details["does not change its inputs"]
        == "learn wrote into the arrays passed in; copy them first"
    )
    details = {finding.what: finding.detail for finding in check_learner(faulty.WrongShape)}
    assert "one row per input row" in details["answers in the right shape, all finite"]
    details = {finding.what: finding.detail for finding in check_learner(faulty.GlobalSeeder)}
    assert "numpy.random" in details["touches no global randomness"]


@pytest.mark.parametrize(
    ("specimen", "finding"),
    [
        (faulty.Forgetful, "same stream, same data"),
        (faulty.OwnStream, "another repetition, other data"),
        (faulty.SharedStream, "touches no global randomness"),
        (faulty.WrongOracle, "its oracle is always right"),
        (faulty.Silent, "draws what its spaces say"),
        (faulty.OutOfVocabulary, "draws what its spaces say"),
    ],
)
def test_a_faulty_task_breaks_one_promise(specimen, finding):
    found = check_task(specimen())
    assert broken(found) == [finding]
    assert all(each.detail for each in found if not each.ok)


def test_tasks_with_bad_papers():
    @dataclass(frozen=True)
    class Unsigned(Partners):
        size: float = (
            1  # an int where a float is declared: its key would change when it is read back
        )
        controls: ClassVar[tuple[str, ...]] = ("majorty",)
        oracle: ClassVar[str | None] = "qa-orcale"
        conventions: ClassVar = {"published": {"leters": 3}}

    details = {finding.what: finding.detail for finding in check_task(Unsigned()) if not finding.ok}
    assert "has no docstring" in details["has a spec sheet"]
    assert "type they declare" in details["its parameters survive JSON"]
    assert 'did you mean "letters"?' in details["its conventions can be made"]
    assert 'did you mean "majority"?' in details["names controls that exist"]
    assert 'did you mean "qa-oracle"?' in details["names its oracle, or why there is none"]
    assert (
        "can be sent to another process" in details
    )  # a class inside a function cannot be pickled
    Unsigned.controls, Unsigned.oracle = (), None
    assert {"names controls that exist", "names its oracle, or why there is none"} <= set(
        broken(check_task(Unsigned()))
    )


def test_a_task_that_gives_another_number_of_examples():
    class Short(Partners):
        def sample(self, rng, count):
            return super().sample(rng, max(1, count - 1))

    assert "draws as many as are asked for" in broken(check_task(Short()))


def test_a_check_says_how_many_sequences_are_different():
    class Few(Partners):
        def sample(self, rng, count):
            return super().sample(np.random.default_rng(0), 3).take(rng.integers(3, size=count))

    found = {finding.what: finding.detail for finding in check_task(Few())}
    assert found["draws as many as are asked for"] == "3 of 40 are different"


def test_something_that_is_no_task():
    assert broken(check_task(object())) == ["is a frozen dataclass"]


def test_a_task_without_dataclass_is_told_so_in_words():
    class Bare:
        """No dataclass."""

        longest: int = 3

    @dataclass
    class Melted:
        """Not frozen."""

    assert "@dataclass(frozen=True)" in check_task(Bare)[-1].detail
    assert "@dataclass(frozen=True)" in check_task(Melted)[-1].detail


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("values", "unroll agrees with the scan of step"),
        ("gradients", "unroll's gradients agree with those of the scan"),
        ("batch", "examples of a batch do not meet"),
        ("ahead", "does not look ahead"),
        ("capacity", "any capacity that is enough gives the same"),
        ("weights", "same stream, same weights"),
    ],
)
def test_a_faulty_core_is_caught(fault, finding):
    found = broken(check_core(faulty.FaultyCore(fault)))
    assert finding in found
    if fault in ("values", "ahead"):  # wrong features have wrong gradients
        assert set(found) <= {
            finding,
            "unroll agrees with the scan of step",
            "unroll's gradients agree with those of the scan",
        }
    elif fault == "weights":  # nothing can be compared with anything else
        assert found[0] == finding
    else:
        assert found == [finding]


def test_checkers_leave_the_shared_generators_as_they_were():
    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    check_learner(faulty.GlobalSeeder)
    check_task(faulty.SharedStream())
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002


def test_a_learner_that_cannot_be_made():
    (finding,) = check_learner("no-such-learner")
    assert (finding.ok, finding.what) == (False, "can be made")
    assert 'no learner "no-such-learner"' in finding.detail


def test_a_learner_that_raises():
    class Raises(faulty.Table):
        def learn(self, inputs, targets):
            raise RuntimeError("out of\nink")

    findings = check_learner(Raises)
    assert broken(findings) == ["answers in the right shape, all finite"]
    assert findings[0].detail.startswith("RuntimeError: out of (")
    assert "test_specimens.py:" in findings[0].detail


def test_snapshots_are_checked_where_they_are_offered():
    from quickstudy.base.learner import Snapshot

    class Saves(faulty.Table):
        def snapshot(self):
            return Snapshot({"table": self._table.copy()})

        def restore(self, snapshot):
            self._table = snapshot.arrays["table"].copy()

    class Shares(Saves):
        def restore(self, snapshot):
            """Forgets to restore."""

    assert "comes back from a snapshot" not in [
        finding.what for finding in check_learner(faulty.Table)
    ]
    assert "comes back from a snapshot" in [finding.what for finding in check_learner(Saves)]
    assert broken(check_learner(Saves)) == []
    assert broken(check_learner(Shares)) == ["comes back from a snapshot"]


def test_findings_read_like_a_report():
    lines = [str(finding) for finding in check_learner(faulty.Table)]
    assert "ok    does not look ahead" in lines
    assert str(check_learner(faulty.LastAnswer)[-1]).startswith(
        "FAIL  learns from nothing: accuracy on shuffled labels"
    )
