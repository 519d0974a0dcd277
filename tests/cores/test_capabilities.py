"""A core says what it can do by one value; a name that is not one of its fields is an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import Capabilities, Core
from quickstudy.jax_gateway import jnp

CORES = [one.id for one in registries.core.entries() if one.origin.startswith("/")]


def built(name):
    return registries.core.get(name)().build(Tokens(4), np.random.default_rng(0))


@pytest.mark.parametrize("name", CORES)
def test_what_a_core_says_it_overrides(name):
    core = built(name)
    can = core.capabilities
    assert isinstance(can, Capabilities)
    assert can.packs == (type(core).unroll_packed is not Core.unroll_packed)
    assert can.selects == (type(core).unroll_at is not Core.unroll_at)
    assert can.straightens == hasattr(core, "straight")
    assert not can.stops or can.selects


def test_a_capability_is_not_a_property_of_its_own():
    with pytest.raises(UsageError, match=r"Odd\.noisy: a core declares this by its capabilities"):

        class Odd(Core):
            @property
            def noisy(self):
                return True


def test_a_typo_is_an_error():
    with pytest.raises(TypeError, match="noise"):
        replace(Capabilities(), noise=True)


def test_packed_sequences_are_refused_by_name():
    with pytest.raises(NotApplicable, match="EchoStateCore does not read packed sequences"):
        built("esn").unroll_packed((1,), jnp.array([1]), jnp.zeros(1, jnp.int32))
