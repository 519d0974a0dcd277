from __future__ import annotations

import lzma

import numpy as np
import pytest

from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.base.errors import UsageError
from quickstudy.data.imdb import IMDB, Review, read_imdb


@pytest.fixture
def files():
    return made_up_reviews(np.random.default_rng(0))


def test_all_layouts_give_the_same(files, tmp_path):
    read = [read_imdb(write_reviews(tmp_path, files, layout)) for layout in IMDB.layouts]
    assert read[0] == read[1] == read[2]
    assert len(read[0]) == 48
    assert not any({"\t", "\n", "\r"} & set(review.text) for review in read[0])


def test_order_is_part_label_number(tmp_path):
    texts = {
        "test/pos/2_9.txt": b"x",
        "train/pos/10_7.txt": b"a\r\nb",
        "train/pos/9_8.txt": b"c",
        "train/neg/3_1.txt": b"d",
    }
    found = read_imdb(write_reviews(tmp_path, texts, "aclImdb"))
    assert found == [
        Review("train", 0, 3, 1, "d"),
        Review("train", 1, 9, 8, "c"),
        Review("train", 1, 10, 7, "a  b"),
        Review("test", 1, 2, 9, "x"),
    ]


def test_characters_that_unicode_counts_as_line_breaks_do_not_break_a_line(tmp_path):
    texts = {"train/pos/0_7.txt": "one\u0085two\u2028three".encode(), "test/neg/0_1.txt": b"four"}
    found = read_imdb(write_reviews(tmp_path, texts, "imdb_labelled.tsv.xz"))
    assert [review.text for review in found] == ["one\u0085two\u2028three", "four"]


def test_reviews_without_a_label_are_left_out(files, tmp_path):
    folder = write_reviews(tmp_path, files | {"train/unsup/0_0.txt": b"whatever"}, "aclImdb")
    archive = write_reviews(
        tmp_path, files | {"train/unsup/0_0.txt": b"whatever"}, "aclImdb_v1.tar.gz"
    )
    assert len(read_imdb(folder)) == len(read_imdb(archive)) == 48


def test_half_a_data_set(tmp_path):
    path = write_reviews(tmp_path, {"train/pos/0_7.txt": b"one"}, "aclImdb")
    with pytest.raises(UsageError, match="holds no review under test/neg or test/pos; is it"):
        read_imdb(path)


def test_a_file_with_another_name(files, tmp_path):
    path = write_reviews(tmp_path, files | {"train/pos/notes.txt": b"?"}, "aclImdb")
    with pytest.raises(UsageError, match=r"train/pos/notes\.txt is not named ID_RATING\.txt"):
        read_imdb(path)


@pytest.mark.parametrize(
    "line",
    ["train\tpos\t1\t7", "train\tgood\t1\t7\tx", "dev\tpos\t1\t7\tx", "train\tpos\tone\t7\tx"],
)
def test_a_line_that_is_none(line, tmp_path):
    path = tmp_path / "imdb_labelled.tsv.xz"
    path.write_bytes(lzma.compress(f"train\tpos\t0\t7\tfine\n{line}\n".encode()))
    with pytest.raises(
        UsageError, match=r"line 2: wanted split, label, id, rating and text between tabs, got '"
    ):
        read_imdb(path)


def test_files_that_are_damaged(tmp_path):
    (tmp_path / "imdb_labelled.tsv.xz").write_bytes(b"no xz")
    with pytest.raises(UsageError, match="it should be UTF-8 text packed with xz"):
        read_imdb(tmp_path / "imdb_labelled.tsv.xz")
    (tmp_path / "aclImdb_v1.tar.gz").write_bytes(b"no archive")
    with pytest.raises(
        UsageError, match=r"cannot be read as an archive: .*fetch it again from https:"
    ):
        read_imdb(tmp_path / "aclImdb_v1.tar.gz")
