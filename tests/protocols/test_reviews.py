from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.api.options import RunOptions
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.seeds import Streams
from quickstudy.cli.run import preview
from quickstudy.measures.learning_curve import (
    data_efficiency,
    exponential_mean,
    smoothed_efficiency,
)
from quickstudy.measures.wade import published_imdb
from quickstudy.protocols.reviews import ReviewsProtocol, exam_points
from quickstudy.runs.execute import execute
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting

TASK = "reviews/imdb:pieces=200"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers", reason="the library tokenizers is not installed (extra lm)")
    path = write_reviews(
        tmp_path, made_up_reviews(np.random.default_rng(1), 50), "imdb_labelled.tsv.xz"
    )
    monkeypatch.setenv("QUICKSTUDY_DATA", str(path.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(learner, convention="published", repetitions=(0,), **protocol):
    return list(examine(Setting(TASK, learner, convention, 0, protocol), repetitions))


def test_published_schedule():
    """63 tests a pass: after 8, 408 ... 24,808 examples, and so on in each of ten passes."""
    points = exam_points(25_000, 10, 8, 50)
    assert len(points) == 630
    assert points[:3].tolist() == [8, 408, 808]
    assert points[62:65].tolist() == [24_808, 25_008, 25_408]
    assert points[-1] == 249_808
    assert (np.bincount((points - 1) // 25_000) == 63).all()


def test_passes_that_batches_do_not_divide():
    # 10 examples a pass, batches of 4: batches 0, 1, 2 belong to the first pass, 3 and 4 to the
    # second.
    assert exam_points(10, 2, 4, 2).tolist() == [4, 12, 16]
    assert exam_points(3, 1, 4, 1).tolist() == []


@pytest.mark.usefixtures("corpus")
class TestRuns:
    def test_trace_of_the_linear_model(self):
        (outcome,) = run("bag+sparse:passes=2", stride=5)
        assert outcome.record.status == "ok", outcome.record.reason
        arrays, facts = outcome.trace.arrays, outcome.trace.facts
        # 100 reviews a pass in batches of 8: 13 batches begin in the first pass, 12 in the second.
        assert arrays["step"].tolist() == [8, 48, 88, 112, 152, 192]
        # The published tests would be after 8 and 112.
        assert arrays["evaluation"].tolist() == [1, 2, 2, 2, 3, 3]
        assert arrays["correct"].tolist() == (arrays["accuracy"] * 100).round().astype(int).tolist()
        assert (facts["constant"], facts["classes"], facts["test_questions"]) == (0.5, 2, 100)
        assert outcome.trace.cost.examples == 192
        assert {"wade", "wade-smoothed", "wade-above-chance", "accuracy"} <= set(
            outcome.record.scores
        )

    def test_it_learns(self):
        (outcome,) = run("bag+sparse:rate=0.1", "corrected")
        assert outcome.trace.arrays["accuracy"][-1] > 0.9

    def test_repetitions_differ_and_come_again(self):
        first, second = run("bag+sparse:passes=1", "corrected", (0, 1))
        again = run("bag+sparse:passes=1", "corrected", (1,))[0]
        assert first.trace.arrays["correct"].tolist() != second.trace.arrays["correct"].tolist()
        assert second.trace.arrays["correct"].tolist() == again.trace.arrays["correct"].tolist()
        assert second.record.key == again.record.key

    def test_thinned_is_some_of_every(self):
        (every,) = run("bag+sparse:passes=10", "corrected", schedule="every")
        (thinned,) = run("bag+sparse:passes=10", "corrected")
        assert len(every.trace.arrays["step"]) == 125
        assert 16 < len(thinned.trace.arrays["step"]) < 60
        chosen = np.isin(every.trace.arrays["step"], thinned.trace.arrays["step"])
        assert (
            every.trace.arrays["correct"][chosen].tolist()
            == thinned.trace.arrays["correct"].tolist()
        )

    def test_controls(self):
        (majority,) = run("majority", stride=1)
        assert majority.trace.arrays["accuracy"].tolist() == [0.5] * 12
        (stated,) = run("stated-rating")
        assert stated.trace.arrays["accuracy"][0] == pytest.approx(0.5 + 0.5 * 18 / 100, abs=0.01)

    def test_networks(self):
        (outcome,) = run("gru+pooled:units=6,vectors=4,dropped=0.1,normed=true,passes=1")
        assert outcome.record.status == "ok", outcome.record.reason

    def test_there_is_no_oracle(self):
        with pytest.raises(UsageError, match="reviews/imdb has no oracle: unknown"):
            Setting(TASK, "oracle").resolve()

    def test_nothing_to_learn_from(self):
        (outcome,) = examine(Setting(f"{TASK},training=4", "bag+sparse:passes=1"), [0])
        assert outcome.record.status == "failed"
        assert (
            "nothing can be learned from 4 reviews, fewer than one batch of 8"
            in outcome.record.reason
        )

    def test_published_wade_counts_tests(self):
        (outcome,) = run("bag+sparse:passes=2", stride=1)
        trace = replace(
            outcome.trace, arrays={**outcome.trace.arrays, "accuracy": np.full(25, 0.6)}
        )
        assert data_efficiency(trace, "published")["wade"] == pytest.approx(0.0664, abs=5e-5)
        # Reached with the second published test, after 112 reviews: worth half.
        late = replace(
            trace, arrays={**trace.arrays, "accuracy": np.where(trace.arrays["step"] > 8, 0.6, 0.4)}
        )
        assert data_efficiency(late, "published")["wade"] == pytest.approx(0.0664 / 2, abs=5e-5)
        assert (
            data_efficiency(trace, "corrected")["wade"]
            != data_efficiency(trace, "published")["wade"]
        )

    def test_smoothing_needs_every_published_test(self):
        (outcome,) = run("bag+sparse:passes=2")
        accuracy = outcome.trace.arrays["accuracy"]
        wanted = published_imdb().score([1, 2], exponential_mean(accuracy, 10))
        assert smoothed_efficiency(outcome.trace, "published") == {"wade-smoothed": wanted}
        assert smoothed_efficiency(outcome.trace, "corrected") == {}
        (dense,) = run("bag+sparse:passes=2", stride=1)
        assert smoothed_efficiency(dense.trace, "published") == {}

    def test_data_is_asked_for_only_where_something_is_to_be_run(self, tmp_path, monkeypatch):
        out, setting = tmp_path / "out", Setting(TASK, "bag+sparse:passes=1")
        execute(make_plan([setting], 1), out, ExecuteOptions(workers=0))
        monkeypatch.setenv("QUICKSTUDY_DATA", str(out))
        reading = read_results(out)
        assert execute(
            make_plan([setting], 1, reading=reading), out, ExecuteOptions(workers=0)
        ).found == {"ok": 1}
        more, elsewhere = make_plan([setting], 2, reading=reading), tmp_path / "elsewhere"
        for asked in (
            partial(preview, more, RunOptions(workers=0), True),
            partial(execute, more, elsewhere, ExecuteOptions(workers=0)),
        ):
            with pytest.raises(UsageError, match=r"no imdb_labelled\.tsv\.xz"):
                asked()
        assert not elsewhere.exists()
        with pytest.raises(UsageError, match=r"no imdb_labelled\.tsv\.xz"):
            execute(more, out, ExecuteOptions(workers=0, rerun=True))
        assert read_results(out).statuses() == reading.statuses(), (
            "nothing is put aside before it can be run"
        )


def test_exponential_mean_by_hand():
    # Span 10: 2/11 of the way to every further value.
    assert exponential_mean([0.5, 0.72, 0.54], 10).tolist() == pytest.approx([0.5, 0.54, 0.54])


def test_a_task_without_an_official_split():
    class Free:
        id = "free"

    with pytest.raises(NotApplicable, match="free has no official split"):
        ReviewsProtocol().examine(Free(), None, [Streams(0, "free", 0)])
