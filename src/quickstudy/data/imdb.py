"""The Large Movie Review Dataset (Maas et al. 2011): 50,000 labelled reviews of films with their
official split.

Cite: Maas, Daly, Pham, Huang, Ng and Potts, "Learning Word Vectors for Sentiment Analysis", ACL
2011. It has no formal licence; the texts belong to those who wrote them.
"""

from __future__ import annotations

import lzma
import pathlib
import re
import tarfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from quickstudy.base.errors import UsageError
from quickstudy.data.locate import DataSet

IMDB = DataSet(
    id="imdb",
    title="the Large Movie Review Dataset",
    layouts=("imdb_labelled.tsv.xz", "aclImdb", "aclImdb_v1.tar.gz"),
    home="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    archive="aclImdb_v1.tar.gz",
    checksum="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
)

SPLITS, LABELS = ("train", "test"), ("neg", "pos")
_NAME = re.compile(
    r"(?:^|/)(?P<split>train|test)/(?P<label>neg|pos)/(?P<id>\d+)_(?P<rating>\d+)\.txt$"
)
_BLANKS = str.maketrans("\t\n\r", "   ")


class Review(NamedTuple):
    """split: `train` or `test`. label: 0 negative, 1 positive. id: its number within split and
    label. rating: stars out of ten, 1 to 4 or 7 to 10. text: unchanged, with tabs and line
    breaks turned to spaces.
    """

    split: str
    label: int
    id: int
    rating: int
    text: str


def read_imdb(path: pathlib.Path) -> list[Review]:
    """All labelled reviews, by split (training first), label and number: the same for any
    layout.

    path: the folder `aclImdb` (`train/pos/ID_RATING.txt` and so on), the archive it comes in, or
    one file of tab separated lines `split, label, id, rating, text`, packed with xz. Raises
    UsageError for anything else.
    """
    if path.is_dir():
        found: Iterable[Review] = _from_folder(path)
    elif path.name.endswith(".tsv.xz"):
        found = _from_lines(path)
    else:
        found = _from_archive(path)
    reviews = sorted(found, key=lambda review: (SPLITS.index(review.split), *review[1:3]))
    empty = [split for split in SPLITS if not any(review.split == split for review in reviews)]
    if empty:
        raise UsageError(
            f"{path} holds no review under {empty[0]}/neg or {empty[0]}/pos; is it the whole of"
            " aclImdb?"
        )
    return reviews


def _from_folder(path: pathlib.Path) -> Iterator[Review]:
    files = (
        file for split in SPLITS for label in LABELS for file in path.glob(f"{split}/{label}/*.txt")
    )
    return _named((file.relative_to(path).as_posix(), file.read_bytes()) for file in files)


def _from_archive(path: pathlib.Path) -> list[Review]:
    try:
        with tarfile.open(path, "r:gz") as archive:
            wanted = (member for member in archive if _NAME.search(member.name))
            pairs = ((member.name, archive.extractfile(member)) for member in wanted)
            return list(_named((name, file.read()) for name, file in pairs if file is not None))
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UsageError(
            f"{path} cannot be read as an archive: {error}; fetch it again from {IMDB.home}"
        ) from error


def _named(files: Iterable[tuple[str, bytes]]) -> Iterator[Review]:
    for name, content in files:
        parts = _NAME.search(name)
        if parts is None:
            raise UsageError(f"{name} is not named ID_RATING.txt, as the reviews of aclImdb are")
        text = content.decode("utf-8").translate(_BLANKS)
        yield Review(
            parts["split"],
            LABELS.index(parts["label"]),
            int(parts["id"]),
            int(parts["rating"]),
            text,
        )


def _from_lines(path: pathlib.Path) -> Iterator[Review]:
    try:
        # Not splitlines: a review may hold characters that Unicode counts as line breaks.
        lines = lzma.decompress(path.read_bytes()).decode("utf-8").removesuffix("\n").split("\n")
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}; it should be UTF-8 text packed with xz"
        ) from error
    for number, line in enumerate(lines, 1):
        try:
            split, label, id, rating, text = line.split("\t")
            if split not in SPLITS:
                raise ValueError(split)
            yield Review(split, LABELS.index(label), int(id), int(rating), text)
        except ValueError as error:
            raise UsageError(
                f"{path}, line {number}: wanted split, label, id, rating and text between tabs, got"
                f" {line[:60]!r}"
            ) from error
