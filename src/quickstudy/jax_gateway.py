"""The one door to JAX: import it by `from quickstudy.jax_gateway import jax, jnp, eqx`.

Settings that must stand before JAX is imported are made here: one thread per process (so that
numbers depend on no number of cores, and workers do not fight), full float32 products, a
compilation cache that survives the process. float64 is used as a context (`with double():`), never
by the global flag.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import os
import pathlib
import threading
from typing import Any

from quickstudy.base.errors import MissingExtra
from quickstudy.base.hardware import compile_cache, gpu_memory, has_gpu

if has_gpu():
    # There, threads only compile, and no number depends on them. A worker has been given its share
    # of the memory, and takes it at once; another process has all that is allowed, and takes what
    # it needs.
    _share = gpu_memory(1)
    os.environ.update({**_share, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if _share else {})
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
else:
    os.environ.setdefault("NPROC", "1")
    os.environ.setdefault("PJRT_NPROC", "1")
    # Every call of a program takes memory and frees it. The C library would hand it back to the
    # system each time, and half of a short call would be spent in getting it again: the first 256
    # MB that are free stay (malloc.h: -1, the trim threshold; -3, the size from which memory is
    # mapped, at most 32 MB).
    if hasattr(ctypes.CDLL(None), "mallopt"):
        ctypes.CDLL(None).mallopt(-1, 1 << 28)
        ctypes.CDLL(None).mallopt(-3, 1 << 25)
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
# Autotuning tries out kernels on the spot: a minute of compilation on a GPU where one second does,
# and another choice, so another last bit, on another day. Untuned, the compiler's own products are
# slower than the library's.
for _flag in ("xla_gpu_autotune_level=0", "xla_gpu_enable_triton_gemm=false"):
    if _flag.partition("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --{_flag}".strip()
with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # reported below
    _versions = [importlib.metadata.version(name) for name in ("jax", "jaxlib")]
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(compile_cache("jax", *_versions)))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")

try:
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "jax", "learners") from error

__all__ = [
    "cache_counts",
    "compile_seconds",
    "device_kind",
    "device_memory",
    "double",
    "eqx",
    "handed_over",
    "jax",
    "jnp",
    "key_from_words",
    "lax",
    "optax",
    "programs",
]

_compile_seconds = 0.0
_programs: list[str] = []


def _count(event: str, duration_secs: float, **said: str | int) -> None:
    global _compile_seconds
    if event.startswith("/jax/core/compile/"):
        _compile_seconds += duration_secs
    if event == "/jax/core/compile/backend_compile_duration":
        _programs.append(str(said.get("fun_name", "")))


jax.monitoring.register_event_duration_secs_listener(_count)

_cached = {"hits": 0, "misses": 0}


def _count_cached(event: str, **said: str | int) -> None:
    kind = event.removeprefix("/jax/compilation_cache/cache_")
    if kind in _cached:
        _cached[kind] += 1


jax.monitoring.register_event_listener(_count_cached)


def cache_counts() -> dict[str, int]:
    """Programs that this process has so far found in the cache on disk (`hits`), and those that it
    had to compile and has put there (`misses`).
    """
    return dict(_cached)


def _write_whole_entries() -> None:
    """Let a program appear in the cache only once all of it is written.

    JAX writes an entry in place. A process that reads it at that moment warns and compiles again,
    and so does every later one if the writer was killed: the entry is never replaced. A cache with
    a maximum size is left alone, since JAX locks that one. The class is private to JAX; where it is
    missing, entries are written as JAX does it.
    """
    with contextlib.suppress(ImportError):
        from jax._src.lru_cache import LRUCache

        private: Any = LRUCache
        in_place = private.put

        def put(cache: Any, key: str, value: bytes) -> None:
            entry = cache.path / f"{key}-cache"
            if cache.eviction_enabled or not isinstance(entry, pathlib.Path):
                in_place(cache, key, value)
            elif not entry.exists():
                name = f"{key}.{os.getpid()}.{threading.get_ident()}"
                part = entry.with_name(f"{name}-cache")
                part.unlink(missing_ok=True)  # of a killed process that had the same number
                in_place(cache, name, value)
                part.replace(entry)

        private.put = put


_write_whole_entries()


def compile_seconds() -> float:
    """Seconds this process has spent so far in tracing, lowering and compiling."""
    return _compile_seconds


def programs() -> tuple[str, ...]:
    """The programs that this process has compiled so far, or found in the cache, as
    `jit(function)`.
    """
    return tuple(_programs)


def device_kind() -> str:
    """`cpu`, `gpu` or `tpu`: numbers are bit-identical within a kind only."""
    return str(jax.default_backend())


def device_memory() -> int | None:
    """Bytes that this process may take on its device; None where they are not limited, as on a
    CPU.
    """
    limit = (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit")
    return None if limit is None else int(limit)


def double() -> Any:
    """A context in which float64 is float64."""
    return jax.enable_x64(True)


@jax.jit
def handed_over(arrays: Any) -> Any:
    """A tree of arrays of the host, on the device, in one call: one by one, every new shape would
    be a program of its own (16 ms to compile, measured), every array a call. Do not change them
    afterwards: large ones are not copied.
    """
    return arrays


def key_from_words(words: Any) -> Any:
    """A threefry key from two 32-bit words."""
    return jax.random.wrap_key_data(jnp.asarray(words, dtype=jnp.uint32), impl="threefry2x32")
