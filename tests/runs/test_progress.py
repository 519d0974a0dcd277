import io

import pytest

from quickstudy.runs.execute import Execution, Started, Stopping
from quickstudy.runs.messages import Done, Tick
from quickstudy.runs.plan import Cell
from quickstudy.runs.progress import FaultsOnly, PlainProgress, RichProgress, choose_progress, found_line
from quickstudy.runs.remaining import Remaining, duration


def cells(*groups):
    """(learner, count, seconds) as cells of one task."""
    return tuple(
        Cell(f"{learner}{number}", None, number, "family/t", learner, "family", "learner", seconds, "guessed")
        for learner, count, seconds in groups
        for number in range(count)
    )


def test_remaining_time_is_corrected_by_what_was_observed():
    remaining = Remaining.of(cells(("a", 4, 1.0), ("b", 2, 10.0)), workers=2)
    assert remaining.seconds() == (4 * 1.0 + 2 * 10.0) / 2
    remaining.done("a0", 3.0)  # three times as long as thought: so may be the others
    assert remaining.seconds() == pytest.approx((3 * 3.0 + 2 * 30.0) / 2)
    remaining.done("b0", 10.0)  # b is as thought; a keeps its own correction
    assert remaining.seconds() == pytest.approx((3 * 3.0 + 10.0) / 2)
    for key in ("a1", "a2", "a3"):
        remaining.done(key, 1.0)
    assert remaining.seconds() == pytest.approx(10.0)  # one run left keeps one worker busy
    remaining.done("b1", 10.0)
    assert remaining.seconds() == 0.0


def test_a_first_run_that_compiles_does_not_spoil_the_forecast():
    remaining = Remaining.of(cells(("a", 10, 1.0)), workers=1)
    remaining.done("a0", 9.0)
    remaining.done("a1", 1.0)
    assert remaining.seconds() == pytest.approx(8.0)


def test_estimates_of_zero_are_survived():
    remaining = Remaining.of(cells(("a", 2, 0.0)), workers=0)
    remaining.done("a0", 5.0)
    remaining.done("stranger", 5.0)
    assert remaining.seconds() == 0.0


@pytest.mark.parametrize(("seconds", "words"), [(0, "0 s"), (99, "99 s"), (120, "2 min"), (9000, "2.5 h")])
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
        "5 of 20 runs, 2 failed, about 8 s left",
        "10 of 20 runs, 2 failed, about 5 s left",
        "stopping after the runs in progress; Ctrl-C again stops now",
        "10 ok, 2 failed in 12 s; stopped, everything is saved",
    ]


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


def test_quiet_says_only_what_fails():
    stream = io.StringIO()
    progress = choose_progress(quiet=True, stream=stream)
    progress(Started(cells(("a", 3, 1.0)), found=3, workers=2))
    for number, status in enumerate(("ok", "failed", "failed")):
        progress(Done(f"a{number}", status, "it broke" if status == "failed" else "", 1.0))
    progress(Execution(found={"ok": 3}, ok=1, failed=2, seconds=3.0))
    assert stream.getvalue().splitlines() == ["failed: family/t a repetition 1: it broke", "1 ok, 2 failed in 3 s"]


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
