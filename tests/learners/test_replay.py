"""More than one pass is replay, another kind of learning: the name and the record say so."""

from __future__ import annotations

import pytest

from quickstudy.learners.naming import choose_learner


@pytest.mark.parametrize("text", ["esn", "reca", "bag", "esn+rls", "lstm", "rnn", "gru", "transformer"])
def test_the_record_says_how_often_the_material_is_shown(text):
    chosen = choose_learner(text, "corrected")
    assert chosen.what["parameters"]["passes"] == chosen.make(None).pace.passes
    assert (chosen.make(None).pace.passes > 1) == chosen.what["id"].endswith("+adam")


@pytest.mark.parametrize(("text", "passes"), [("esn", 3), ("reca+rls", 2), ("lstm", 1), ("transformer", 20)])
def test_another_number_of_passes_is_another_learner_with_another_name(text, passes):
    usual, other = choose_learner(text, "corrected"), choose_learner(f"{text}:passes={passes}", "corrected")
    assert usual.what != other.what
    assert other.what["parameters"]["passes"] == passes
    assert other.label == f"{usual.label}:passes={passes}"
