from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.record import Record
from quickstudy.runs.asking import Asked
from quickstudy.runs.eta import RunTimes
from quickstudy.runs.execute import cut
from quickstudy.runs.plan import Cell, make_plan
from quickstudy.runs.run_spec import Setting


def test_cells_are_ordered_by_task_then_learner_then_repetition(lab):
    plan = lab.plan(["good", "slow"], 2, tasks=["specimen/b", "specimen/a"])
    assert [(cell.task[-1], cell.learner, cell.repetition) for cell in plan.cells] == [
        ("b", "good", 0),
        ("b", "good", 1),
        ("b", "slow", 0),
        ("b", "slow", 1),
        ("a", "good", 0),
        ("a", "good", 1),
        ("a", "slow", 0),
        ("a", "slow", 1),
    ]


def test_settings_in_any_order_are_grouped_by_task(lab):
    specimen = lab.specimens.Specimen
    settings = [specimen("b", "x"), specimen("a", "x"), specimen("b", "y"), specimen("a", "y")]
    cells = make_plan(settings, 1).cells
    assert [(cell.task, cell.learner) for cell in cells] == [
        ("b", "x"),
        ("b", "y"),
        ("a", "x"),
        ("a", "y"),
    ]


def test_two_spellings_of_one_setting_are_one(lab):
    assert lab.plan(["good", "good:"], 3).cells == lab.plan(["good"], 3).cells


def test_extending_a_plan_only_adds_cells(lab):
    small = {cell.key for cell in lab.plan(["good"], 2).cells}
    large = {
        cell.key for cell in lab.plan(["slow", "good"], 5, tasks=["specimen/b", "specimen/a"]).cells
    }
    assert small < large
    assert len(large) == 20


def test_named_repetitions_are_sorted_and_unique(lab):
    assert [cell.repetition for cell in lab.plan(["good"], [7, 3, 7]).cells] == [3, 7]


def test_what_does_not_exist_is_a_usage_error():
    with pytest.raises(UsageError, match="no task"):
        make_plan([Setting("nothing/here", "majority")], 1)
    with pytest.raises(UsageError, match="no file"):
        make_plan([], 1, includes=["/nowhere/at/all.py"])


def test_summary_counts_what_is_left(lab, tmp_path):
    lab.run(tmp_path, ["good"], 2)
    summary = lab.plan(["good", "slow"], 3, folder=tmp_path).summary()
    assert (summary.cells, summary.found, summary.to_do) == (6, 2, 4)
    assert summary.programs == 2 * 3
    # One more of "good" at its measured 0.5 s; how long "slow" takes nobody knows.
    assert summary.seconds == pytest.approx(0.5)
    assert summary.measured == 1


def test_programs_are_not_counted_for_settings_that_are_complete(lab, tmp_path):
    lab.run(tmp_path, ["good"], 2)
    assert lab.plan(["good"], 2, folder=tmp_path).summary().programs == 0


def what(task, repetition=0, **protocol):
    return {"task": task, "learner": "l", "protocol": protocol, "root": 0, "repetition": repetition}


def record(task, repetition, seconds, status="ok", where=None):
    cost = {"learn_seconds": seconds, "answer_seconds": 1.0} if status == "ok" else {}
    return Record(
        what(task, repetition),
        status,
        cost=cost,
        where=where or {},
        labels={"task": task, "learner": "l"},
    )


def test_estimates_take_the_setting_then_the_learner_then_a_guess():
    records = [record("t", 0, 1.0), record("t", 1, 5.0), record("t", 2, 2.0), record("u", 0, 10.0)]
    run_times = RunTimes.from_records([*records, record("t", 3, 99.0, "failed")])
    assert run_times.of(what("t", 7), "l") == (3.0, "measured")
    assert run_times.of(what("v"), "l") == (4.5, "guessed")  # the median of 2, 3, 6, 11
    assert run_times.of(what("v"), "m") == (1.0, "guessed")
    assert run_times.of(what("t", sequences=9999), "l") == (
        4.5,
        "guessed",
    )  # a longer examination is another matter


def test_a_run_alone_in_its_call_counts_with_all_its_time():
    alone, among = (
        record("t", 0, 1.0, where={"lanes": 1, "seconds": 8.0}),
        {"lanes": 100, "seconds": 8.0},
    )
    assert RunTimes.from_records([alone]).of(what("t"), "l") == (8.0, "measured")
    assert RunTimes.from_records([record("t", 0, 1.0, where=among)]).of(what("t"), "l") == (
        2.0,
        "measured",
    )


