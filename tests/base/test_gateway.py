"""Compiled programs that are kept on disk."""

from __future__ import annotations

import pathlib

import pytest

pytest.importorskip("jax")

from jax._src.lru_cache import LRUCache

import quickstudy.jax_gateway  # noqa: F401  it changes how entries are written


class Killed(BaseException):
    """The process ends here."""


def killed_while_writing(path, value):
    with path.open("wb") as file:
        file.write(value[: len(value) // 2])
    raise Killed


def test_an_entry_of_the_cache_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    cache = LRUCache(str(tmp_path), max_size=-1)
    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "write_bytes", killed_while_writing)
        with pytest.raises(Killed):
            cache.put("key", b"program")
    assert cache.get("key") is None
    cache.put("key", b"program")
    assert cache.get("key") == b"program"
    cache.put("key", b"another")
    assert cache.get("key") == b"program"
