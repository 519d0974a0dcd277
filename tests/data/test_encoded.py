from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.data import encoded
from quickstudy.data.encoded import Encoding, encoded_reviews, kept_file
from quickstudy.data.imdb import IMDB

pytest.importorskip("tokenizers", reason="the library tokenizers is not installed (extra lm)")

CORRECTED = Encoding(150, "train", "removed", True)
PUBLISHED = Encoding(150, "all", "kept", False)


@pytest.fixture(params=IMDB.layouts)
def place(request, tmp_path, monkeypatch):
    path = write_reviews(
        tmp_path / "mine", made_up_reviews(np.random.default_rng(0)), request.param
    )
    monkeypatch.setenv("QUICKSTUDY_DATA", str(path.parent))
    return path


def texts(reviews, part):
    numbers = np.split(reviews.parts[part].numbers, reviews.parts[part].ends[:-1])
    return [
        " ".join(reviews.pieces[number] for number in review).replace(" ##", "")
        for review in numbers
    ]


def test_what_is_kept_is_what_was_made(place, monkeypatch):
    made = encoded_reviews(PUBLISHED)
    encoded._encoded.cache_clear()
    monkeypatch.setattr(
        encoded, "read_imdb", lambda path: pytest.fail("it should have been in the cache")
    )
    again = encoded_reviews(PUBLISHED)
    assert made.pieces == again.pieces
    assert made.text_digest == again.text_digest
    for part in ("train", "test"):
        for field in dataclasses.fields(again.parts[part]):
            np.testing.assert_array_equal(
                getattr(made.parts[part], field.name), getattr(again.parts[part], field.name)
            )


def test_layouts_do_not_matter(tmp_path, monkeypatch):
    found = []
    for layout in IMDB.layouts:
        path = write_reviews(tmp_path / layout, made_up_reviews(np.random.default_rng(0)), layout)
        monkeypatch.setenv("QUICKSTUDY_DATA", str(path.parent))
        found.append(encoded_reviews(CORRECTED))
    assert len({reviews.text_digest for reviews in found}) == 1
    assert len({reviews.parts["test"].numbers.tobytes() for reviews in found}) == 1


def test_parts_and_labels(place):
    reviews = encoded_reviews(CORRECTED)
    assert all((part.labels == np.repeat([0, 1], 12)).all() for part in reviews.parts.values())
    assert reviews.parts["train"].numbers.dtype == np.uint16
    assert reviews.parts["train"].lengths.sum() == len(reviews.parts["train"].numbers)


def test_markup_is_kept_or_removed(place):
    assert sum("< br />" in text for text in texts(encoded_reviews(PUBLISHED), "train")) == 6
    assert not any("br" in text for text in texts(encoded_reviews(CORRECTED), "train"))


def test_whose_text_the_vocabulary_is_learned_from(tmp_path, monkeypatch):
    files = made_up_reviews(np.random.default_rng(0)) | {"test/pos/99_9.txt": "ÿÿÿ zzz".encode()}
    path = write_reviews(tmp_path / "mine", files, "aclImdb")
    monkeypatch.setenv("QUICKSTUDY_DATA", str(path.parent))
    assert texts(encoded_reviews(PUBLISHED), "test")[-1] == "yyy zzz"
    assert "z" not in "".join(encoded_reviews(CORRECTED).pieces[2:])
    assert texts(encoded_reviews(CORRECTED), "test")[-1].endswith("[UNK]")


def test_another_parameter_or_data_set_is_another_file(monkeypatch):
    names = {
        kept_file("data", CORRECTED),
        kept_file("other", CORRECTED),
        kept_file("data", dataclasses.replace(CORRECTED, pieces=151)),
        kept_file("data", dataclasses.replace(CORRECTED, learned_from="all")),
        kept_file("data", dataclasses.replace(CORRECTED, markup="kept")),
        kept_file("data", dataclasses.replace(CORRECTED, special=False)),
    }
    monkeypatch.setattr(encoded, "library_version", lambda: "0")
    assert len(names | {kept_file("data", CORRECTED)}) == 7
    assert kept_file("data", CORRECTED) == kept_file("data", CORRECTED)
