"""The store itself: what it tells apart, what it refuses to renew, whom it blames."""

from __future__ import annotations

import numpy as np
import pytest

import expected as store
from expected import Expected, blamed, differences, page_text, summary


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)


def test_rounding_is_no_difference_and_a_constant_is():
    array = np.random.default_rng(0).normal(size=(40, 3))
    stored = summary({"a": array, "n": 3, "b": [True]})
    assert differences(stored, summary({"a": array * (1 + 1e-6), "n": 3, "b": [True]})) == []
    line, *_ = differences(stored, summary({"a": array * 1.001, "n": 3, "b": [True]}))
    assert line.startswith("a.rms: was ")
    swapped = array[[1, 0, *range(2, 40)]]
    assert differences(stored, summary({"a": swapped, "n": 3, "b": [True]}))
    assert differences(stored, summary({"a": array, "n": 4, "b": [1]})) == [
        "n: was 3, is 4",
        "b[0]: was true, is 1",
    ]
    assert differences(summary({"a": 1}), summary({"c": 1})) == ["a: is gone", "c: is new"]


def test_one_of_many_whole_numbers_or_one_that_is_not_finite_is_a_difference():
    numbers = np.arange(100)
    assert differences(summary(numbers), summary(numbers.astype(np.int32))) == []
    assert differences(summary(numbers), summary(np.where(numbers == 70, 0, numbers)))
    reals = numbers.astype(float)
    assert differences(summary(reals), summary(np.where(numbers == 0, np.nan, reals)))


def test_a_value_is_renewed_with_a_raised_version_only():
    look, renew, force = Expected(False, False), Expected(True, False), Expected(True, True)
    with pytest.raises(
        AssertionError, match=r'core x \(version 1\): no stored value for "x"; add it:'
    ):
        look.check("f", "x", {"core x": 1}, {"a": 1.0})
    renew.check("f", "x", {"core x": 1}, {"a": 1.0})
    look.check("f", "x", {"core x": 1}, {"a": 1.0})
    for one in (look, renew):
        with pytest.raises(
            AssertionError, match=r"core x \(version 1\): raise its version or find out why"
        ):
            one.check("f", "x", {"core x": 1}, {"a": 2.0})
    look.check("f", "x", {"core x": 1}, {"a": 1.0})
    with pytest.raises(AssertionError, match=r"versions were .* store the new value"):
        look.check("f", "x", {"core x": 2}, {"a": 2.0})
    renew.check("f", "x", {"core x": 2}, {"a": 2.0})
    look.check("f", "x", {"core x": 2}, {"a": 2.0})
    force.check("f", "x", {"core x": 2}, {"a": 3.0})
    look.check("f", "x", {"core x": 2}, {"a": 3.0})


def test_what_no_component_stands_for_is_dropped():
    renew = Expected(True, False)
    renew.check("f", "x", {"core x": 1}, 1)
    with pytest.raises(AssertionError, match=r"\['x'\]"):
        Expected(False, False).names("f", ["y"])
    renew.names("f", ["y"])
    assert store.read("f") == {}


def test_texts_show_their_difference():
    renew, look = Expected(True, False), Expected(False, False)
    renew.text("t.txt", "one\ntwo 0.12345678901\n")
    look.text("t.txt", "one\ntwo 0.12345678902\n")
    with pytest.raises(
        AssertionError, match=r"(?s)t.txt changed; look at it.*-two 0.123456789\n\+three"
    ):
        look.text("t.txt", "one\nthree\n")


def test_pages_are_compared_by_their_text():
    page = (
        "<style>p {}</style><p class='x'>a &lt;"
        " <b>b</b></p>\n<script>1</script><svg><text>c</text></svg>"
    )
    assert page_text(page) == "a <\nb\nc"


def test_those_are_blamed_that_explain_most_of_what_failed():
    """Even if an entry that rests on them was too coarse to notice; others come after them, by what
    is left.
    """
    runs = [({f"core {n}", "training t"}, n == 7) for n in range(8)]
    cores = [({f"core {n}", "training s"}, True) for n in range(8)]
    assert blamed([*runs, *cores]) == ["training t: 7 of 8 entries differ"]
    other = [({"task x"}, False), ({"task x", "training s"}, False)]
    assert blamed([*runs, *cores, *other]) == [
        "training t: 7 of 8 entries differ",
        "task x: 2 of 2 entries differ",
    ]


def test_a_component_is_not_blamed_for_what_another_explains():
    runs = [({"task x", "training t"}, False), ({"task x", "core a"}, False), ({"core a"}, True)]
    assert blamed([*runs, ({"task x"}, False)]) == ["task x: 3 of 3 entries differ"]
    assert blamed([({"protocol p", "control c"}, False)]) == [
        "control c or protocol p: 1 of 1 entries differ"
    ]


def test_a_change_that_only_entries_of_its_own_show_is_blamed_on_their_component():
    own = f"training t{store.OWN}"
    ordinary = [({"core a", "training t"}, True), ({"core a", "training s"}, True)] * 3
    forms = [({"core a", "training t", own}, held) for held in (False, True, True)]
    assert blamed([*ordinary, *forms]) == [f"{own}: 1 of 3 entries differ"]
    alone = [({"learner x", f"learner x{store.OWN}"}, False)]
    assert blamed(alone) == ["learner x: 1 of 1 entries differ"]
    noted = []
    Expected(True, False, lambda _, names: noted.append(names)).check(
        "f", "core a: run", {"task x": 1, "core a": 1}, 1
    )
    assert noted == [["core a", "task x", f"core a{store.OWN}"]]


def test_other_code_is_told_and_renewed_without_a_version():
    was, now = {"core x": {"version": 1, "code": "a"}}, {"core x": {"version": 1, "code": "b"}}
    Expected(True, False).code("c", was)
    Expected(False, False).code("c", was)
    with pytest.raises(AssertionError, match="core x: code changed, version 1 did not"):
        Expected(False, False).code("c", now)
    Expected(True, False).code("c", now)
    Expected(False, False).code("c", now)
