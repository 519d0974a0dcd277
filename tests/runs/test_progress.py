import io

import numpy as np
import pytest

from quickstudy.runs.engines import Begun, Done, Tick
from quickstudy.runs.eta import SHORT_SECONDS, Remaining, duration
from quickstudy.runs.execute import Execution, Started, Stopping
from quickstudy.runs.plan import Cell
from quickstudy.runs.progress import (
    FaultsOnly,
    PlainProgress,
    RichProgress,
    choose_progress,
    follow,
    found_line,
    silent,
)
from quickstudy.runs.run_spec import Setting


def cells(*groups, source="guessed", programs=0):
    """(learner, count, seconds) as cells of one task."""
    return tuple(
        Cell(
            f"{learner}{number}",
            Setting("language/qa", "majority"),
            number,
            "family/t",
            learner,
            "family",
            "learner",
            seconds,
            source,
            programs,
        )
        for learner, count, seconds in groups
        for number in range(count)
    )


def test_remaining_time_is_corrected_by_what_was_observed():
    remaining = Remaining.of(cells(("a", 4, 1.0), ("b", 2, 10.0), source="measured"), workers=2)
    assert remaining.seconds() == (4 * 1.0 + 2 * 10.0) / 2
    remaining.done("a0", 9.0)  # it may have compiled
    assert remaining.seconds() == pytest.approx((3 * 1.0 + 2 * 10.0) / 2)
    remaining.done("a1", 3.0)  # three times as long as measured before: so may be the others
    assert remaining.seconds() == pytest.approx((2 * 3.0 + 2 * 30.0) / 2)
    remaining.done("b0", 10.0)
    assert remaining.seconds() == pytest.approx(
        30.0
    )  # the longest keeps one worker busy, the others are done by then
    for key in ("a2", "a3"):
        remaining.done(key, 1.0)
    remaining.begun(("b1",), now=100.0)
    assert remaining.seconds(now=107.0) == pytest.approx(
        3.0
    )  # the lower median of a is 1 s, as it was
    assert remaining.seconds(now=300.0) is None  # longer than any before it
    remaining.done("b1", 10.0)
    assert remaining.seconds() == 0.0


def test_nothing_is_foretold_of_what_was_never_run():
    remaining = Remaining.of(cells(("a", 3, 1.0), ("b", 1, 1.0)), workers=1)
    remaining.done("a0", 7.0)
    assert remaining.seconds() is None
    remaining.done("b0", 1.0)
    assert remaining.seconds() == 14.0
    remaining.done("stranger", 5.0)
    assert remaining.seconds() == 14.0


def test_a_first_run_that_compiles_does_not_spoil_the_forecast():
    remaining = Remaining.of(cells(("a", 10, 1.0), programs=2), workers=1)
    remaining.done("a0", 9.0)
    assert remaining.seconds() is None
    remaining.done("a1", 1.0)
    assert remaining.seconds() == pytest.approx(8.0)


def test_lanes_share_the_time_of_their_call():
    remaining = Remaining.of(cells(("a", 8, 1.0)), workers=1)
    remaining.begun(("a0", "a1", "a2", "a3"), now=0.0)
    for key, seconds in (("a0", 40.0), ("a1", 0.0), ("a2", 0.0), ("a3", 0.0)):
        remaining.done(key, seconds)
    assert remaining.seconds() == 40.0


def recorded(rng, kind):
    """What runs have taken: (learner, seconds of the first repetition, of each of the others), as
    records have them.
    """
    pairs = {
        "rules": [(f"rule{n}", 0.3, 0.02) for n in range(4)],
        "networks": [
            ("lstm", 21.0, 6.0),
            ("gru", 17.0, 5.0),
            ("rnn", 9.0, 3.0),
            ("majority", 0.3, 0.01),
        ],
        "mixed": [
            ("esn", 4.0, 2.5),
            ("transformer", 60.0, 25.0),
            ("recall", 0.2, 0.1),
            ("copy-last", 0.02, 0.01),
        ],
    }[kind]
    return {name: [first, *(rest * rng.uniform(0.85, 1.2, 11))] for name, first, rest in pairs}


