"""Every core with its usual training in the family `curriculum`. One file a family: they share
workers.
"""

from __future__ import annotations

import pytest

from tiny_runs import check_core, ids


@pytest.mark.parametrize("core", ids("core"))
def test_cores(core, expected):
    check_core(core, "curriculum", expected)


def test_no_other_cores_are_stored(expected):
    expected.names("curriculum", [f"{core} in curriculum" for core in ids("core")])
