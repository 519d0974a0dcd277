from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_places(tmp_path, monkeypatch):
    """No test finds the user's data, cache or leave to download."""
    monkeypatch.delenv("QUICKSTUDY_DATA", raising=False)
    monkeypatch.delenv("QUICKSTUDY_DOWNLOAD", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