@pytest.mark.parametrize("kind", ["rules", "networks", "mixed"])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("source", ["measured", "guessed"])
def test_the_remaining_time_is_right_within_a_factor_of_two_or_not_shown(kind, workers, source):
    """A run replayed by a clock of its own: every worker takes the next repetition when it is
    free.
    """
    taken = recorded(np.random.default_rng(workers), kind)
    usual = {name: float(np.median(seconds)) for name, seconds in taken.items()}
    made = [
        Cell(
            f"{name}{n}",
            None,
            n,
            "family/t",
            name,
            "family",
            "learner",
            usual[name],
            source,
            int(seconds[0] > 1),
        )
        for name, seconds in taken.items()
        for n in range(len(seconds))
    ]
    free, events = [0.0] * workers, []
    for cell in made:
        worker = free.index(min(free))
        seconds = taken[cell.learner][cell.repetition]
        events += [
            (free[worker], "begun", cell.key, seconds),
            (free[worker] + seconds, "done", cell.key, seconds),
        ]
        free[worker] += seconds
    end, remaining, shown = max(free), Remaining.of(made, workers), 0
    for now, what, key, seconds in sorted(events):
        if what == "begun":
            remaining.begun((key,), now)
        else:
            remaining.done(key, seconds)
        said, true = remaining.seconds(now), end - now
        if said is not None and max(said, true) > SHORT_SECONDS:
            shown += 1
            assert true / 2 <= said <= true * 2, (now, said, true)
    assert kind == "rules" or source == "guessed" or shown > 4


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (99, "99 s"), (120, "2 min"), (9000, "2.5 h")]
)
def test_durations_for_people(seconds, words):
    assert duration(seconds) == words


def test_plain_lines_come_every_few_seconds_only():
    now, stream = [0.0], io.StringIO()
    progress = PlainProgress(stream, clock=lambda: now[0])
    progress(Started(cells(("a", 20, 1.0)), found=3, workers=2))
    for number in range(12):
        now[0] += 1.0
        status, reason = ("failed", "it broke") if number in (2, 3) else ("ok", "")
        progress(Done(f"a{number}", status, reason, 1.0))
        progress(Tick())
    progress(Stopping())
    progress(Execution(ok=10, failed=2, interrupted=True, seconds=12.0))
    assert stream.getvalue().splitlines() == [
        "3 of 23 runs found, 20 to do, 2 workers",
        "failed: family/t a repetition 2: it broke",
        "5 s: 5 of 20 runs, 2 failed, less than 10 s left",
        "10 s: 10 of 20 runs, 2 failed, less than 10 s left",
        "stopping after the runs in progress; Ctrl-C again stops now",
        "10 ok, 2 failed in 12 s; stopped, everything is saved",
    ]


def test_what_runs_and_what_compiles_is_said():
    now, stream = [0.0], io.StringIO()
    progress = PlainProgress(stream, clock=lambda: now[0])
    progress(Started(cells(("lstm", 3, 1.0), programs=2), found=0, workers=1))
    progress(Begun(("lstm0",)))
    now[0] = 40.0
    progress(Done("lstm0", "ok", "", 40.0))
    now[0] = 41.0
    progress(Begun(("lstm1", "lstm2")))
    now[0] = 46.0
    progress(Tick())
    assert stream.getvalue().splitlines() == [
        "0 of 3 runs found, 3 to do, 1 worker",
        "0 s: 0 of 3 runs, now family/t lstm 0 (compiles first)",
        "40 s: 1 of 3 runs",
        "46 s: 1 of 3 runs, now family/t lstm 1 to 2",
    ]


