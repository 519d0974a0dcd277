"""Tuning: learners of a file, and candidates that are equally good."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import quickstudy as qs
from quickstudy.api.profile import request_profile
from quickstudy.pages.profile import tuning

MODEL = """
class Model:
    def __init__(self, brief, seed, rate=0.003, width=8):
        pass

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        pass
"""


@pytest.fixture
def model(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    return file


@pytest.mark.parametrize(
    ("typed", "before"), [("", ":"), (":Model", ":"), (":Model:width=4", ":width=4,")]
)
def test_rates_around_the_usual_one_are_tried_for_a_learner_of_a_file(model, typed, before):
    request = request_profile(f"{model}{typed}", tuned=True, families="dynamics")
    examined = request.study.settings["examined"]
    tried = [f"{model}:Model{before}rate={rate}" for rate in ("0.003", "0.0009", "0.009")]
    assert tuning.candidates(examined, request, "dynamics") == tried


def test_a_file_with_one_class_and_its_class_are_one_learner(model):
    names = {
        request_profile(f"{model}{typed}").study.settings["examined"] for typed in ("", ":Model")
    }
    assert names == {f"{model}:Model"}


@pytest.mark.parametrize(
    ("scores", "best", "tied"),
    [((0.0, 0.0, 0.0), "0.003", 3), ((0.5, 0.0, 0.0), "0.001", 1), ((0.0, 0.5, 0.5), "0.003", 2)],
)
def test_the_usual_setting_is_kept_in_a_tie(model, monkeypatch, scores, best, tied):
    typed = f"{model}:Model:rate=0.001|0.003|0.03"
    request = request_profile(typed, tuned=True, families="grammar")
    rates = dict(zip(("0.001", "0.003", "0.03"), scores, strict=True))
    found = SimpleNamespace(
        values=lambda runs, headline: {(0, 0): rates[runs["rate"].name]},
        runs=lambda setting: {
            "rate": SimpleNamespace(name=setting.learner.rpartition("=")[2], cost={})
        },
        score=lambda headline, records: tuning.registries.measure.get("b-index").scores[0],
    )
    monkeypatch.setattr(type(request), "results", found)
    choice = tuning.chosen(request, typed, "grammar")
    assert (choice.name, choice.tied) == (f"{model}:Model:rate={best}", tied)


TABLE = """
from collections import Counter, defaultdict

import numpy as np


class Table:
    def __init__(self, brief, seed, reads=1):
        self.reads, self.seen = reads, defaultdict(Counter)

    def _keys(self, inputs):
        tokens = inputs.tolist()
        return [tuple(tokens[max(0, at + 1 - self.reads) : at + 1]) for at in range(len(tokens))]

    def learn(self, inputs, targets):
        for key, answer in zip(self._keys(inputs), targets.tolist()):
            if answer >= 0:
                self.seen[key][answer] += 1

    def predict(self, inputs):
        keys = self._keys(inputs)
        return np.array([
            self.seen[key].most_common(1)[0][0] if self.seen[key] else 0 for key in keys
        ])
"""


def test_spans_are_reported_of_the_setting_that_another_item_chose(tmp_path):
    """The whole line: three candidates on a group that is not reported, with seeds of their own."""
    file = tmp_path / "table.py"
    file.write_text(TABLE)
    card = qs.profile(
        f"{file}:reads=1|2|3",
        tuned=True,
        families="grammar",
        seeds=2,
        out=tmp_path / "out",
        workers=0,
        progress=False,
    )
    (family,) = card.facts["families"]
    choice = family["tuning"]
    spans = {name.rpartition("=")[2]: value for name, value in choice["tried"].items()}
    assert spans["1"] < spans["2"] < spans["3"], "the last symbol alone is the equals sign"
    assert choice["name"].endswith("reads=3")
    assert (choice["task"], choice["runs"], choice["cost"]["examples"]) == (
        "span/track:group=Z60",
        3,
        3 * 1500,
    )
    runs = [record.what for record in qs.Results(tmp_path / "out").records]
    deciding = [what for what in runs if what["task"]["id"] == "span/track"]
    assert len(deciding) == 3
    assert {what["root"] for what in deciding} == {tuning.ROOT}
    reported = [what for what in runs if what not in deciding]
    assert {what["root"] for what in reported} == {0}
    assert {what["learner"]["parameters"]["reads"] for what in reported} == {3}
    assert {what["task"]["id"] for what in reported} == {"span/count", "span/nest", "span/parity"}
