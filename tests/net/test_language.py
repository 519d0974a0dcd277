"""Every core with its usual training in the family `language`. One file a family: they share
workers.
"""

from __future__ import annotations

import pytest

from tiny_runs import check_core, ids


@pytest.mark.parametrize("core", ids("core"))
def test_cores(core, expected):
    check_core(core, "language", expected)


def test_no_other_cores_are_stored(expected):
    expected.names("language", [f"{core} in language" for core in ids("core")])
