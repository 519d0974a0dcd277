from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quickstudy.cores.sizing import matched_units, published_units


def parameters(units, width, gates):
    """Weights from inputs, from units, two biases, for every gate; then the output layer."""
    return gates * (units * width + units * units + 2 * units) + units * width + width


@given(st.integers(1, 100), st.integers(1, 3000), st.sampled_from([1, 3, 4]))
def test_matched_is_the_largest_within_the_budget(width, budget, gates):
    units = matched_units(width, budget, gates)
    assert units >= 1
    assert parameters(units, width, gates) <= budget * width or units == 1
    assert parameters(units + 1, width, gates) > budget * width


def test_the_published_formula():
    vocabularies = (2, 15, 18, 16, 25, 29, 45, 38, 51)
    assert [published_units(v, 1800) for v in vocabularies] == [62, 180, 198, 186, 238, 259, 333, 302, 358]


def test_what_the_published_formula_meant():
    """Solving h^2 + 2 h V = 1800 V with the right sign gives sizes that are 2 V smaller."""
    intended = {2: 58, 15: 150, 18: 162, 16: 154, 25: 188, 29: 201, 45: 243, 38: 226, 51: 256}
    for width, units in intended.items():
        assert published_units(width, 1800) - 2 * width == units
        assert matched_units(width, 1800, gates=1, biases=False) == units
        assert units**2 + 2 * units * width <= 1800 * width < (units + 1) ** 2 + 2 * (units + 1) * width
