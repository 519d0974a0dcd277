from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.tasks.language.reviews import Reviews, StatedRating
from quickstudy.testing import check_task

pytest.importorskip("tokenizers", reason="the library tokenizers is not installed (extra lm)")

REAL = pathlib.Path(os.environ.get("QUICKSTUDY_DATA", "")) / "imdb_labelled.tsv.xz"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Forty reviews a label and part."""
    path = write_reviews(tmp_path, made_up_reviews(np.random.default_rng(1), 40), "aclImdb")
    monkeypatch.setenv("QUICKSTUDY_DATA", str(path.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def make(convention="corrected", **given):
    return configure("reviews/imdb", Reviews, {"pieces": 200, **given}, convention)


@pytest.mark.usefixtures("corpus")
class TestMadeUp:
    @pytest.mark.parametrize("convention", ["corrected", "published"])
    def test_keeps_the_promises_of_a_task(self, convention):
        assert [str(finding) for finding in check_task(make(convention)) if not finding.ok] == []

    def test_one_question_after_the_last_piece(self):
        train, test = make().parts()
        assert (train.count, test.count) == (80, 80)
        for part in (train, test):
            assert (part.asked.sum(axis=0) == 1).all()
            assert part.asked[part.lengths - 1, np.arange(part.count)].all()
            assert (
                part.targets[part.asked.argmax(axis=0), np.arange(part.count)]
                == np.repeat([0, 1], 40)
            ).all()

    def test_the_words_are_those_of_the_review(self):
        task = make("published", markup="removed")
        train = task.parts().train
        first = made_up_reviews(np.random.default_rng(1), 40)
        text = next(
            text.decode() for name, text in first.items() if name.startswith("train/neg/0_")
        )
        read = "".join(task.words(train.inputs[: train.lengths[0], 0])).replace("##", "")
        plain = text.replace("<br />", "").replace("ï", "i").replace("é", "e")
        assert read == "".join(plain.split())

    def test_longest_cuts_off_the_end(self):
        whole, cut = make().parts().test, make(longest=5).parts().test
        assert cut.steps == 5
        assert (cut.lengths == np.minimum(whole.lengths, 5)).all()
        inside = np.arange(5)[:, None] < cut.lengths
        assert (cut.inputs[inside] == whole.inputs[:5][inside]).all()

    def test_fewer_reviews_are_the_first_of_either_label(self):
        whole, few = make().parts(), make(training=5, test=4).parts()
        assert (few.train.count, few.test.count) == (5, 4)
        assert few.train.targets[0].tolist() == [0, 0, 0, 1, 1]
        chosen = whole.train.take([0, 1, 2, 40, 41])
        assert (few.train.inputs == chosen.inputs).all()

    def test_too_many_reviews(self):
        with pytest.raises(UsageError, match="100 reviews are asked for, the test part has 80"):
            make(test=100).parts()

    def test_sampling_more_than_there_are_begins_again(self):
        drawn = make().sample(np.random.default_rng(0), 100)
        assert drawn.count == 100
        assert len({column.tobytes() for column in drawn.inputs[:, :80].T.copy()}) > 70

    def test_published_has_no_piece_for_padding(self):
        assert make().words([0, 1]) == ["[PAD]", "[UNK]"]
        assert make("published").words([0]) != ["[PAD]"]
        assert make("published").numbers(["[UNK]", "film"])[0] is None

    def test_the_record_says_which_texts(self):
        assert make().facts() == make("published").facts()
        assert len(make().facts()["text_digest"]) == 64

    def test_stated_rating(self):
        task = make()
        rule = StatedRating(task, Brief(task.inputs, task.outputs, "cross-entropy", 10, 0), 0)
        slash, *digits = task.numbers(["/", "2", "7", "10"])
        two, seven, ten = digits
        film = task.numbers(["film"])[0]
        assert rule.predict(np.array([film, two, slash, ten, film])).tolist() == [0, 0, 0, 0, 0]
        assert rule.predict(np.array([seven, slash, ten, two, slash, ten])).tolist() == [
            0,
            0,
            1,
            1,
            1,
            0,
        ]
        rule.learn(np.array([film]), np.array([1]))
        assert rule.predict(np.array([film, two, slash, ten])).tolist() == [1, 1, 1, 0]
        assert rule.predict(np.array([seven, slash, film, slash])).tolist() == [1, 1, 1, 1]


def test_says_what_to_do_without_data(tmp_path, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("QUICKSTUDY_DOWNLOAD", raising=False)
    with pytest.raises(
        UsageError, match=r"no imdb_labelled\.tsv\.xz or aclImdb or aclImdb_v1\.tar\.gz in"
    ):
        make().ready()


@pytest.mark.skipif(
    not REAL.is_file(), reason="QUICKSTUDY_DATA names no folder with imdb_labelled.tsv.xz"
)
def test_the_real_data():
    train, test = make(pieces=30_000, convention="published").parts()
    assert (train.count, test.count) == (25_000, 25_000)
    assert train.targets[0].sum() == test.targets[0].sum() == 12_500
    assert (train.steps, test.steps) == (3035, 2897)
    assert train.lengths.mean() == pytest.approx(291.2, abs=1.0)
    assert (
        make(pieces=30_000, convention="published")
        .facts()["text_digest"]
        .startswith("c4765d50ca394cb2")
    )
