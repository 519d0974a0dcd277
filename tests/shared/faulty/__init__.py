"""Faulty specimens, each with one fault that a checker must catch. Not registered: nobody runs them
by mistake.

Honest ones are among them: whatever has the fault "none".
"""

from __future__ import annotations

from faulty.actors import ACTORS, PLAYERS, FaultyPlayer, FaultyPuller
from faulty.cores import FaultyCore
from faulty.learners import (
    CarriesOver,
    Cribber,
    GlobalSeeder,
    Guesser,
    Hasty,
    LastAnswer,
    NotFinite,
    Peeker,
    Scribbler,
    Table,
    WrongShape,
)
from faulty.readers import READERS, SPEAKERS, FaultyReader, FaultySpeaker
from faulty.tasks import (
    SERIES,
    FaultySeries,
    Forgetful,
    OutOfVocabulary,
    OwnStream,
    SharedStream,
    Silent,
    WrongOracle,
)
from faulty.worlds import PURE_WORLDS, WORLDS, FaultyLevers, FaultyPureLevers

__all__ = [
    "ACTORS",
    "PLAYERS",
    "PURE_WORLDS",
    "READERS",
    "SERIES",
    "SPEAKERS",
    "WORLDS",
    "CarriesOver",
    "Cribber",
    "FaultyCore",
    "FaultyLevers",
    "FaultyPlayer",
    "FaultyPuller",
    "FaultyPureLevers",
    "FaultyReader",
    "FaultySeries",
    "FaultySpeaker",
    "Forgetful",
    "GlobalSeeder",
    "Guesser",
    "Hasty",
    "LastAnswer",
    "NotFinite",
    "OutOfVocabulary",
    "OwnStream",
    "Peeker",
    "Scribbler",
    "SharedStream",
    "Silent",
    "Table",
    "WrongOracle",
    "WrongShape",
]
