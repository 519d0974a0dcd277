"""Faulty specimens, each with one fault that a checker must catch. Not registered: nobody runs them by mistake.

Honest ones are among them: whatever has the fault "none".
"""

from __future__ import annotations

from quickstudy.testing.specimens.actors import ACTORS, PLAYERS, FaultyPlayer, FaultyPuller
from quickstudy.testing.specimens.cores import FaultyCore
from quickstudy.testing.specimens.learners import (
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
from quickstudy.testing.specimens.readers import READERS, SPEAKERS, FaultyReader, FaultySpeaker
from quickstudy.testing.specimens.tasks import (
    SERIES,
    FaultySeries,
    Forgetful,
    OutOfVocabulary,
    OwnStream,
    SharedStream,
    Silent,
    WrongOracle,
)
from quickstudy.testing.specimens.worlds import PURE_WORLDS, WORLDS, FaultyLevers, FaultyPureLevers

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
