"""A card of a learner in plain NumPy: what is run, what is found again, what is said where it
cannot.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.study import find_study
from quickstudy.pages.profile.index import read_index


class Copies:
    """Answers the symbol just read; breaks on vocabularies of more than nine symbols."""

    def __init__(self, brief: Any, seed: int) -> None:
        self.symbols = brief.inputs.size

    def learn(self, inputs: Any, targets: Any) -> None:
        pass

    def predict(self, inputs: Any) -> Any:
        if self.symbols > 9:
            raise RuntimeError("too many symbols")
        return np.array(inputs)


class First(Copies):
    """Answers 0."""

    def predict(self, inputs: Any) -> Any:
        return np.zeros(len(inputs), int)


FAMILIES = ["language", "dynamics"]
VERSION = find_study("profile-quick").version


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    folder = tmp_path_factory.mktemp("profile")
    one = qs.profile(Copies, seeds=2, out=folder, families=FAMILIES, progress=False)
    return folder, one, qs.profile(First, seeds=2, out=folder, families=FAMILIES, progress=False)


def test_an_item_that_fails_costs_that_item_and_the_number_of_its_family(
    made: tuple[Path, Any, Any],
) -> None:
    _, card, _ = made
    language, dynamics = card.facts["families"]
    copy, lookup = language["items"]
    assert (copy["item"], copy["seeds"], copy["reason"]) == ("copy", 2, "")
    assert copy["span"] == pytest.approx(0, abs=0.2), (
        "the bar is never an answer, and later letters are chance"
    )
    assert "too many symbols" in lookup["reason"]
    assert language["share"] is None, "no number of a family with an item missing"
    assert [one["item"] for one in language["missing"]] == ["lookup"]
    assert all(item["span"] is None for item in dynamics["items"])
    assert card.execution.exit_status == 1


def test_spans_and_intervals_are_what_their_definitions_say(made: tuple[Path, Any, Any]) -> None:
    copy = made[2].facts["families"][0]["items"][0]
    logs = np.log1p(copy["spans"])
    assert copy["span"] == pytest.approx(np.expm1(logs.mean()))
    half = 12.7062 * logs.std(ddof=1) / np.sqrt(2)
    low, high = (max(0.0, np.expm1(logs.mean() - half)), min(32.0, np.expm1(logs.mean() + half)))
    assert copy["interval"] == pytest.approx([low, high], rel=1e-4, abs=1e-9)
    assert (copy["unit"], copy["end"], copy["ceiling"]) == ("symbols copied", 32, False)
    assert copy["difficulty"] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]


def test_words_have_units_and_few_seeds_are_mentioned(made: tuple[Path, Any, Any]) -> None:
    words = made[1].facts["words"]
    assert words[0].startswith("Copies copies ")
    assert any("2 seeds: use --seeds 6 or more" in sentence for sentence in words)
    assert any("No span on lookup (failed: RuntimeError: too many symbols" in one for one in words)
    assert "No number for language (lookup missing) and dynamics (delay, ahead missing)." in words


def test_cards_of_one_folder_keep_their_own_tables(made: tuple[Path, Any, Any]) -> None:
    folder, one, second = made
    for card in (one, second):
        table = (folder / f"{card.path.stem}-spans.csv").read_text()
        assert card.facts["learner"] in table
        assert f"{card.path.stem}-spans.csv" in card.path.read_text()
    assert "Copies" in second.path.read_text(), "the learners of one folder are compared"


def test_a_card_has_a_machine_readable_and_a_latex_file(made: tuple[Path, Any, Any]) -> None:
    folder, card, _ = made
    facts = json.loads((folder / "card-Copies.json").read_text())
    assert facts == json.loads(json.dumps(card.facts))
    for family in facts["families"]:
        assert {"family", "share", "interval", "rank", "items"} <= set(family)
        for item in family["items"]:
            assert {"item", "unit", "span", "interval", "ceiling", "rank", "reason"} <= set(item)
    copy, lookup = facts["families"][0]["items"]
    assert set(copy["rank"]) == {"more_than", "less_than", "of"}
    assert (lookup["item"], lookup["span"], lookup["rank"]) == ("lookup", None, None)
    assert "symbols copied" in (folder / "card-Copies.tex").read_text()


def test_a_terminal_shows_the_chart_one_sentence_and_what_limits_it(
    made: tuple[Path, Any, Any],
) -> None:
    from quickstudy.api.profile import screen_page
    from quickstudy.render.terminal import as_text

    lines = as_text(screen_page(made[1].page), 80).splitlines()
    assert len(lines) < 20
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith("2 families, 4 items, 2 seeds, ")
    assert any("symbols copied" in line and "●0.0" in line for line in lines)
    assert any("no span: failed: RuntimeError" in line for line in lines)
    assert "Copies copies 0.0 symbols." in lines


def test_nothing_is_run_twice_and_more_seeds_extend(made: tuple[Path, Any, Any]) -> None:
    folder = made[0]
    assert json.loads((folder / "profile.json").read_text())["learners"] == ["Copies", "First"]
    again = qs.profile(First, seeds=2, out=folder, families=FAMILIES, progress=False)
    assert (again.execution.ok, again.execution.failed) == (0, 0)
    more = qs.profile(First, seeds=3, out=folder, families=["language"], progress=False)
    assert more.facts["families"][0]["items"][0]["seeds"] == 3


def test_rulesets_are_not_mixed(made: tuple[Path, Any, Any], tmp_path: Path) -> None:
    with pytest.raises(
        qs.UsageError, match=f"not mixed with profile-quick version {VERSION}, tuned"
    ):
        qs.profile("esn", out=made[0], tuned=True)
    with pytest.raises(qs.UsageError, match="names several learners"):
        qs.profile("esn:units=10|20", out=tmp_path)
    with pytest.raises(qs.UsageError, match='no parameter "unist"'):
        qs.profile("esn:unist=10", out=tmp_path)


def test_cards_of_an_old_version_are_left_alone(tmp_path: Path, monkeypatch: Any) -> None:
    """Whoever says no folder gets one of his own beside them; whoever names theirs is told what to
    do.
    """
    from quickstudy.api.profile import request_profile

    monkeypatch.chdir(tmp_path)
    usual = Path("results", "profile-quick")
    assert request_profile("esn").folder == usual
    usual.mkdir(parents=True)
    index = {"study": "profile-quick", "version": 1, "ruleset": "as given", "learners": ["esn"]}
    (usual / "profile.json").write_text(json.dumps(index))
    assert request_profile("esn").folder == Path("results", f"profile-quick-version-{VERSION}")
    assert request_profile("esn", budget="standard").folder == Path("results", "profile-standard")
    with pytest.raises(
        qs.UsageError, match=r"has cards of profile-quick version 1.*give another folder by --out"
    ):
        request_profile("esn", out=usual)


def test_several_may_be_examined_in_one_folder_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    """All stand in its index: nobody writes what another has read before him."""
    from quickstudy.api import profile as profiling

    def read_slowly(folder: Path) -> Any:
        found = read_index(folder)
        time.sleep(0.02)
        return found

    requests = [
        profiling.request_profile(name, out=tmp_path) for name in ("esn", "lstm", "bag", "reca")
    ]
    monkeypatch.setattr(profiling, "read_index", read_slowly)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(profiling._note, requests))
    assert sorted(read_index(tmp_path)["learners"]) == ["bag", "esn", "lstm", "reca"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile.json"]


def test_a_site_of_cards(made: tuple[Path, Any, Any], tmp_path: Path) -> None:
    from quickstudy.pages.site import write_site

    page = write_site([made[0]], tmp_path / "site").read_text()
    table = list(csv.DictReader((tmp_path / "site" / "cards-0-map.csv").read_text().splitlines()))
    copied = {row["learner"]: row for row in table if row["item"] == "copy"}
    assert set(copied) == {"Copies", "First"}
    assert copied["Copies"]["unit"] == "symbols copied"
    found = json.loads((made[0] / "card-Copies.json").read_text())["families"][0]["items"][0]
    assert float(copied["Copies"]["span"]) == found["span"]
    assert (
        next(row for row in table if row["learner"] == "Copies" and row["item"] == "lookup")["span"]
        == ""
    )
    assert 'href="./0-card-First.html"' in page, "a learner leads to its card"
    assert "as given" in page
    assert list((tmp_path / "site").glob("0-card-*.html"))
    other = tmp_path / "other"
    qs.run(
        "language/periodic",
        First,
        seeds=2,
        out=other,
        convention="published",
        protocol={"sequences": 50},
    )
    with pytest.raises(
        qs.UsageError, match="several conventions do not stand side by side: corrected, published"
    ):
        write_site([made[0], other], tmp_path / "site")
    tuned = tmp_path / "tuned"
    qs.run("language/periodic", First, seeds=2, out=tuned, protocol={"sequences": 50})
    (tuned / "profile.json").write_text(
        json.dumps({"study": "profile-quick", "version": 1, "ruleset": "tuned", "learners": []})
    )
    with pytest.raises(qs.UsageError, match="several rulesets do not stand side by side"):
        write_site([made[0], tuned], tmp_path / "site")


def test_learners_are_compared_in_the_units_of_their_items(made: tuple[Path, Any, Any]) -> None:
    row = next(
        one for one in qs.compare(made[0], "First", "Copies") if one.task.startswith("span/copy")
    )
    assert row.unit == "symbols copied"
    spans = [card.facts["families"][0]["items"][0]["spans"] for card in (made[2], made[1])]
    assert row.spans == pytest.approx([np.expm1(np.log1p(own[:2]).mean()) for own in spans])
    shares = [np.log1p(own[:2]) / np.log1p(32) for own in spans]
    assert row.difference == pytest.approx(np.mean(shares[0]) - np.mean(shares[1]))
    assert row.family is not None
    assert row.family.family == "language", "an item belongs to its family in the battery"


@pytest.mark.parametrize("command", [["report"], ["site"], ["compare", "First", "Copies"]])
def test_cards_of_two_versions_are_refused_in_one_line(
    command: list[str], made: tuple[Path, Any, Any], tmp_path: Path
) -> None:
    """One folder of an old version can be read; the two together cannot."""
    from quickstudy.pages.site import write_site

    old = tmp_path / "old"
    shutil.copytree(made[0], old)
    (old / "profile.json").write_text(
        (old / "profile.json").read_text().replace(f": {VERSION},", ": 3,")
    )
    with pytest.raises(qs.UsageError) as refused:
        main_command()([*command, str(made[0]), str(old)], standalone_mode=False)
    assert re.fullmatch(
        r"several versions of profile-quick do not stand side by side \(version 3: .*; version \d+:"
        r" .*\); "
        "profile the learners of the older again, or name folders of one version",
        str(refused.value),
    )
    assert "First" in write_site([old], tmp_path / "site").read_text()


@pytest.mark.parametrize("command", [["report"], ["compare", "First", "Copies"]])
def test_neither_reports_nor_comparisons_mix_rulesets(command: list[str], tmp_path: Path) -> None:
    folders = {ruleset: tmp_path / ruleset.replace(" ", "-") for ruleset in ("as given", "tuned")}
    for ruleset, folder in folders.items():
        folder.mkdir()
        facts = {"study": "profile-quick", "version": 1, "ruleset": ruleset, "learners": []}
        (folder / "profile.json").write_text(json.dumps(facts))
        (folder / "runs").mkdir()
    with pytest.raises(qs.UsageError, match="several rulesets do not stand side by side"):
        main_command()([*command, *map(str, folders.values())], standalone_mode=False)


def main_command() -> Any:
    import typer.main

    from quickstudy.cli.main import app

    return typer.main.get_command(app)


def test_tuning_is_on_tasks_and_seeds_that_are_not_reported() -> None:
    from quickstudy.api.profile import BUDGETS, request_profile
    from quickstudy.pages.profile.tuning import candidates, tuning_settings

    for budget in set(BUDGETS) - {"context"}:
        request = request_profile("lstm", budget=budget, tuned=True)
        reported = {row.task for row in request.rows}
        settings = list(tuning_settings(request, "lstm"))
        assert {one.root for one in settings} == {2**32}
        assert not reported & {one.task for one in settings}
        # 1, 0.3 and 3 times the usual rate of each family's training.
        tried = [f"lstm:rate={rate}" for rate in ("0.005", "0.0015", "0.015")]
        assert candidates("lstm", request, "dynamics") == tried
        with pytest.raises(qs.UsageError, match="the budget is"):
            candidates(
                "lstm:rate=" + "|".join(f"0.0{n}" for n in range(1, 20)), request, "dynamics"
            )
    with pytest.raises(
        qs.UsageError, match="leave out --tuned"
    ):  # language models have nothing to tune
        list(tuning_settings(request_profile("lstm", budget="context", tuned=True), "lstm"))


COUNTED = """
import pathlib, sys
import quickstudy as qs
from quickstudy.jax_gateway import jax, jnp, lax, programs