def test_python_shows_lines_where_somebody_looks(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert follow(None) is silent
    assert follow(False) is silent
    assert isinstance(follow(True), PlainProgress)
    assert follow(print) is print
    monkeypatch.setattr("sys.stderr", Terminal())
    assert isinstance(follow(None), PlainProgress)


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("kind", [io.StringIO, None])
def test_reasons_give_the_terminal_no_orders(quiet, kind):
    stream = (kind or Terminal)()
    progress = choose_progress(quiet=quiet, stream=stream)
    progress(Started(cells(("a\x1b]0;evil\x07\u202e", 1, 1.0)), found=0, workers=1))
    progress(Begun(("a\x1b]0;evil\x07\u202e0",)))
    progress(Done("a\x1b]0;evil\x07\u202e0", "failed", "\x9b31m", 1.0))
    progress(Execution(failed=1))
    assert not {"\x07", "\u202e", "\x9b"} & set(stream.getvalue())
    assert "\x1b]" not in stream.getvalue()
    assert "\\x1b]0;evil\\x07\\u202e" in stream.getvalue()


def test_nothing_to_do_is_one_line():
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress(Started((), found=3, workers=2))
    progress(Execution(found={"ok": 3}))
    assert stream.getvalue() == "all 3 runs found, nothing to do\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    progress = choose_progress(stream=stream)
    assert isinstance(progress, RichProgress)
    progress(Started(cells(("a", 2, 1.0)), found=0, workers=1))
    progress(Done("a0", "ok", "", 1.0))
    progress(Done("a1", "failed", "[red] is no markup", 1.0))
    progress(Stopping())
    progress(Execution(ok=1, failed=1, seconds=2.0))
    text = stream.getvalue()
    assert "family" in text
    assert "2/2" in text
    assert "[red] is no markup" in text
    assert "1 ok, 1 failed in 2 s" in text


def test_plain_when_not_a_terminal_and_silent_when_asked():
    assert isinstance(choose_progress(stream=io.StringIO()), PlainProgress)
    assert isinstance(choose_progress(quiet=True), FaultsOnly)


def test_the_end_tells_the_time_from_the_start_on():
    now = [10.0]
    stream = io.StringIO()
    progress = PlainProgress(stream, lambda: now[0])
    now[0] = 30.0  # what was planned and read before anything was run
    progress(Started(cells(("a", 1, 1.0)), found=0, workers=1))
    progress(Done("a0", "ok", "", 1.0))
    progress(Execution(found={}, ok=1, seconds=2.0))
    assert stream.getvalue().splitlines()[-1] == "1 ok in 20 s"


def test_quiet_says_only_what_fails():
    stream = io.StringIO()
    progress = choose_progress(quiet=True, stream=stream)
    progress(Started(cells(("a", 3, 1.0)), found=3, workers=2))
    for number, status in enumerate(("ok", "failed", "failed")):
        progress(Done(f"a{number}", status, "it broke" if status == "failed" else "", 1.0))
    progress(Execution(found={"ok": 3}, ok=1, failed=2, seconds=3.0))
    assert stream.getvalue().splitlines() == [
        "failed: family/t a repetition 1: it broke",
        "1 ok, 2 failed in 3 s",
    ]


def test_runs_that_failed_before_are_told_whatever_is_shown():
    for quiet in (True, False):
        stream = io.StringIO()
        progress = choose_progress(quiet=quiet, stream=stream)
        progress(Started((), found=3, workers=2))
        progress(Execution(found={"ok": 1, "failed": 2}))
        assert stream.getvalue().splitlines()[-1] == (
            "2 of the runs found have failed before; --retry-failed runs them again"
        )


def test_a_study_without_runs_of_its_own_says_so():
    assert found_line(Started((), found=0, workers=2)) == "nothing has to be run for this"


def test_the_first_misfit_is_reported_and_one_run_is_one_run():
    stream = io.StringIO()
    progress = FaultsOnly(stream)
    progress(Started(cells(("a", 2, 1.0)), found=0, workers=1))
    for number in range(2):
        progress(Done(f"a{number}", "not-applicable", "it gives symbols", 1.0))
    progress(Execution(not_applicable=2, seconds=2.0))
    assert stream.getvalue().splitlines() == ["not applicable: family/t a: it gives symbols"]
    assert (
        found_line(Started(cells(("a", 1, 1.0)), found=0, workers=1))
        == "0 of 1 run found, 1 to do, 1 worker"
    )
