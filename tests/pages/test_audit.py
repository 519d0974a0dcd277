"""The audit page: shares, times, claims and verdicts by hand; sections on made-up runs; the
command.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quickstudy.base.blocks import Page, Table, Text, every
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.record import OK, Record
from quickstudy.base.study import Study, find_study
from quickstudy.base.trace import Trace
from quickstudy.pages.claims import (
    ABSENT,
    CANNOT,
    CONTRADICTED,
    FALLS,
    HOLDS,
    INCOMPARABLE,
    NOT_RUN,
    OPEN,
    STANDS,
    UNPRINTED,
    Claim,
    Claims,
)
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.study_request import Request, stages_of
from quickstudy.pages.table_helpers import compare
from quickstudy.render.html import as_html
from quickstudy.render.numbers import spoken
from quickstudy.report.statistics import ABOVE, BELOW, LEVEL, UNTOLD
from quickstudy.runs.array_files import inline_trace
from quickstudy.runs.run_spec import Setting, identity, labels
from quickstudy.studies.wade_audit.conditions import wade_in
from quickstudy.studies.wade_audit.shares import KINDS, first_share, tampered

Make = Callable[..., Any]
Curve = Sequence[tuple[int, float]]

STUDY = """
version = 1
title = "Two columns"
source = "nowhere"
kind = "audit"
score = "wade"
seeds = 6
[settings]
leaking = "transformer:causal=false"
causal = "transformer:causal=true"
exchange = ["language/qa"]
exchange_seeds = 2
[settings.closer]
task = "language/periodic"
parameter = "longest"
values = [5, 10]
[[settings.claims]]
text = "ESN above LSTM"
score = "wade"
better = ["ESN"]
than = ["LSTM"]
[learners]
ESN = "esn"
LSTM = "lstm"
[[rows]]
task = "language/periodic"
label = "1 periodic"
[[rows]]
task = "language/qa"
label = "5 qa"
"""


def trace(curve: Curve, cost: Cost | None = None, **facts: Any) -> Trace:
    steps, accuracy = np.array([step for step, _ in curve]), np.array([value for _, value in curve])
    usual = {"unit": "sequences", "item": "example", "tokens_per_sequence": 1.0, "constant": 0.5}
    return Trace(
        "learning-curve", {"step": steps, "accuracy": accuracy}, {**usual, **facts}, cost or Cost()
    )


def test_share_of_the_first_evaluation_by_hand() -> None:
    # Thresholds .01 to .20 at time 1 weigh 2.10, .21 to .30 at time 4 weigh 2.55 / 4.
    share = first_share(trace([(1, 0.2), (4, 0.3)]), "corrected")
    assert share == pytest.approx(2.10 / (2.10 + 2.55 / 4))
    assert first_share(trace([(1, 0.2), (4, 0.1)]), "corrected") == 1
    assert math.isnan(first_share(trace([(1, 0.0)]), "corrected"))


def test_the_first_evaluation_of_a_published_readout_counts_as_one_sequence() -> None:
    # Thresholds .01 to .19 (strictly below .2) at time 1; .20 to .29 at the second evaluation, 1 +
    # 8 / 4 sequences.
    curve = trace([(1, 0.2), (9, 0.3)], item="question", unit="tokens", tokens_per_sequence=4.0)
    assert first_share(curve, "published") == pytest.approx(1.90 / (1.90 + 2.45 / 3))


def test_both_units_of_time_by_hand() -> None:
    # A readout, 4 questions a sequence: accuracy .02 is the first above the threshold .01, after 8
    # questions.
    readout = trace(
        [(1, 0.01), (8, 0.02)], Cost(8, 8), item="question", unit="tokens", tokens_per_sequence=4.0
    )
    assert wade_in("updates", readout, "published") == pytest.approx(0.01 / 8 / 49.5)
    assert wade_in("sequences", readout, "published") == pytest.approx(0.01 / 2 / 49.5)
    # A network, 8 sequences an update.
    network = trace([(8, 0.01), (16, 0.02)], Cost(16, 2), batch=8)
    assert wade_in("updates", network, "published") == pytest.approx(0.01 / 2 / 49.5)
    assert wade_in("sequences", network, "published") == pytest.approx(0.01 / 16 / 49.5)
    # As corrected, thresholds are reached at, not above; time begins at 1 though the first step is
    # half a sequence.
    early = trace([(2, 0.02)], Cost(2, 2), item="question", unit="tokens", tokens_per_sequence=4.0)
    assert wade_in("sequences", early, "corrected") == pytest.approx(0.03 / 50.5)


def values(*numbers: float, first: int = 0) -> dict[tuple[int, int], float]:
    return {(0, first + place): number for place, number in enumerate(numbers)}


def test_only_common_seeds_are_compared_and_few_give_no_verdict() -> None:
    apart = compare(values(0.5, 0.6, 0.7), values(0.4, 0.5, first=1))
    assert apart.value == pytest.approx(0.2)
    assert (apart.n, apart.standing) == (2, UNTOLD)
    assert compare(values(0.5), {}).standing == UNTOLD
    six = values(*[0.5] * 6)
    assert compare(six, values(*[0.4] * 6)).standing == ABOVE
    assert compare(six, values(*[0.6] * 6)).standing == BELOW
    assert compare(six, values(0.4, 0.6, 0.4, 0.6, 0.4, 0.6)).standing == LEVEL


def by_table(**cells: str) -> Callable[[str, str], str]:
    return lambda one, other: cells[f"{one}_{other}"]


def test_one_better_column_must_be_above_all_others() -> None:
    claim = Claim("", "wade", ["A", "B"], ["C", "D"])
    assert claim.on_row(by_table(A_C=ABOVE, A_D=ABOVE, B_C=BELOW, B_D=BELOW)) == HOLDS
    # Neither A nor B is above both, and no single rival is above both.
    assert claim.on_row(by_table(A_C=ABOVE, A_D=BELOW, B_C=BELOW, B_D=ABOVE)) == OPEN
    assert claim.on_row(by_table(A_C=BELOW, A_D=LEVEL, B_C=BELOW, B_D=LEVEL)) == CONTRADICTED
    assert claim.on_row(by_table(A_C=ABOVE, A_D=UNTOLD, B_C=LEVEL, B_D=LEVEL)) == ABSENT


def test_every_better_column_must_be_above_every_other() -> None:
    claim = Claim("", "wade", ["A", "B"], ["C"], every=True)
    assert claim.on_row(by_table(A_C=ABOVE, B_C=ABOVE)) == HOLDS
    assert claim.on_row(by_table(A_C=ABOVE, B_C=LEVEL)) == OPEN
    assert claim.on_row(by_table(A_C=ABOVE, B_C=BELOW)) == CONTRADICTED


@pytest.mark.parametrize(
    ("wants", "found", "verdict"),
    [
        ("all", [HOLDS, HOLDS, HOLDS], STANDS),
        ("all", [HOLDS, HOLDS], CANNOT),
        ("all", [HOLDS, CONTRADICTED], FALLS),
        ("most", [HOLDS, HOLDS, CONTRADICTED], STANDS),
        ("most", [HOLDS, CONTRADICTED, CONTRADICTED], FALLS),
        ("most", [HOLDS, CONTRADICTED, OPEN], CANNOT),
        ("some", [CONTRADICTED, OPEN, HOLDS], STANDS),
        ("some", [CONTRADICTED, OPEN, ABSENT], CANNOT),
        ("some", [CONTRADICTED] * 3, FALLS),
    ],
)
def test_verdicts_over_three_rows(wants: str, found: list[str], verdict: str) -> None:
    assert Claim("", "wade", ["A"], ["B"], wants=wants).verdict(found, 3) == verdict


def test_a_number_that_was_not_printed_is_no_lack_of_runs() -> None:
    claim = Claim("", "wade", ["human"], ["A", "B"])
    assert claim.on_row(lambda one, other: UNPRINTED) == UNPRINTED
    assert claim.on_row(lambda one, other: UNTOLD) == ABSENT


def test_the_human_was_scored_by_another_formula(tmp_path: Path) -> None:
    rows = (
        Claims().blocks(Request(find_study("wade-audit"), tmp_path, "corrected", 6)).facts["claims"]
    )
    (human,) = (row for row in rows if "human" in row["claim"])
    assert {human[name]["verdict"] for name in ("published", "corrected")} == {INCOMPARABLE}
    assert set(human["printed"].values()) == {INCOMPARABLE}
    claim = Claim("", "wade", ["A"], ["human", "B"])
    assert claim.on_row(by_table(A_human=INCOMPARABLE, A_B=ABOVE)) == INCOMPARABLE
    assert claim.verdict([INCOMPARABLE, HOLDS], 2) == CANNOT


def test_who_learns_faster_or_reaches_more_is_judged_by_a_score_that_can_say_it(
    tmp_path: Path,
) -> None:
    claims = [Claim(**facts) for facts in find_study("wade-table4").settings["claims"]]
    by = {claim.judged_by for claim in claims if "learns faster" in claim.text}
    assert by == {"wade-above-chance"}
    assert {claim.judged_by for claim in claims if "accuracy" in claim.text} == {"final-accuracy"}
    assert not any("maximum" in claim.judged_by for claim in claims)
    # The audit and the table have the same ones.
    assert (
        find_study("wade-audit").settings["claims"] == find_study("wade-table4").settings["claims"]
    )


def test_a_claim_about_nothing_stands_on_nothing() -> None:
    assert Claim("", "wade", ["A"], ["B"]).verdict([], 0) == CANNOT
    with pytest.raises(UsageError, match='got "many"'):
        Claim("", "wade", ["A"], ["B"], wants="many")


def test_the_claims_written_down_follow_from_the_printed_tables(tmp_path: Path) -> None:
    made = Claims().blocks(Request(find_study("wade-audit"), tmp_path, "corrected", 6))
    (table,) = (one for one in every(made.blocks) if isinstance(one, Table))
    assert len(table.lines) > 4
    # In the file the verdicts stand alone, and what each row says in a cell of its own.
    heading, *rows = table.data
    assert {row[1] for row in rows if "human" not in row[0]} == {STANDS}
    assert {row[3] for row in rows} == {NOT_RUN}
    assert rows[0][heading.index("printed: 9 adjective-qa")] == CONTRADICTED


def run_of(
    task: str,
    learner: str,
    convention: str,
    repetition: int,
    wade: float,
    accuracy: float,
    curve: Curve = ((1, 0.5),),
) -> Record:
    setting = Setting(task, learner, convention)
    parts = setting.resolve()
    facts = {"batch": 1, "training_sequences": 41, "test_sequences": 11, "test_questions": 900}
    scores = {
        "wade": {"version": 1, "values": {"wade": wade}},
        "accuracy": {
            "version": 1,
            "values": {"maximum-accuracy": accuracy, "final-accuracy": accuracy},
        },
    }
    made = inline_trace(trace(curve, **facts)) or {}
    what = identity(setting, parts, repetition)
    return Record(
        what,
        OK,
        cost=Cost(1, 1).as_facts(),
        scores=scores,
        trace=made,
        labels=labels(setting, parts),
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "two.toml"
    path.write_text(STUDY)
    return find_study(str(path))


def the_page(study: Study, folder: Path) -> Page:
    return page_of(Request(study, folder, "published", 6))


def words(page: Page) -> str:
    return " ".join(one.text for one in every(screen_page(page).blocks) if isinstance(one, Text))


def grid(page: Page, name: str) -> list[tuple[str, ...]]:
    """A table as it is read, the heading first."""
    found = next(one for one in every(page.blocks) if isinstance(one, Table) and one.name == name)
    return [
        tuple(column.title for column in found.columns),
        *(tuple(map(spoken, line.cells)) for line in found.lines),
    ]


def lower(records: Sequence[Record], better: str = "lower") -> list[Record]:
    """The same runs, with a WADE of which less is better."""
    legend = {"scores": {"wade": {"wade": {"better": better} if better else {}}}}
    return [dataclasses.replace(record, legend=legend) for record in records]


@pytest.mark.parametrize(
    ("better", "control", "claim"),
    [
        ("higher", "polarity", "holds"),
        ("lower", "majority", "contradicted"),
        ("", None, "direction unknown"),
    ],
)
def test_best_control_and_claims_go_by_the_direction(
    study: Study, save: Make, tmp_path: Path, better: str, control: str | None, claim: str
) -> None:
    scored = {"esn": 0.30, "lstm": 0.10, "majority": 0.15, "polarity": 0.20}
    runs = [
        run_of("language/qa", learner, "published", seed, wade, wade + 0.5)
        for learner, wade in scored.items()
        for seed in range(6)
    ]
    page = the_page(study, save(tmp_path / "runs", lower(runs, better)))
    facts = page.facts["controls"]["published"]["wade"]
    assert facts.get("5 qa", {}).get("control") == control
    assert page.facts["claims"]["claims"][0]["published"]["rows"]["5 qa"] == claim
    assert (
        "It is not declared whether higher or lower is better (↕): wade." in words(page)
    ) is not bool(better)


def test_a_folder_without_runs_gives_a_page_that_says_so(study: Study, tmp_path: Path) -> None:
    page = the_page(study, tmp_path / "none")
    assert "No finished runs under the convention published: 1 periodic; 5 qa." in words(page)
    assert "There are no runs of transformer:causal=false or transformer:causal=true." in words(
        page
    )
    assert "Convention corrected: no runs of the controls." in words(page)
    assert "undecided" in as_html(page)
    assert page.whole


def test_models_are_judged_against_the_best_control_and_never_the_oracle(
    study: Study, save: Make, tmp_path: Path
) -> None:
    scored = {"esn": 0.30, "lstm": 0.10, "majority": 0.15, "polarity": 0.20, "qa-oracle": 0.99}
    records = [
        run_of("language/qa", learner, "published", seed, wade, wade + 0.5)
        for learner, wade in scored.items()
        for seed in range(6)
    ]
    page = the_page(study, save(tmp_path / "runs", records))
    found = page.facts["controls"]["published"]["wade"]["5 qa"]
    assert found["control"] == "polarity"
    assert found["models"]["ESN"]["difference"] == pytest.approx(0.1)
    assert {column: one["standing"] for column, one in found["models"].items()} == {
        "ESN": ABOVE,
        "LSTM": BELOW,
    }
    assert ("5 qa", "qa-oracle") in [row[:2] for row in grid(page, "two-rules-published")]
    assert (
        "Above the best control by WADE, convention published: ESN on 5 qa; LSTM on none."
        in words(page)
    )
    assert "No finished runs under the convention published: 1 periodic." in words(page)
    # One of two tasks holds, and the other has no runs.
    assert grid(page, "two-claims")[1][2:] == ("WADE", "undecided [5; – 1]", "not run")
    # All of the score of a curve with one evaluation comes from that one.
    assert page.facts["first"]["published"]["ESN"]["5 qa"] == 1
    assert page.facts["time"]["published"]["5 qa"]["as published"]["ranking"] == ["ESN", "LSTM"]
    assert page.facts["material"]["tasks"]["5 qa"]["published"] == {"train": [41], "test": [11]}
    assert grid(page, "two-sequences")[1] == ("5 qa", "published", "52", "41", "11", "900")


def test_a_guesser_is_not_above_a_flat_rule_by_the_luckiest_of_its_tests(
    study: Study, save: Make, tmp_path: Path
) -> None:
    rng = np.random.default_rng(4)
    records = []
    for seed in range(10):
        guesses = rng.binomial(240, 0.5, 87) / 240
        for learner, marks in (
            ("esn", guesses),
            ("lstm", guesses[::-1]),
            ("majority", np.full(87, 0.5)),
        ):
            made = run_of("language/qa", learner, "corrected", seed, 0.1, float(marks[-1]))
            made.scores["accuracy"]["values"]["maximum-accuracy"] = float(marks.max())
            records.append(made)
    page = page_of(Request(study, save(tmp_path / "runs", records), "corrected", 6))
    found = page.facts["controls"]["corrected"]
    assert "maximum-accuracy" not in found
    assert {one["standing"] for one in found["final-accuracy"]["5 qa"]["models"].values()} == {
        LEVEL
    }


def test_the_leak_and_the_exchange(study: Study, save: Make, tmp_path: Path) -> None:
    leaking, causal = study.settings["leaking"], study.settings["causal"]
    accuracy = {leaking: 1.0, causal: 0.7}
    for network, exchanged, blank in ((leaking, 0.0, 0.5), (causal, 0.7, 0.7)):
        accuracy[tampered(network, "exchange")] = exchanged
        accuracy[tampered(network, "blank")] = blank
    records = [
        run_of("language/qa", learner, "published", seed, 0.1, value)
        for learner, value in accuracy.items()
        for seed in range(6)
    ]
    page = the_page(study, save(tmp_path / "runs", records))
    found = page.facts["leak"]["tasks"]["5 qa"]
    assert found["final-accuracy"] == {
        "leaking": pytest.approx(1.0),
        "causal": pytest.approx(0.7),
        "standing": ABOVE,
    }
    assert found["wade"]["standing"] == LEVEL
    swap = page.facts["leak"]["swap"]["5 qa"]
    assert swap["leaking"] == {"as_trained": 1.0, "exchange": 0.0, "blank": 0.5, "reacts": True}
    assert swap["causal"]["reacts"] is False
    assert (
        "raises final accuracy on 1 of the 1 task with enough runs (interval above 0): 5 qa."
        in words(page)
    )
    assert (
        "leaking network reacts on 5 qa; the causal one reacts on none and does not on 5 qa."
        in words(page)
    )
    assert [row[-1] for row in grid(page, "two-swap")[1:]] == ["yes", "no"]


@pytest.mark.parametrize(
    ("seeds", "off", "reacts", "shown"),
    [(6, 1, False, "no"), (6, 6, True, "yes"), (5, 5, None, "?")],
)
def test_a_network_reacts_if_its_interval_says_so_and_not_by_one_question(
    study: Study, save: Make, tmp_path: Path, seeds: int, off: int, reacts: bool | None, shown: str
) -> None:
    causal = study.settings["causal"]
    names = [causal, *(tampered(causal, how) for how in KINDS)]
    records = [
        # Some runs of the network as it was trained have one question of a thousand more right.
        run_of(
            "language/qa",
            name,
            "published",
            seed,
            0.1,
            0.641 + 0.001 * (name == causal and seed < off),
        )
        for name in names
        for seed in range(seeds)
    ]
    page = the_page(study, save(tmp_path / "runs", records))
    assert page.facts["leak"]["swap"]["5 qa"]["causal"]["reacts"] is reacts
    assert grid(page, "two-swap")[1][-1] == shown


def test_an_exchange_that_was_interrupted_compares_the_seeds_that_are_whole(
    study: Study, save: Make, tmp_path: Path
) -> None:
    causal = study.settings["causal"]
    names = [causal, *(tampered(causal, how) for how in KINDS)]
    # Seed 1, which is another in its accuracy, has been exchanged but not yet blanked.
    runs = [(name, seed) for name in names for seed in range(2) if (name, seed) != (names[2], 1)]
    records = [
        run_of("language/qa", name, "published", seed, 0.1, 0.7 + 0.2 * seed) for name, seed in runs
    ]
    page = the_page(study, save(tmp_path / "runs", records))
    wanted = {"as_trained": 0.7, "exchange": 0.7, "blank": 0.7, "reacts": None}
    assert page.facts["leak"]["swap"]["5 qa"]["causal"] == wanted


def test_the_runs_that_an_audit_needs(study: Study, tmp_path: Path) -> None:
    first, second = stages_of(Request(study, tmp_path, "corrected", 6))
    assert first.seeds == 6
    wanted = {(one.task, one.learner, one.convention) for one in first.settings}
    for convention in ("published", "corrected"):
        assert ("language/qa", "esn", convention) in wanted
        assert ("language/qa", "majority", convention) in wanted
        assert ("language/periodic:longest=10", "lstm", convention) in wanted
    assert ("language/qa", "transformer:causal=true", "published") in wanted
    assert ("language/qa", "transformer:causal=true", "corrected") not in wanted
    # Every network in two ways, on the one task that is named, with fewer seeds.
    assert second.seeds == 2
    assert len(second.settings) == 4
    only, _ = stages_of(Request(study, tmp_path, "published", 6))
    assert {one.convention for one in only.settings} == {"published"}


def test_every_learner_of_the_audit_exists() -> None:
    for stage in stages_of(Request(find_study("wade-audit"), Path("none"), "corrected", 2)):
        for setting in {(one.learner, one.convention): one for one in stage.settings}.values():
            setting.resolve()


def test_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from quickstudy.cli.main import app

    text = STUDY.replace('ESN = "esn"\nLSTM = "lstm"', 'ESN = "copy-last"\nLSTM = "majority"')
    text = text.replace(
        'leaking = "transformer:causal=false"\ncausal = "transformer:causal=true"\n', ""
    )
    path = tmp_path / "rules.toml"
    path.write_text(text.replace("values = [5, 10]", "values = [3]"))
    arguments = [
        "--only",
        "language/periodic",
        "--seeds",
        "2",
        "--convention",
        "published",
        "-j",
        "0",
        "--json",
    ]
    done = CliRunner().invoke(
        app, ["reproduce", str(path), "-o", str(tmp_path / "results"), *arguments]
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["material"]["tasks"]["1 periodic"]["published"] == {"train": [41], "test": [11]}
    assert facts["controls"]["published"]["wade"]["1 periodic"]["models"].keys() == {"ESN", "LSTM"}
    assert facts["claims"]["claims"][0]["published"]["verdict"] == CANNOT
    assert facts["material"]["closer"]["wade"]["published"].keys() == {
        "language/periodic:longest=3"
    }
    assert (tmp_path / "results" / "rules-published.html").is_file()