out = pathlib.Path(sys.argv[2])
qs.profile(sys.argv[1], out=out, workers=0, progress=False, **eval(sys.argv[3]))
names = [name[4:-1] for name in programs()]
print(*(name for name in names if not hasattr(jnp, name) and not hasattr(lax, name)))
"""
TINY = {"start", "rows", "stage", "_where", "_started", "scored", "_with_an_axis", "handed_over"}
"""Programs of ours that take no fifth of a second to compile, and one of JAX."""
COUNTING = "counts"
"""The program by which effective MACs are counted, one an item, once in a process: what a dry run
says are programs that learn and answer.
"""


def announced(learner: str, out: Path, **asked: Any) -> int:
    """Programs that a dry run says will be compiled."""
    from quickstudy.api.profile import request_profile
    from quickstudy.pages.study_request import stages_of
    from quickstudy.runs.plan import make_plan

    stage = next(stages_of(request_profile(learner, out=out, **asked)))
    return make_plan(stage.settings, stage.seeds).summary().programs


def compiled(learner: str, out: Path, **asked: Any) -> list[str]:
    """Programs that are compiled, in a fresh process."""
    command = [sys.executable, "-c", COUNTED, learner, str(out), repr(asked)]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in made if name not in TINY | {COUNTING}]


@pytest.mark.parametrize(
    ("learner", "family"), [("lstm:units=8", "language"), ("esn:units=50", "grammar")]
)
def test_a_dry_run_says_how_many_programs_will_be_compiled_at_most(
    learner: str, family: str, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"families": [family], "seeds": 1}
    said, made = announced(learner, tmp_path, **asked), compiled(learner, tmp_path, **asked)
    assert 0 < len(made) <= said
    if family == "language":  # two items; on each another one if its test grows beyond the lesson
        assert sorted(made) == ["answered", "answered", "updated", "updated"]
        assert said == len(made) + 2


@pytest.mark.parametrize(("learner", "most"), [("esn", 26), ("lstm", 28)])
def test_a_quick_profile_needs_few_programs(learner: str, most: int, tmp_path: Path) -> None:
    """By the dry run, which says no fewer than are compiled: see the test before."""
    assert announced(learner, tmp_path) <= most


def test_a_file_with_one_learner_need_not_name_it(tmp_path: Path) -> None:
    from quickstudy.learners.learner_spec import choose_learner

    file = tmp_path / "one.py"
    text = (
        "def helper():\n    pass\n\n\nclass {0}:\n    def __init__(self, brief, seed, width=2):\n  "
        "      pass\n\n"
    )
    text += (
        "    def learn(self, inputs, targets):\n        pass\n\n    def predict(self, inputs):\n   "
        "     return inputs\n"
    )
    file.write_text(text.format("Only"))
    assert choose_learner(str(file), "corrected").label == "one.py:Only"
    card = qs.profile(
        str(file), seeds=1, families=["grammar"], out=tmp_path / "out", workers=0, progress=False
    )
    assert card.facts["learner"] == "one.py:Only"
    assert (card.path.name, card.page.title) == (
        "card-one-Only.html",
        "one.py:Only: Profile, quick, as given",
    )
    assert choose_learner(f"{file}:width=3", "corrected").label == "one.py:Only:width=3"
    two = tmp_path / "two.py"
    two.write_text(text.format("One") + "\n\n" + text.format("Two"))
    with pytest.raises(qs.UsageError, match="which learner of"):
        choose_learner(str(two), "corrected")
