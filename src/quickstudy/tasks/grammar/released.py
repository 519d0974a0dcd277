"""The released data sets: rebuilt from their own generator, and their file formats read and
written.

Source: Lan, Chemla and Katzir 2023. The only place with NumPy's legacy generator: it made what was
released.
"""

from __future__ import annotations

import io
import itertools
import pathlib
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import Derivation, wrapped

PASSWORD = b"1234"
"""Published with the data, to keep them out of the text that crawlers collect; no secret."""
LISTED = 15_000
"""Strings of every released test list."""


def training_strings(
    grammar: Derivation | Counting, seed: int, count: int
) -> list[NDArray[np.int8]]:
    """A training set as released: all draws from one stream, the shortest first, equally long ones
    as drawn.
    """
    if not 0 <= seed < 2**32:
        raise UsageError(
            f"the released strings are drawn with a seed from 0 to 2^32 - 1, got {seed}"
        )
    rng = np.random.RandomState(seed)
    if isinstance(grammar, Derivation):
        drawn = [wrapped(grammar.draw(rng.random_sample)) for _ in range(count)]
    else:
        drawn = [grammar.string([n]) for n in rng.geometric(float(grammar.chances[0]), count)]
    return sorted(drawn, key=len)


def grid_values(side: int) -> NDArray[np.int64]:
    """All pairs of the numbers 1 to `side`, by their sum, then by the first of them."""
    pairs = np.array(list(itertools.product(range(1, side + 1), repeat=2)))
    return pairs[np.argsort(pairs.sum(axis=1), kind="stable")]


def bracket_words(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The released list of balanced words, of these pairs of brackets. It is not exhaustive, though
    described so.

    Words of depth d are, for each pair, every word of depth d-1 within it followed by every one,
    then the empty word; they are taken depth after depth until there are enough different ones, and
    sorted by length.
    """
    words: list[tuple[int, ...]] = [()]
    found = dict.fromkeys(words)
    while True:
        deeper = []
        for (opening, closing), u, v in itertools.product(pairs, words, words):
            deeper.append((opening, *u, closing, *v))
            found[deeper[-1]] = None
            if len(found) == LISTED:
                return sorted(found, key=lambda word: (len(word), word))
        words = [*deeper, ()]


def read_strings(path: str | pathlib.Path, symbols: Sequence[str]) -> list[NDArray[np.int8]]:
    """The strings of a released file, one per line, from text or from an archive (`.zip`). Raises
    UsageError for a line that is not a string of these symbols.
    """
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    found = []
    for place, line in enumerate(
        _content(pathlib.Path(path)).decode("ascii", "replace").splitlines(), 1
    ):
        if len(line) < 2 or line[0] + line[-1] != "##" or not set(line[1:-1]) <= set(symbols[1:]):
            raise UsageError(
                f'{path}, line {place}: "{line[:40]}" is not a string of {" ".join(symbols[1:])}'
                " between two #"
            )
        found.append(np.array([numbers[symbol] for symbol in line], np.int8))
    return found


def write_strings(
    path: str | pathlib.Path, strings: Iterable[NDArray[np.int8]], symbols: Sequence[str]
) -> None:
    """As released: a string per line, no newline after the last. A name that ends in `.zip` makes
    an archive.
    """
    _write(
        pathlib.Path(path),
        "\n".join("".join(symbols[i] for i in string) for string in strings).encode("ascii"),
    )


def read_mask(path: str | pathlib.Path) -> NDArray[np.bool_]:
    """The array of a released mask."""
    try:
        with np.load(io.BytesIO(_content(pathlib.Path(path))), allow_pickle=False) as arrays:
            return np.asarray(arrays["data"])
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"{path}: no released mask, which is an npz with an array data: {error}"
        ) from error


def write_mask(path: str | pathlib.Path, mask: NDArray[np.bool_]) -> None:
    """As released: a compressed npz with the array `data`."""
    file = io.BytesIO()
    np.savez_compressed(file, data=mask)
    _write(pathlib.Path(path), file.getvalue())


def deterministic_mask(
    grammar: Derivation | Counting, strings: Sequence[NDArray[np.int8]]
) -> NDArray[np.bool_]:
    """(string, time): where the next symbol is certain, but not at the first step, where it may be
    certain too.

    One column more than the longest string needs where there are two variables, as released.
    """
    columns = max(map(len, strings)) - 1
    wider = isinstance(grammar, Derivation) or len(grammar.stops) > 1
    mask = np.zeros((len(strings), columns + wider), np.bool_)
    for row, string in zip(mask, strings, strict=True):
        row[1 : len(string) - 1] = grammar.likely(string)[1:] == 1
    return mask


def valid_mask(
    grammar: Derivation | Counting, strings: Sequence[NDArray[np.int8]]
) -> NDArray[np.bool_]:
    """(string, time, symbol): which symbols may come next, with one column more than the longest
    string needs.
    """
    mask = np.zeros((len(strings), max(map(len, strings)), len(grammar.symbols)), np.bool_)
    for row, string in zip(mask, strings, strict=True):
        row[: len(string) - 1] = grammar.conditionals(string[:-1]) > 0
    return mask


def _content(path: pathlib.Path) -> bytes:
    try:
        if path.suffix != ".zip":
            return path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0], PASSWORD)
    except (OSError, RuntimeError, zipfile.BadZipFile, zlib.error, IndexError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _write(path: pathlib.Path, content: bytes) -> None:
    path.write_bytes(
        _archive(path.name.removesuffix(".zip"), content) if path.suffix == ".zip" else content
    )


def _archive(name: str, content: bytes) -> bytes:
    """A zip of one entry under the traditional encryption, which the library reads and does not
    write.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    check = zlib.crc32(content)
    packed = _encrypted(
        bytes(11) + bytes([check >> 24]) + packer.compress(content) + packer.flush()
    )
    encoded = name.encode("ascii")
    # needed version, flags (encrypted), deflate, time, 1 January 1980, checksum, sizes, length of
    # the name, extra
    facts = struct.pack(
        "<HHHHHLLLHH", 20, 1, 8, 0, 33, check, len(packed), len(content), len(encoded), 0
    )
    entry = b"PK\3\4" + facts + encoded + packed
    listing = (
        b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<HHHLL", 0, 0, 0, 0, 0) + encoded
    )
    return (
        entry
        + listing
        + b"PK\5\6"
        + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(listing), len(entry), 0)
    )


def _encrypted(content: bytes) -> bytes:
    table = [_table_entry(byte) for byte in range(256)]
    keys = [0x12345678, 0x23456789, 0x34567890]

    def update(byte: int) -> None:
        keys[0] = table[(keys[0] ^ byte) & 0xFF] ^ (keys[0] >> 8)
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = table[(keys[2] ^ (keys[1] >> 24)) & 0xFF] ^ (keys[2] >> 8)

    for byte in PASSWORD:
        update(byte)
    out = bytearray()
    for byte in content:
        mixed = keys[2] | 2
        out.append(byte ^ ((mixed * (mixed ^ 1)) >> 8) & 0xFF)
        update(byte)
    return bytes(out)


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0xEDB88320 if byte & 1 else 0)
    return byte
