"""Episodes that several tests look at, drawn once: the listener's game as published and corrected,
alone and with three distractors. Every setting is a program to compile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams

pytest.importorskip("jax")
DRAWN = 512


@lru_cache
def made(convention: str, distractors: int = 0, **more: Any) -> Any:
    from quickstudy.tasks.games.listener import Listener

    return configure(
        "games/listener", Listener, {"samples": 4, "distractors": distractors, **more}, convention
    )


@lru_cache
def drawn(convention: str, distractors: int = 0) -> Any:
    # With distractors and corrected, support games are played twice: one program serves both.
    more = {"repeats": 2} if distractors and convention == "corrected" else {}
    return made(convention, distractors, **more).episodes(
        Streams(5, "games", 0).jax("data"), 0, DRAWN
    )


@pytest.fixture(scope="session", name="made")
def _made():
    return made


@pytest.fixture(scope="session", name="drawn")
def _drawn():
    return drawn
