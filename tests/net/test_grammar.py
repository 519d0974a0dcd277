"""Every core with its usual training in the family `grammar`. One file a family: they share
workers.
"""

from __future__ import annotations

import pytest

from tiny_runs import check_core, ids


@pytest.mark.parametrize("core", ids("core"))
def test_cores(core, expected):
    check_core(core, "grammar", expected)


def test_no_other_cores_are_stored(expected):
    expected.names("grammar", [f"{core} in grammar" for core in ids("core")])
