from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import (
    all_parameters,
    alternatives,
    changed_parameters,
    configure,
    parameter,
    parameters_of,
    parse_assignments,
    write_assignments,
)


@dataclass(frozen=True)
class Thing:
    """A component with one parameter of every kind."""

    units: int = parameter(10, at_least=1, at_most=500)
    leak: float = parameter(0.5, above=0, at_most=1)
    radius: float | None = parameter(None, above=0)
    rule: str = parameter("sum", choices=("sum", "mean", "none"))
    loud: bool = False
    delays: tuple[int, ...] = (1, 2)
    mixed: int | str = 3

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"units": 20, "leak": 1.0}
    }


@dataclass(frozen=True)
class Related:
    """Two parameters that must fit each other, one of them without a default."""

    low: int
    high: int = 5

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low must be at most high ({self.high}), got {self.low}")


def make(text: str = "", convention: str = "corrected") -> Thing:
    return configure("thing", Thing, parse_assignments(text), convention)


def test_text_becomes_the_declared_type():
    made = make("units=200,leak=0.3,radius=2,rule=mean,loud=yes,delays=3/5/7,mixed=4")
    assert made == Thing(200, 0.3, 2.0, "mean", True, (3, 5, 7), 4)
    assert isinstance(made.radius, float)
    assert make("mixed=four").mixed == "four"
    assert make("radius=none").radius is None
    assert make("delays=4").delays == (4,)


@pytest.mark.parametrize("word", ["true", "Yes", "on", "1"])
def test_words_for_yes(word):
    assert make(f"loud={word}").loud is True


@pytest.mark.parametrize("word", ["false", "NO", "off", "0"])
def test_words_for_no(word):
    assert configure("thing", Thing, {"loud": word}).loud is False


def test_values_are_taken_as_they_are_and_whole_numbers_as_real_ones():
    made = configure(
        "thing", Thing, {"units": 3, "leak": 1, "radius": None, "delays": [4, 5], "loud": True}
    )
    assert made == Thing(3, 1.0, None, delays=(4, 5), loud=True)
    assert isinstance(made.leak, float)
    assert isinstance(made.delays, tuple)


def test_a_text_may_be_none_where_nothing_cannot():
    assert make("rule=none").rule == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("units=-5", "thing: units must be at least 1 and at most 500, got -5"),
        ("units=501", "thing: units must be at least 1 and at most 500, got 501"),
        ("leak=0", "thing: leak must be at most 1 and above 0, got 0.0"),
        ("leak=nan", "thing: leak must be a finite number, got nan"),
        ("leak=inf", "thing: leak must be a finite number, got inf"),
        ("units=1.5", 'thing: units must be a whole number, got "1.5"'),
        ("units=many", 'thing: units must be a whole number, got "many"'),
        ("units=none", 'thing: units must be a whole number, got "none"'),
        ("radius=big", 'thing: radius must be a number or none, got "big"'),
        ("loud=perhaps", 'thing: loud must be true or false, got "perhaps"'),
        ("delays=1/x", 'thing: delays must be tuple, got "1/x"'),
        ("rule=summ", 'thing: rule must be one of sum, mean, none, got summ; did you mean "sum"?'),
        ("unit=5", 'thing: no parameter "unit"; did you mean "units"?'),
        (
            "conventions=5",
            (
                'thing: no parameter "conventions"; known: delays, leak, loud, mixed, radius, rule,'
                " units"
            ),
        ),
        ("units", '"units" is not of the form name=value'),
        ("=3", '"=3" is not of the form name=value'),
        ("units=1,units=2", 'parameter "units" is given twice'),
    ],
)
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(UsageError) as caught:
        make(text)
    assert str(caught.value).replace("tuple[int, ...]", "tuple") == message


@pytest.mark.parametrize("value", [True, 2.0, [1], None])
def test_values_of_another_type_are_refused(value):
    with pytest.raises(UsageError, match="thing: units must be a whole number"):
        configure("thing", Thing, {"units": value})


def test_a_component_says_how_its_parameters_belong_together():
    assert configure("related", Related, {"low": "2"}) == Related(2)
    with pytest.raises(UsageError, match=r"^related: low must be at most high \(5\), got 6$"):
        configure("related", Related, {"low": "6"})
    with pytest.raises(UsageError, match=r"^related: low must be given$"):
        configure("related", Related, {})


