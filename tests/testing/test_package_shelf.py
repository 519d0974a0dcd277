"""The shelf that comes with the package, as a user checks a file: each breaks the promise it names,
and no other.
"""

from __future__ import annotations

import itertools
import pathlib

import pytest
from typer.testing import CliRunner

from quickstudy.adapters.in_context import begin_in_context
from quickstudy.adapters.llm_cache import Said
from quickstudy.base.learner import Pace
from quickstudy.cli.main import app
from quickstudy.testing import check_learner, specimen_players, specimens
from quickstudy.testing.check import check_name

FILE = pathlib.Path(specimens.__file__)
SHELVES = {
    name: shelf
    for shelf in (specimens, specimen_players)
    for name, found in vars(shelf).items()
    if hasattr(found, "breaks")
}
NAMES = list(SHELVES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_caught_by_the_promise_it_breaks(name):
    findings = check_name(f"{SHELVES[name].__file__}:{name}")
    wanted = getattr(SHELVES[name], name).breaks
    broken = [finding.what for finding in findings if not finding.ok]
    if (
        wanted == "same seed, same answers"
    ):  # what cannot be repeated cannot be compared otherwise either
        broken.remove("learns the same in two calls as in one")
    assert broken == ([wanted] if wanted else [])
    assert all(finding.detail for finding in findings if not finding.ok)


def test_every_fault_is_on_the_shelf_of_every_face_that_can_have_it():
    faults = {
        name.removesuffix("Numbers").removesuffix("Actor").removesuffix("Player") for name in NAMES
    }
    assert faults >= {
        "PeeksAhead",
        "IgnoresItsSeed",
        "TouchesGlobalRandomness",
        "DiffersBetweenRuns",
        "ActsOutOfRange",
        "ForgetsAtSnapshot",
        "AnswersDifferentlyRestored",
        "FailsToRestore",
        "SharesItsKey",
        "NeverTaught",
    }


def test_what_a_user_reads():
    done = CliRunner().invoke(app, ["check", f"{FILE}:PeeksAhead"])
    assert done.exit_code == 1
    assert (
        "FAIL  does not look ahead: answers change when only what comes after the question does"
        in done.output
    )
    assert CliRunner().invoke(app, ["check", f"{FILE}:Honest"]).exit_code == 0


class Model:
    """A language model that answers what followed the last symbol before, with a fault of
    choice.
    """

    at_once, likely, parameters = 1, True, None
    calls = itertools.count()

    def __init__(self, fault):
        self.fault, self.heard = fault, ""

    def request(self, prompt, answers):
        return prompt

    def say(self, prompt, answers):
        *shown, asked = prompt.splitlines()
        pairs = [place.split(">") for line in shown[1:] for place in line.split() if ">" in place]
        table = dict(pairs)
        share = dict.fromkeys(answers, -9.0)
        share[table.get(asked.rstrip(">").split()[-1], answers[0])] = -0.01
        if self.fault == "samples":
            share[answers[next(self.calls) % len(answers)]] = -0.02
        if self.fault == "goes on with the conversation":
            share[answers[len(self.heard) % len(answers)]] = -0.02
            self.heard += asked
        return Said(share, "", 1)

    def close(self):
        pass


class InContext:
    pace = Pace()

    def __init__(self, fault):
        self.fault = fault

    def begin(self, brief, streams):
        return begin_in_context(lambda: Model(self.fault), brief, streams, False, 0)


@pytest.mark.parametrize(
    ("fault", "first"),
    [
        ("none", None),
        ("samples", "same seed, same answers"),
        ("goes on with the conversation", "same seed, same answers"),
    ],
)
def test_a_language_model_that_is_not_asked_afresh_is_caught(fault, first):
    broken = [
        finding.what for finding in check_learner(InContext(fault), sequences=40) if not finding.ok
    ]
    assert broken[:1] == ([first] if first else [])


def test_a_torch_module_that_draws_from_the_shared_generator_is_caught():
    torch = pytest.importorskip("torch")

    class Shared(specimens.Honest):
        """Draws its weights from the generator that all share."""

        def __init__(self, brief, seed):
            super().__init__(brief, seed)
            torch.manual_seed(seed)
            torch.nn.Linear(3, 3)

    broken = [finding.what for finding in check_learner(Shared) if not finding.ok]
    assert broken == ["touches no global randomness"]
