"""Recordings of speech in the user's own folders: waves, as RIFF or as NIST's SPHERE."""

from __future__ import annotations

import pathlib
import re
import wave
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.data.locate import DataSet, find

TI46 = DataSet(
    "ti-46",
    "the TI-46 recordings (ten digits)",
    ("ti46", "ti20"),
    "https://catalog.ldc.upenn.edu/LDC93S9 (licensed, no copy may be passed on)",
    archive="",
    checksum="",
)
_NAME = re.compile(r"^(0\d)([fm]\d)s\w*\.wav$", re.IGNORECASE)
"""Of a file: the digit as two figures, the speaker, the session; folders `train` and `test` say
what it is for.
"""


class Utterance(NamedTuple):
    """sound: -1 .. 1. tested: whether it lies in a folder `test`."""

    digit: int
    speaker: str
    tested: bool
    rate: int
    sound: NDArray[np.float64]


def ti46(speakers: tuple[str, ...]) -> list[Utterance]:
    """The digits that some speakers say, in the order of their paths. Raises UsageError for a
    folder without any.
    """
    folder = find(TI46)
    found = []
    for path in sorted(folder.rglob("*")):
        name = _NAME.match(path.name)
        if name and name[2].lower() in speakers:
            parts = {part.lower() for part in path.relative_to(folder).parts}
            found.append(
                Utterance(int(name[1]), name[2].lower(), "test" in parts, *read_wave(path))
            )
    if not found:
        raise UsageError(
            f"{folder} has no files such as train/f1/00f1set0.wav of the speakers"
            f" {', '.join(speakers)}"
        )
    return found


def read_wave(path: pathlib.Path) -> tuple[int, NDArray[np.float64]]:
    """Samples a second, and 16-bit samples as -1 .. 1. Raises UsageError for anything else."""
    content = path.read_bytes()
    if content.startswith(b"NIST_1A"):
        return _sphere(path, content)
    try:
        with wave.open(str(path), "rb") as file:
            if file.getsampwidth() != 2 or file.getnchannels() != 1:
                raise UsageError(f"{path} must have one channel of 16 bits")
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return file.getframerate(), samples / 32768.0
    except (wave.Error, EOFError) as error:
        raise UsageError(f"{path} is neither a RIFF nor a SPHERE wave: {error}") from None


def _sphere(path: pathlib.Path, content: bytes) -> tuple[int, NDArray[np.float64]]:
    try:
        size = int(content[8:16])
        facts = dict(
            line.split(" ", 2)[::2]
            for line in content[16:size].decode("ascii").split("\n")
            if " -" in line
        )
        kind = {"01": "<i2", "10": ">i2"}[facts.get("sample_byte_format", "01")]
        coding = facts.get("sample_coding", "pcm")
        rate = int(facts["sample_rate"])
    except (ValueError, KeyError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} has a SPHERE heading that cannot be read: {error}") from None
    if coding != "pcm":
        raise UsageError(f"{path} is compressed ({coding}); unpack it first, with NIST's w_decode")
    body = content[size:]
    return rate, np.frombuffer(body[: len(body) // 2 * 2], kind) / 32768.0
