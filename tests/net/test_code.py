"""The code of every component, by its fingerprint: a version that is not raised with it is
noticed.
"""

from __future__ import annotations

import pytest

from quickstudy.base.fingerprint import fingerprint
from quickstudy.base.registry import Registry
from tiny_runs import sources

KINDS = ("task", "core", "training", "learner", "control", "protocol", "measure")


@pytest.mark.parametrize("kind", KINDS)
def test_code(kind, expected):
    entries = Registry(kind, sources).entries()
    found = {
        f"{kind} {one.id}": {"version": one.version, "code": fingerprint(one.module)}
        for one in entries
    }
    expected.code(f"code-{kind}", found)