def test_a_convention_changes_defaults_and_never_what_was_given():
    assert make("", "published") == Thing(units=20, leak=1.0)
    assert make("units=10", "published") == Thing(units=10, leak=1.0)
    assert make("", "written") == Thing()
    with pytest.raises(UsageError, match=r'no convention "publishd"; did you mean "published"\?'):
        make("", "publishd")


def test_a_preset_is_checked_like_what_a_user_gives():
    @dataclass(frozen=True)
    class Wrong(Thing):
        conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"units": 0}}

    with pytest.raises(UsageError, match="units must be at least 1"):
        configure("wrong", Wrong, {}, "published")


def test_what_a_user_has_to_type():
    assert changed_parameters(make("units=20,radius=2.5")) == {"units": 20, "radius": 2.5}
    assert changed_parameters(make("units=20,leak=1"), "published") == {}
    assert changed_parameters(Related(2)) == {"low": 2, "high": 5}
    assert parameters_of(Thing())["delays"] == [1, 2]
    assert parameters_of(object()) == {}


@dataclass(frozen=True)
class Grown(Thing):
    """The same component, which has got two parameters since; one of them has a preset."""

    precision: str = parameter("float32", choices=("float32", "float64"), added=True)
    pause: int = parameter(0, at_least=0, added=True)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"pause": 3}}


def test_a_parameter_added_later_is_no_part_of_the_identity_while_it_has_its_default():
    assert parameters_of(Grown()) == {**parameters_of(Thing()), "pause": 0}
    assert parameters_of(Grown(precision="float64"))["precision"] == "float64"
    assert all_parameters(Grown())["precision"] == "float32"
    assert changed_parameters(Grown(precision="float64")) == {"precision": "float64"}
    for convention, thing in (
        ("corrected", Grown(pause=3)),
        ("published", Grown()),
        ("published", Grown(pause=3)),
    ):
        assert configure("", Grown, changed_parameters(thing, convention), convention) == thing
        assert configure("", Grown, parameters_of(thing), convention) == thing
    with pytest.raises(UsageError, match="precision must be one of float32, float64"):
        configure("", Grown, {"precision": "half"})


things = st.builds(
    Thing,
    units=st.integers(1, 500),
    leak=st.floats(0.001, 1),
    radius=st.none() | st.floats(0.01, 1e6),
    rule=st.sampled_from(["sum", "mean", "none"]),
    loud=st.booleans(),
    delays=st.lists(st.integers(-9, 99), min_size=1).map(tuple),
    mixed=st.integers(),
)


@given(things, st.sampled_from(["corrected", "published"]))
def test_labels_and_json_make_the_same_component_again(thing, convention):
    changed = changed_parameters(thing, convention)
    assert configure("", Thing, parse_assignments(write_assignments(changed)), convention) == thing
    assert configure("", Thing, json.loads(json.dumps(parameters_of(thing)))) == thing
    assert set(changed) <= {field.name for field in dataclasses.fields(Thing)}


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]+", fullmatch=True), st.from_regex(r"[a-z0-9./-]*", fullmatch=True)
    )
)
def test_assignments_are_read_as_written(values):
    assert parse_assignments(write_assignments(values)) == values


@pytest.mark.parametrize(
    ("name", "several"),
    [
        ("lstm", ["lstm"]),
        ("esn:units=5", ["esn:units=5"]),
        ("esn:units=5|6", ["esn:units=5", "esn:units=6"]),
        ("my|model.py:Model:width=1|2", ["my|model.py:Model:width=1", "my|model.py:Model:width=2"]),
        (
            "relearning:learner=esn|lstm,every=9",
            ["relearning:learner=esn,every=9", "relearning:learner=lstm,every=9"],
        ),
    ],
)
def test_several_values_are_several_names(name: str, several: list[str]) -> None:
    assert alternatives(name) == several


def test_a_name_stands_for_no_more_than_can_be_run() -> None:
    with pytest.raises(
        UsageError, match="stands for 1,048,576 learners; give at most 10,000 at once"
    ):
        alternatives("esn:" + ",".join(f"p{number}=1|2" for number in range(20)))
