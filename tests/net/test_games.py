"""Every core with its usual training in the family `games`. One file a family: they share workers."""

from __future__ import annotations

import pytest

from tiny_runs import ids, outcome, usual


@pytest.mark.parametrize("core", ids("core"))
def test_cores(core, expected):
    versions, found = outcome(usual(core, "games"))
    expected.check("games", f"{core} in games", versions, found)


def test_no_other_cores_are_stored(expected):
    expected.names("games", [f"{core} in games" for core in ids("core")])
