"""Compiled programs: kept apart by processor and versions, and never half a one."""

import ast
import os
import subprocess
import sys
import threading

import pytest

from quickstudy.base import hardware
from quickstudy.base.hardware import compile_cache
from quickstudy.runs.provenance import compiled_on


def test_the_folder_depends_on_processor_and_versions(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = {compile_cache("jax", "1"), compile_cache("jax", "2"), compile_cache("numba", "1")}
    monkeypatch.setattr(hardware, "_processor_features", lambda: "avx1024")
    found.add(compile_cache("jax", "1"))
    assert len(found) == 4
    assert compile_cache("jax", "1") in found
    assert all(one.is_relative_to(tmp_path / "quickstudy") for one in found)


def test_a_home_on_a_network_has_its_cache_on_the_local_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(hardware.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(hardware, "_on_network", lambda folder: "home" in folder.parts)
    own = tmp_path / f"quickstudy-{os.getuid()}"
    assert compile_cache("jax").is_relative_to(own)
    assert own.stat().st_mode & 0o777 == 0o700
    # Who can write there decides what is run.
    own.chmod(0o777)
    assert compile_cache("jax").is_relative_to(tmp_path / "home")


def test_several_processes_see_whole_programs_only(tmp_path):
    pytest.importorskip("jax")
    from quickstudy.jax_gateway import jax  # noqa: F401

    lru_cache = sys.modules["jax._src.lru_cache"]
    cache, other = (lru_cache.LRUCache(str(tmp_path), max_size=-1) for _ in range(2))
    value = bytes(range(256)) * 40_000
    seen = []

    def read():
        while not seen or seen[-1] is None:
            seen.append(other.get("key"))

    reader = threading.Thread(target=read)
    reader.start()
    cache.put("key", value)
    reader.join()
    assert seen[-1] == value
    cache.put("key", b"another")
    assert other.get("key") == value
    assert [path.name for path in tmp_path.iterdir()] == ["key-cache"]


COUNT = """
from quickstudy.jax_gateway import cache_counts, jax, jnp
for _ in range(2):
    jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((8, 8)))
    print(cache_counts())
    jax.clear_caches()
"""


def test_programs_found_and_compiled_are_counted(tmp_path):
    pytest.importorskip("jax")
    some = {"XDG_CACHE_HOME": str(tmp_path), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    environment = {**os.environ, **some}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    command = [sys.executable, "-c", COUNT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    first, second = map(ast.literal_eval, done.stdout.splitlines())
    assert first["misses"] > 0
    assert second == {"hits": first["hits"] + first["misses"], "misses": first["misses"]}


def test_the_runs_of_one_call_count_once():
    class Run:
        def __init__(self, host, started, hits, misses):
            self.where = {"machine": {"host": host}, "started": started}
            self.where["programs"] = {"hits": hits, "misses": misses}

    runs = [Run("a", 1.0, 2, 3), Run("a", 1.0, 2, 3), Run("a", 2.0, 1, 0), Run("b", 1.0, 0, 4)]
    assert compiled_on(runs) == {
        "a": {"hits": 3, "misses": 3},
        "b": {"hits": 0, "misses": 4},
    }
