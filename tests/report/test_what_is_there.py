"""The report of a folder says what is in it: how many runs, by which command, with which
intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quickstudy.report.page import FORMS

Make = Callable[..., Any]
as_html = FORMS["html"]


def test_few_runs_are_named_beside_their_interval(make_study: Make, make_report: Make) -> None:
    assert "of 2 runs</small>" in as_html(make_report(make_study(seeds=2)))
    assert "of 6 runs</small>" not in as_html(make_report(make_study(seeds=6)))


def test_captions_are_outside_of_the_box_that_scrolls(make_study: Make, make_report: Make) -> None:
    html = as_html(make_report(make_study(seeds=2)))
    assert "<caption" not in html
    caption = html[html.index("<figcaption>Scores on language/qa, convention corrected") :]
    assert (
        caption.index("</figcaption>")
        < caption.index('<div class="scroll"')
        < caption.index("<table")
    )


def test_the_last_command_is_called_that(make_study: Make, make_report: Make) -> None:
    html = as_html(make_report(make_study(seeds=1), "quickstudy run language/qa"))
    assert "The last command that wrote this report" in html
    assert "To run the same again" not in html


def test_counts_of_a_report_are_in_words(
    make_study: Make, make_report: Make, make_record: Make
) -> None:
    records = [*make_study(seeds=1), make_record("a", passes=10), make_record("b", passes=10)]
    html = as_html(make_report(records))
    assert (
        "1 task · 3 learners · 2 learners with replay · 2 controls · 1 oracle · 8 finished runs"
        in html
    )


def test_the_family_table_has_intervals(make_study: Make, make_report: Make) -> None:
    def caption(seeds: int) -> str:
        html = as_html(
            make_report([*make_study(seeds), *make_study(seeds, task="language/harder-qa")])
        )
        table_of_family = html[html.index('<figure class="table">') : html.index('id="task-0"')]
        assert ("±" in table_of_family) is (seeds > 1)
        return table_of_family[: table_of_family.index("</figcaption>")]

    assert "± half the 95 % interval" in caption(3)
    assert "±" not in caption(1)
