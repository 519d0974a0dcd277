from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.canonical import canonical, digest, plain

numbers = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers()
    | st.booleans()
    | st.none()
    | st.text()
)
values = st.recursive(
    numbers,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
)


@given(values)
def test_plain_values_survive(value):
    assert json.loads(canonical(value)) == value
    assert plain(value) == value
    assert plain(plain(value)) == plain(value)


@given(st.dictionaries(st.text(max_size=5), numbers, max_size=6))
def test_the_order_of_names_does_not_matter(facts):
    backwards = dict(reversed(facts.items()))
    assert canonical(backwards) == canonical(facts)
    assert digest(backwards) == digest(facts)


@given(st.lists(st.floats(), max_size=5))
def test_numbers_that_are_not_finite_have_a_spelling(values):
    read = json.loads(
        canonical(values), parse_constant=lambda name: pytest.fail(f"bare {name} in strict JSON")
    )
    for value, found in zip(values, read, strict=True):
        assert float(found) == value or (math.isnan(value) and found == "nan")


def test_numpy_values_are_plain_numbers():
    value = {
        "a": np.int64(3),
        "b": np.float32(0.5),
        "c": np.array([[1.0, np.inf]]),
        "d": np.bool_(True),
        "e": (1, 2),
    }
    assert plain(value) == {"a": 3, "b": 0.5, "c": [[1.0, "inf"]], "d": True, "e": [1, 2]}
    assert canonical({3, 1, 2}) == "[1,2,3]"
    assert canonical({1: "x"}) == '{"1":"x"}'


def test_a_digest_is_the_sha256_of_the_text():
    assert canonical({"b": 1.0, "a": "ä"}) == '{"a":"\\u00e4","b":1.0}'
    assert digest({}) == hashlib.sha256(b"{}").hexdigest()


def test_whole_and_real_numbers_are_different_settings():
    assert digest(1) != digest(1.0)


def test_what_is_no_value_is_refused():
    with pytest.raises(TypeError):
        canonical({"x": object()})
