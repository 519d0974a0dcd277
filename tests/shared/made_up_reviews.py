"""A made-up copy of the Large Movie Review Dataset, in each of its layouts, for tests that must not
need it.
"""

from __future__ import annotations

import io
import lzma
import pathlib
import tarfile

import numpy as np

from quickstudy.data.imdb import LABELS, SPLITS

PRAISE, BLAME = (
    ("splendid", "moving", "clever", "warm", "superb"),
    ("dull", "silly", "clumsy", "bleak", "tedious"),
)
FILLER = (
    "the",
    "film",
    "plot",
    "actor",
    "was",
    "and",
    "a",
    "bit",
    "scene",
    "music",
    "naïve",
    "café",
    "it's",
    "long",
)


def made_up_reviews(rng: np.random.Generator, count: int = 12) -> dict[str, bytes]:
    """`count` reviews for either label of either part, by their path within `aclImdb`.

    Opinions are one or two words among fillers; one review in six states its rating; some hold a
    line break, accents, or a tab.
    """
    files = {}
    for split in SPLITS:
        for label, (name, opinions) in enumerate(zip(LABELS, (BLAME, PRAISE), strict=True)):
            for number in range(count):
                words = rng.choice(FILLER, size=rng.integers(3, 20)).tolist()
                for opinion in rng.choice(opinions, size=rng.integers(1, 3)):
                    words.insert(int(rng.integers(len(words) + 1)), str(opinion))
                rating = int(rng.integers(1, 5)) + 6 * label
                if number % 6 == 0:
                    words.append(f"{rating}/10.")
                if number % 4 == 0:
                    words.insert(2, "<br /><br />")
                blank = "\t" if number % 5 == 0 else " "
                files[f"{split}/{name}/{number}_{rating}.txt"] = (
                    f"{words[0]}{blank}{' '.join(words[1:])}".encode()
                )
    return files


def write_reviews(folder: pathlib.Path, files: dict[str, bytes], layout: str) -> pathlib.Path:
    """Write reviews into a folder in one of the layouts, by its name, and give the path of it."""
    path = folder / layout
    folder.mkdir(parents=True, exist_ok=True)
    if layout == "aclImdb":
        for name, text in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(text)
    elif layout.endswith(".xz"):
        path.write_bytes(
            lzma.compress("".join(_line(name, text) for name, text in files.items()).encode())
        )
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(f"aclImdb/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    return path


def _line(name: str, text: bytes) -> str:
    split, label, file = name.split("/")
    number, rating = file.removesuffix(".txt").split("_")
    return "\t".join((split, label, number, rating, text.decode().replace("\t", " "))) + "\n"
