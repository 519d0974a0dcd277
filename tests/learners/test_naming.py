"""From names to learners; that more than one pass is replay is said by the name and the record."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Pace
from quickstudy.base.parameters import configure
from quickstudy.learners.core_with_training import Trained, default_training
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import bring, choose_learner, learner_names

FILE = '''
class Make:
    """Answers 0."""

    def __init__(self, brief, seed, width=4, name="x"):
        self.width, self.name = width, name

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return 0 * inputs
'''


def choose(text, convention="corrected", task=None):
    return choose_learner(text, convention, task)


@pytest.fixture(scope="module")
def qa():
    return configure("language/qa", registries.task.get("language/qa"), {})


def test_a_core_is_a_learner_with_its_usual_training():
    chosen = choose("esn")
    assert (chosen.label, chosen.role, chosen.compiled) == ("esn", "learner", True)
    assert chosen.what["id"] == "esn+sgd"
    assert chosen.what["version"] == "1.1"
    assert chosen.programs > 0
    assert choose("lstm").what["id"] == "lstm+adam"
    made = chosen.make(None)
    assert isinstance(made, Trained)
    assert made.pace == Pace(passes=1, batch=1, by_question=True, peeks=False)
    assert choose("lstm").make(None).pace == Pace(passes=10, batch=1)


def test_a_convention_has_its_own_training_and_parameters():
    published = choose("esn", "published")
    assert published.what["id"] == "esn+logistic"
    assert published.what["parameters"]["peek"] is True
    assert published.label == "esn"
    assert choose("lstm", "published").what["parameters"]["sizing"] == "published"
    assert choose("esn+sgd", "published").label == "esn+sgd"
    assert default_training(registries.core.get("lstm"), "published") == "adam"


def test_parameters_of_both_halves_stand_side_by_side():
    chosen = choose("esn+rls:units=20,ridge=0.5,leak=0.3")
    assert chosen.label == "esn+rls:units=20,leak=0.3,ridge=0.5"
    assert chosen.what["parameters"]["units"] == 20
    assert chosen.what["parameters"]["ridge"] == 0.5
    made = chosen.make(None)
    assert (made.core.units, made.core.leak, made.training.ridge) == (20, 0.3, 0.5)


@pytest.mark.parametrize(
    "text", ["esn", "esn+rls:units=20,radius=0.9", "lstm:units=3,batch=2", "esn+logistic:peek=yes"]
)
@pytest.mark.parametrize("convention", ["corrected", "published", "written"])
def test_a_label_is_a_name(text, convention):
    chosen = choose(text, convention)
    assert choose(chosen.label, convention).what == chosen.what
    assert choose(chosen.label, convention).label == chosen.label


def test_a_default_that_is_typed_makes_no_other_learner():
    assert choose("esn:units=1800").what == choose("esn").what
    assert choose("esn:units=1800").label == "esn"
    assert choose("esn@1+sgd").what == choose("esn").what
    assert choose("lstm:units=none").what == choose("lstm").what


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("esm", r'^no learner "esm"; did you mean "esn"\?$'),
        ("resnet50", r'^no learner "resnet50"; nearest of \d+: .*esn.*deltanet'),
        ("esn+sdg", r'^no training "sdg"; did you mean "sgd"\?$'),
        ("esn:unit=5", r'^esn\+sgd: no parameter "unit"; did you mean "units"\?$'),
        ("esn:units=-5", "^esn: units must be at least 1, got -5$"),
        ("esn:rate=0", "^sgd: rate must be above 0, got 0.0$"),
        (
            "lstm+sgd",
            r"^sgd trains a readout only, and lstm is a core that has to be trained; use \+adam$",
        ),
        ("lstm+rls", "^rls trains a readout only"),
        ("majority:x=1", "^majority: a control has no parameters, got x$"),
        ("esn:units", '"units" is not of the form name=value'),
        ("nowhere.py:Make", r'^no file nowhere\.py, which the learner "nowhere\.py:Make" names$'),
    ],
)
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(UsageError, match=message):
        choose(text)


def test_controls_and_the_oracle_of_a_task(qa):
    chosen = choose("majority", task=qa)
    assert (chosen.label, chosen.role, chosen.compiled, chosen.lanes(6)) == (
        "majority",
        "control",
        False,
        1,
    )
    assert isinstance(chosen.make(qa), Hosted)
    oracle = choose("oracle", task=qa)
    assert (oracle.label, oracle.role) == ("qa-oracle", "oracle")
    assert choose("qa-oracle@1", task=qa).what == oracle.what
    assert {"esn", "lstm", "majority", "oracle"} <= set(learner_names())


def test_a_task_without_an_oracle_says_why():
    class Weather:
        id = "dynamics/weather"
        oracle = "nobody knows the weather"

    with pytest.raises(
        UsageError, match="dynamics/weather has no oracle: nobody knows the weather"
    ):
        choose("oracle", task=Weather())


def test_a_learner_from_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    chosen = choose(f"{file}:Make:width=8,name=deep")
    assert chosen.label == "mine.py:Make:width=8,name=deep"
    assert chosen.what["parameters"] == {"width": 8, "name": "deep"}
    host = chosen.make(None).make(None, 0)
    assert (host.width, host.name) == (8, "deep")
    assert choose(f"{file}:Make").what["version"] == chosen.what["version"]
    with pytest.raises(UsageError, match=r'no learner "Mak" in .*mine\.py; did you mean "Make"\?'):
        choose(f"{file}:Mak")
    assert choose(str(file)).what == choose(f"{file}:Make").what  # it has one learner
    two = tmp_path / "two.py"
    two.write_text(f"{FILE}\n\nclass Other(Make):\n    pass\n")
    with pytest.raises(
        UsageError, match=r"which learner of .*two\.py\?; known: Make, Other; type .*two\.py:NAME"
    ):
        choose(str(two))
    with pytest.raises(UsageError, match=r'no parameter "witdh"; did you mean "width"\?'):
        choose(f"{file}:Make:witdh=3")


def test_a_changed_file_is_another_learner(tmp_path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(FILE)
    two.write_text(FILE + "\n# changed\n")
    assert choose(f"{one}:Make").what["version"] != choose(f"{two}:Make").what["version"]


def test_objects_of_this_process():
    class Silent:
        """Answers 0."""

        def __init__(self, brief, seed): ...

        def learn(self, inputs, targets): ...

        def predict(self, inputs):
            return 0 * inputs

    @dataclass(frozen=True)
    class Whole:
        """A learner with parameters of its own."""

        rate: float = 0.1

        def begin(self, brief, streams):
            raise NotImplementedError

    assert bring("esn") == "esn"
    assert bring(Silent) == "Silent"
    chosen = choose("Silent")
    assert (chosen.label, chosen.what["parameters"]) == ("Silent", {})
    assert isinstance(chosen.make(None), Hosted)
    assert bring(Whole) == "Whole"
    assert choose("Whole:rate=0.5").make(None) == Whole(0.5)
    assert choose("Whole:rate=0.5").label == "Whole:rate=0.5"
    assert bring(Whole(0.3)) == "Whole"
    assert choose("Whole").make(None) == Whole(0.3)
    assert choose("Whole").what["parameters"] == {"rate": 0.3}
    with pytest.raises(
        UsageError, match="Whole: a learner that is made already takes no parameters, got rate"
    ):
        choose("Whole:rate=0.5")


def test_lanes_depend_on_the_kind_of_device_and_on_how_many_are_asked_for():
    chosen = choose("esn")
    assert chosen.device() in {"cpu", "gpu"}
    assert [chosen.lanes(asked, "cpu") for asked in (1, 6, 100)] == [1, 1, 1]
    assert [chosen.lanes(asked, "gpu") for asked in (1, 2, 6, 7, 100, 1000)] == [
        2,
        2,
        6,
        12,
        100,
        100,
    ]
    assert choose("majority").lanes(100, "gpu") == 1
    assert choose("majority").device() == "cpu"


@pytest.mark.parametrize(
    "text", ["esn", "reca", "bag", "esn+rls", "lstm", "rnn", "gru", "transformer"]
)
def test_the_record_says_how_often_the_material_is_shown(text):
    chosen = choose_learner(text, "corrected")
    assert chosen.what["parameters"]["passes"] == chosen.make(None).pace.passes
    assert (chosen.make(None).pace.passes > 1) == chosen.what["id"].endswith("+adam")


@pytest.mark.parametrize(
    ("text", "passes"), [("esn", 3), ("reca+rls", 2), ("lstm", 1), ("transformer", 20)]
)
def test_another_number_of_passes_is_another_learner_with_another_name(text, passes):
    usual, other = (
        choose_learner(text, "corrected"),
        choose_learner(f"{text}:passes={passes}", "corrected"),
    )
    assert usual.what != other.what
    assert other.what["parameters"]["passes"] == passes
    assert other.label == f"{usual.label}:passes={passes}"