counts = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@given(counts, st.integers(1, 6), st.lists(st.floats(0.0, 100.0), min_size=5, max_size=5))
def test_a_cut_keeps_every_cell_in_order_and_never_mixes_settings(counts, workers, seconds):
    cells = []
    for number, count in enumerate(counts):
        setting = Setting(f"t{number}", "l")
        for repetition in range(count):
            key = f"{number}/{repetition}"
            cells.append(
                Cell(
                    key,
                    setting,
                    repetition,
                    setting.task,
                    "l",
                    "t",
                    "learner",
                    seconds[number],
                    "guessed",
                )
            )
    pieces = cut(cells, workers)
    assert [cell for piece in pieces for cell in piece] == cells
    assert all(piece and len({cell.task for cell in piece}) == 1 for piece in pieces)
    share = sum(cell.seconds for cell in cells) / (2 * workers)
    if workers > 1 and share > 0:  # no piece is more than its share and one run over
        assert all(
            sum(cell.seconds for cell in piece) <= (share + piece[0].seconds) * 1.000001
            for piece in pieces
        )


def test_what_was_never_timed_is_cut_whatever_its_share():
    """Three runs of a learner among a hundred of rules may be most of the work: an idle worker must
    get at them.
    """
    slow, quick = Setting("t", "slow"), Setting("t", "quick")

    def made(source):
        cells = [
            Cell(
                f"{one.learner}/{number}",
                one,
                number,
                "t",
                one.learner,
                "t",
                "learner",
                1.0,
                source,
            )
            for one, count in ((slow, 3), (quick, 100))
            for number in range(count)
        ]
        return [len(piece) for piece in cut(cells, 2)]

    assert made("guessed") == [1, 1, 1, 25, 25, 25, 25]
    assert made("measured") == [3, 25, 25, 25, 25]


def test_one_setting_is_cut_for_all_workers(lab):
    cells = lab.plan(["good"], 10).cells
    assert [len(piece) for piece in cut(cells, 1)] == [10]
    assert [len(piece) for piece in cut(cells, 2)] == [2, 3, 2, 3]
    assert cut([], 4) == []


def test_on_a_gpu_a_piece_fills_the_lanes():
    setting, control = Setting("t", "esn"), Setting("t", "majority")

    def made(setting, lanes):
        shown = (setting.task, setting.learner, "t", "learner", 1.0, "guessed", 4, 250, lanes)
        return [
            Cell(f"{setting.learner}/{number}", setting, number, *shown) for number in range(250)
        ]

    assert [len(piece) for piece in cut(made(setting, 100), 8, on_gpu=True)] == [
        83,
        83,
        84,
    ]  # three calls whatever we do
    assert [len(piece) for piece in cut(made(setting, 50), 8, on_gpu=True)] == [50] * 5
    assert len(cut(made(control, 1), 8, on_gpu=True)) == 16  # no lanes, no limit


def test_controls_may_be_run_more_often_than_learners():
    settings = [
        Setting("language/periodic", name) for name in ("bag", "copy-last", "periodic-oracle")
    ]
    cells = make_plan(settings, 2, rules=5).cells
    counts = Counter((cell.role, cell.learner) for cell in cells)
    assert counts == {
        ("learner", "bag"): 2,
        ("control", "copy-last"): 5,
        ("oracle", "periodic-oracle"): 5,
    }
    few = make_plan(settings, 2).cells
    assert {cell.key for cell in few} < {cell.key for cell in cells}


def test_what_one_run_asks_is_in_the_singular():
    assert "1 question to language models and about 7 tokens at most, in 1 run;" in str(
        Asked(runs=1, questions=1, tokens=7)
    )
    assert "1,200 questions" in str(Asked(runs=2, questions=1200, tokens=7))


def test_the_price_of_language_models_is_told_where_it_is_known():
    asked = Asked(runs=2, questions=24, tokens=40_000, money=0.1)
    assert "about 40,000 tokens at most (price 0.10), in 2 runs" in str(asked)
    assert "price" not in str(Asked(runs=2, questions=24, tokens=40_000))
