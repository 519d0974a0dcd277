"""What is usual follows from what is asked; what cannot be done is not applicable, with the
reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief, Pace, distribution, pace_of
from quickstudy.base.parameters import CONVENTIONS, configure
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens, check_spaces
from quickstudy.base.task import ASKED, asked_of
from quickstudy.learners.core_with_training import Usual, default_training
from quickstudy.learners.host import Hosted, HostPupil
from quickstudy.learners.learner_spec import choose_learner


class Samples:
    vocabulary = ("a", "b")

    def sample(self, rng, count): ...


class Numbers(Samples):
    inputs, outputs = Tokens(2), Reals(1)


class Driven:
    inputs, outputs = Reals(1), Reals(1)

    def drive(self, rng): ...


class Answers:
    horizon = 5

    def open(self, streams): ...


class Pure:
    horizon = 5

    def reset(self, key): ...

    def step(self, key, state, action): ...


class Asks:
    id = "mine"

    def __init__(self, asks):
        self.asks = asks


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        (Samples, "symbols"),
        (Numbers, "reals"),
        (Driven, "reals"),
        (Answers, "reward"),
        (Pure, "episodes"),
    ],
)
def test_what_is_asked_follows_from_the_task_and_the_protocol_may_say_otherwise(task, asked):
    assert asked_of(task()) == asked_of(task(), object()) == asked
    assert asked_of(task(), Asks("strings")) == "strings"
    assert asked_of(task(), Asks(None)) == asked
    with pytest.raises(
        UsageError, match=r'protocol mine: asks must be one of symbols, .*, got "words"'
    ):
        asked_of(task(), Asks("words"))


@pytest.mark.parametrize(
    ("core", "asked", "convention", "training"),
    [
        ("esn", "symbols", "corrected", "sgd"),
        ("esn", "symbols", "written", "sgd"),
        ("esn", "symbols", "published", "logistic"),
        ("esn", "reals", "published", "ridge"),
        ("esn", "strings", "published", "sgd"),
        ("lstm", "symbols", "published", "adam"),
        ("lstm", "reals", "corrected", "adam"),
        ("transformer", "strings", "corrected", "adam"),
        ("recall", "strings", "corrected", "voting"),
        ("recall", "reals", "corrected", "ridge"),
    ],
)
def test_the_usual_training(core, asked, convention, training):
    assert default_training(registries.core.get(core), convention, asked) == training
    chosen = choose_learner(core, convention, asked=asked)
    assert (chosen.what["id"], chosen.label) == (f"{core}+{training}", core)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_usual_parameters_stand_below_what_is_given(convention):
    for_reals = choose_learner("esn", convention, asked="reals").what["parameters"]
    assert (for_reals["units"], for_reals["radius"]) == (200, 0.9)
    for_symbols = choose_learner("esn", convention).what["parameters"]
    assert (for_symbols["units"], for_symbols["radius"]) == (1800, None)
    given = choose_learner("esn:units=1800,radius=none", convention, asked="reals")
    assert given.label == "esn:units=1800,radius=none"
    assert (given.what["parameters"]["units"], given.what["parameters"]["radius"]) == (1800, None)
    assert choose_learner("esn:units=200", convention, asked="reals").label == "esn"
    assert choose_learner("esn+rls", convention, asked="reals").what["parameters"]["units"] == 200
    whole = choose_learner("lstm", convention, asked="reals")
    assert (whole.what["parameters"]["passes"], whole.make(None).pace.passes) == (200, 200)
    # What is kept with a learner is all of its parameters: brought back, it is the same whatever is
    # asked then.
    assert (
        choose_learner(f"esn+ridge:units={for_reals['units']}", convention).what["parameters"][
            "units"
        ]
        == 200
    )


def test_a_core_that_nothing_trains_for_it_is_not_applicable_with_the_reason(monkeypatch):
    kept = [entry for entry in registries.training.entries() if entry.id in ("adam", "sgd")]
    monkeypatch.setattr(registries.training, "entries", lambda: kept)
    chosen = choose_learner("esn:units=20,rate=0.1", "corrected", asked="reward")
    assert (chosen.label, chosen.what["id"], chosen.role) == (
        "esn:units=20,rate=0.1",
        "esn",
        "learner",
    )
    assert chosen.what["parameters"]["units"] == 20
    with pytest.raises(NotApplicable, match=r"^no way of training a core by reward is installed$"):
        chosen.make(None)
    wrapped = choose_learner("relearning:learner=esn", "corrected", asked="reward")
    with pytest.raises(NotApplicable, match="no way of training a core by reward"):
        _ = wrapped.make(None).pace
    assert choose_learner("esn+sgd", "corrected", asked="reward").label == "esn+sgd"


def test_a_training_of_somebody_elses_says_itself_what_it_is_usual_for(monkeypatch):
    @dataclass(frozen=True)
    class Bandit:
        """Pulls levers."""

        usual_for: ClassVar[Any] = (
            Usual("reward"),
            Usual("symbols", frozen=True, convention="published"),
        )
        passes: ClassVar[int] = 1
        batch: ClassVar[int] = 1
        programs: ClassVar[int] = 0

        def check_core(self, core): ...

        def begin(self, core, brief, streams): ...

    registries.training.names()
    ours = dict(registries.training._entries)
    without = {key: entry for key, entry in ours.items() if key[0] not in ("actor-critic", "ppo")}
    for entries, found in ((without, "bandit"), (ours, "actor-critic")):
        monkeypatch.setattr(registries.training, "_entries", dict(entries))
        registries.training("bandit", version=3)(Bandit)
        for core in ("esn", "lstm"):
            chosen = choose_learner(core, "corrected", asked="reward")
            assert (chosen.what["id"], chosen.label) == (f"{core}+{found}", core)
    # It takes the place of none of ours: a core's name means the same whatever else is installed.
    assert choose_learner("esn", "published").what["id"] == "esn+logistic"


def test_a_learner_around_another_holds_the_usual_one():
    for asked, training in (("symbols", "sgd"), ("reals", "ridge")):
        chosen = choose_learner("relearning:learner=esn", "corrected", asked=asked)
        assert chosen.what["within"] == choose_learner("esn", "corrected", asked=asked).what
        assert chosen.make(None).other.training.id == training
        assert chosen.label == "relearning:learner=esn"
        assert set(chosen.what["parameters"]) == {"learner", "every", "convention"}
    assert choose_learner("relearning:learner=lstm", "corrected", asked="reals").make(
        None
    ).pace == Pace(200, 8)


@pytest.mark.parametrize(
    ("name", "brief", "reason"),
    [
        (
            "esn+sgd",
            Brief(Reals(1), Reals(1), "squared", 3, 3),
            "sgd gives symbols, not real numbers",
        ),
        (
            "esn+logistic",
            Brief(Reals(1), Bits(1), "squared", 3, 3),
            "logistic gives symbols and real numbers, not bits",
        ),
        (
            "majority",
            Brief(Reals(1), Reals(1), "squared", 3, 3),
            "majority gives symbols, not real numbers",
        ),
        (
            "uniform",
            Brief(Reals(1), Tokens(2), "cross-entropy", 3, 3),
            "uniform reads symbols, not real numbers",
        ),
        (
            "copy-last",
            Brief(Tokens(2), Reals(1), "squared", 3, 3),
            "copy-last gives symbols, not real numbers",
        ),
        (
            "relearning:learner=esn+sgd",
            Brief(Reals(1), Reals(1), "squared", 3, 3),
            "sgd gives symbols, not real",
        ),
        (
            "tampered:learner=esn",
            Brief(Tokens(2), Reals(1), "squared", 3, 3),
            "tampered gives symbols, not real",
        ),
    ],
)
def test_who_is_not_made_for_a_task_says_so(world, name, brief, reason):
    asked = "symbols" if isinstance(brief.outputs, Tokens) else "reals"
    with pytest.raises(NotApplicable, match=reason):
        choose_learner(name, "corrected", asked=asked).make(None).begin(brief, world.streams())


def test_what_says_nothing_of_spaces_takes_all():
    check_spaces("any", object(), Reals(1), Fields({"a": Bits(2)}))


@pytest.mark.parametrize("kind", ["core", "training"])
def test_what_is_usual_is_possible(kind):
    registry = getattr(registries, kind)
    for name in registry.names():
        component = registry.get(name)
        assert set(getattr(component, "usual", {})) <= set(ASKED), name
        assert "symbols" not in getattr(component, "usual", {}), (
            f"{name}: what is usual for symbols are its defaults"
        )
        for asked in ASKED:
            for convention in CONVENTIONS:
                configure(name, component, {}, convention, asked)


def test_no_two_trainings_are_usual_for_the_same():
    declared = [
        (usual.asked, frozen, usual.convention)
        for name in registries.training.names()
        for usual in getattr(registries.training.get(name), "usual_for", ())
        for frozen in ((True, False) if usual.frozen is None else (usual.frozen,))
    ]
    assert len(set(declared)) == len(declared)
    assert {asked for asked, _, _ in declared} <= set(ASKED)


class Paced:
    passes, batch = 3, 4

    def __init__(self, brief=None, seed=0): ...

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return 0 * inputs


def test_a_host_class_says_its_pace():
    assert Hosted(Paced).pace == Pace(passes=3, batch=4)
    assert Pace(passes=3, batch=4).stride == 4
    assert (Hosted(lambda brief, seed: Paced(brief, seed)).pace, Pace().stride) == (Pace(), 1)
    assert pace_of(type("Own", (Paced,), {"pace": Pace(peeks=True)})) == Pace(peeks=True)
    assert (
        pace_of(type("Method", (), {"batch": lambda self: 0, "passes": property(lambda self: 0)}))
        == Pace()
    )
    for wrong in (0, 2.5, "3", True):
        with pytest.raises(
            UsageError, match="passes of a learner must be a whole number from 1, got"
        ):
            pace_of(type("Wrong", (), {"passes": wrong}))


class Sure:
    """Puts all but a tenth on symbol 1."""

    scale = "probabilities"
    row: ClassVar[list[float]] = [0.1, 0.9, 0.0]

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return np.tile(self.row, (len(inputs), 1))


OF_THREE = Brief(Tokens(3), Tokens(3), "cross-entropy", 4, 3)
EXAM = Exam([Examples.from_sequences([[1, 2, 0]], [[1, 2]])])


def test_a_host_says_its_scale_and_is_held_to_it():
    pupil = HostPupil(Sure(), OF_THREE)
    assert pupil.scale == "probabilities"
    assert distribution(pupil.answer(EXAM), pupil.scale).tolist() == [[[0.1, 0.9, 0.0]] * 2]
    for row, complaint in (
        ([0.5, 0.6, 0.0], "sum to 1, got 1.1"),
        ([-0.1, 1.1, 0.0], "not be below 0, got -0.1"),
    ):
        host = Sure()
        host.row = row
        with pytest.raises(LearnerFault, match=complaint):
            HostPupil(host, OF_THREE).answer(EXAM)


@pytest.mark.parametrize(
    ("outputs", "usual", "strange"),
    [(Tokens(3), "order", "values"), (Reals(3), "values", "logits")],
)
def test_a_scale_fits_the_outputs(outputs, usual, strange):
    brief = Brief(Tokens(3), outputs, "any", 4, 3)
    assert HostPupil(Paced(), brief).scale == usual
    host = Paced()
    host.scale = strange
    with pytest.raises(LearnerFault, match=f"scale must be .*, got {strange}"):
        HostPupil(host, brief)


def test_a_distribution_from_a_scale():
    logits = np.array([[0.0, np.log(3.0), -1e30]])
    assert distribution(logits, "logits").tolist() == [
        [pytest.approx(0.25), pytest.approx(0.75), 0.0]
    ]
    assert distribution(1e4 + logits, "logits").sum() == pytest.approx(1.0)
    for scale in ("order", "values"):
        with pytest.raises(
            NotApplicable, match=f"gives no distribution: its scores are of the scale {scale}"
        ):
            distribution(logits, scale)
