"""A card of a learner in plain NumPy: what is run, what is found again, what is said where it cannot."""

from __future__ import annotations

import json
import re
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
from quickstudy.pages.profile.standing import Family, Standing
from quickstudy.pages.profile.words import PHRASES, in_short, phrase
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.report.statistics import Contrast
from quickstudy.stats.intervals import Interval


class Last:
    """Answers what it was last told; breaks where there are more than two symbols."""

    def __init__(self, brief: Any, seed: int) -> None:
        self.answer, self.symbols = 0, brief.inputs.size

    def learn(self, inputs: Any, targets: Any) -> None:
        self.answer = targets[-1]

    def predict(self, inputs: Any) -> Any:
        if self.symbols > 2:
            raise RuntimeError("too many symbols")
        return np.full(len(inputs), self.answer)


class First(Last):
    """Answers 0."""

    def predict(self, inputs: Any) -> Any:
        return np.zeros(len(inputs), int)


FAMILIES = ["language", "curriculum"]
VERSION = find_study("profile-quick").version


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    folder = tmp_path_factory.mktemp("profile")
    one = qs.profile(Last, seeds=2, out=folder, families=FAMILIES, progress=False)
    return folder, one, qs.profile(First, seeds=2, out=folder, families=FAMILIES, progress=False)


def test_who_breaks_on_one_task_still_has_the_others(made: tuple[Path, Any, Any]) -> None:
    _, card, _ = made
    language, curriculum = card.facts["families"]
    periodic, qa = language["tasks"]
    assert (periodic["runs"], periodic["why"]) == (2, "")
    assert language["scaled"] == pytest.approx(periodic["scaled"])
    assert qa["why"] == "failed: RuntimeError: too many symbols" or "too many symbols" in qa["why"]
    assert [one["task"] for one in language["without_scale"]] == [qa["task"]]
    assert curriculum["scaled"] is None
    assert "not-applicable" in curriculum["tasks"][0]["why"]
    assert card.execution.exit_status == 1
    # scaled is what its definition says, of the numbers on the card.
    wanted = (periodic["value"] - periodic["control"]) / (periodic["oracle"] - periodic["control"])
    assert periodic["scaled"] == pytest.approx(wanted)


def test_every_sentence_has_its_number_and_few_runs_are_no_verdict(made: tuple[Path, Any, Any]) -> None:
    words = made[1].facts["words"]
    assert any(f"{made[1].facts['families'][0]['tasks'][0]['value']:.3f}" in sentence for sentence in words)
    assert any("2 runs a task are too few for a verdict" in sentence for sentence in words)
    assert any("has no place on the scale" in sentence for sentence in words)


def test_another_stands_beside_and_rules_are_not_run_again(made: tuple[Path, Any, Any]) -> None:
    folder, _, second = made
    assert second.execution.found["ok"] >= 2 * 4
    assert "Last" in second.path.read_text()
    assert json.loads((folder / "profile.json").read_text())["learners"] == ["Last", "First"]
    again = qs.profile(First, seeds=2, out=folder, families=FAMILIES, progress=False)
    assert (again.execution.ok, again.execution.failed) == (0, 0)
    more = qs.profile(First, seeds=3, out=folder, families=["language"], progress=False)
    assert more.facts["families"][0]["tasks"][0]["runs"] == 3


def test_a_person_who_has_played_stands_on_the_card(made: tuple[Path, Any, Any]) -> None:
    folder, task = made[0], "curriculum/chain:members=micro-1/micro-2/micro-4"
    sitting = Sitting(Invitation(task, amount=40, name="ann"), folder)
    while not sitting.seat.over:
        sitting.seat.answer("")
    assert sitting.keep() is not None
    card = qs.profile(First, seeds=2, out=folder, families=FAMILIES, progress=False)
    page = card.path.read_text()
    beside = page[page.index('-beside"') :]
    row = next(part for part in beside.split("<tr>") if "name=" in part)
    values = re.findall(r'<td class="number"(?: data-value="([^"]*)")?>', row.partition("</tr>")[0])
    assert values == ["", "0.0"]  # no task of words was played; silence passes nothing, no more than the best rule
    assert "People: examined in a shorter form" in page


def test_rulesets_are_not_mixed(made: tuple[Path, Any, Any], tmp_path: Path) -> None:
    with pytest.raises(qs.UsageError, match=f"not mixed with profile-quick version {VERSION}, tuned"):
        qs.profile("esn", out=made[0], tuned=True)
    with pytest.raises(qs.UsageError, match="stands for several learners"):
        qs.profile("esn:units=10|20", out=tmp_path)
    with pytest.raises(qs.UsageError, match='no parameter "unist"'):
        qs.profile("esn:unist=10", out=tmp_path)


def test_cards_of_an_old_version_are_left_alone(tmp_path: Path, monkeypatch: Any) -> None:
    """Whoever says no folder gets one of his own beside them; whoever names theirs is told what to do."""
    from quickstudy.profiling import request_profile

    monkeypatch.chdir(tmp_path)
    usual = Path("results", "profile-quick")
    assert request_profile("esn").folder == usual
    usual.mkdir(parents=True)
    index = {"study": "profile-quick", "version": 1, "ruleset": "as given", "learners": ["esn"]}
    (usual / "profile.json").write_text(json.dumps(index))
    assert request_profile("esn").folder == Path("results", f"profile-quick-version-{VERSION}")
    assert request_profile("esn", budget="standard").folder == Path("results", "profile-standard")
    with pytest.raises(qs.UsageError, match=r"has cards of profile-quick version 1.*give another folder by --out"):
        request_profile("esn", out=usual)


def test_several_may_be_examined_in_one_folder_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    """All stand in its index: nobody writes what another has read before him."""
    from quickstudy import profiling

    def read_slowly(folder: Path) -> Any:
        found = read_index(folder)
        time.sleep(0.02)
        return found

    requests = [profiling.request_profile(name, out=tmp_path) for name in ("esn", "lstm", "bag", "reca")]
    monkeypatch.setattr(profiling, "read_index", read_slowly)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(profiling._note, requests))
    assert sorted(read_index(tmp_path)["learners"]) == ["bag", "esn", "lstm", "reca"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile.json"]


def test_a_site_of_cards(made: tuple[Path, Any, Any], tmp_path: Path) -> None:
    from quickstudy.pages.site import write_site

    page = write_site([made[0]], tmp_path / "site").read_text()
    assert "First" in page
    assert "as given" in page
    assert list((tmp_path / "site").glob("0-card-*.html"))
    other = tmp_path / "other"
    qs.run("language/periodic", First, seeds=2, out=other, convention="published", protocol={"sequences": 50})
    with pytest.raises(qs.UsageError, match="several conventions do not stand side by side: corrected, published"):
        write_site([made[0], other], tmp_path / "site")
    tuned = tmp_path / "tuned"
    qs.run("language/periodic", First, seeds=2, out=tuned, protocol={"sequences": 50})
    (tuned / "profile.json").write_text(
        json.dumps({"study": "profile-quick", "version": 1, "ruleset": "tuned", "learners": []})
    )
    with pytest.raises(qs.UsageError, match="several rulesets do not stand side by side"):
        write_site([made[0], tuned], tmp_path / "site")


@pytest.mark.parametrize("command", [["report"], ["compare", "First", "Last"]])
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


def family(value: float | None, low: float = 0.0, high: float = 0.0, n: int = 6) -> Family:
    return Family("language", "", [], Contrast(value, Interval(low, high) if value is not None else None, "", n))


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (family(0.9, 0.8, 1.0), PHRASES["language"].far),
        (family(0.3, 0.2, 0.4), PHRASES["language"].some),
        (family(0.3, -0.1, 0.7), PHRASES["language"].none),  # the interval does not bear it out
        (family(0.3, -0.1, 0.7, n=3), PHRASES["language"].some),  # the mean, and the card says it is no verdict
        (family(-0.2, -0.3, -0.1), PHRASES["language"].none),
        (family(None), ""),
    ],
)
def test_words_follow_from_numbers(of: Family, said: str) -> None:
    assert phrase(of) == said
    assert said in in_short(Standing("x", "as given", [of]))


def test_tuning_is_on_tasks_and_seeds_that_are_not_reported() -> None:
    from quickstudy.pages.profile.tuning import candidates, tuning_settings
    from quickstudy.profiling import BUDGETS, request_profile

    for budget in BUDGETS:
        request = request_profile("lstm", budget=budget, tuned=True)
        reported = {row.task for row in request.rows}
        settings = list(tuning_settings(request, "lstm"))
        assert {one.root for one in settings} == {2**32}
        assert not reported & {one.task for one in settings}
        # 1, 0.3 and 3 times the usual rate of each family's training.
        tried = [f"lstm:rate={rate}" for rate in ("0.005", "0.0015", "0.015")]
        assert candidates("lstm", request, "dynamics") == candidates("lstm", request, "curriculum") == tried
        with pytest.raises(qs.UsageError, match="the budget is"):
            candidates("lstm:rate=" + "|".join(f"0.0{n}" for n in range(1, 20)), request, "dynamics")


COUNTED = """
import pathlib, sys
import quickstudy as qs
from quickstudy.gateway import jax, jnp, lax, programs

out = pathlib.Path(sys.argv[2])
qs.profile(sys.argv[1], out=out, workers=0, progress=False, **eval(sys.argv[3]))
names = [name[4:-1] for name in programs()]
print(*(name for name in names if not hasattr(jnp, name) and not hasattr(lax, name)))
"""
TINY = {"start", "rows", "stage", "_where", "_started", "scored", "_with_an_axis", "handed_over"}
"""Programs of ours that take no fifth of a second to compile, and one of JAX."""


def counted(learner: str, out: Path, **asked: Any) -> tuple[int, list[str]]:
    """Programs that a dry run says, and those that were compiled, in a fresh process."""
    from quickstudy.pages.request import stages_of
    from quickstudy.profiling import request_profile
    from quickstudy.runs.plan import make_plan

    stage = next(stages_of(request_profile(learner, out=out, **asked)))
    said = make_plan(stage.settings, stage.seeds).summary().programs
    command = [sys.executable, "-c", COUNTED, learner, str(out), repr(asked)]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return said, [name for name in made if name not in TINY]


def test_a_dry_run_says_how_many_programs_will_be_compiled(tmp_path: Path) -> None:
    said, made = counted("lstm:units=8", tmp_path, families=["language"], seeds=1)
    assert sorted(made) == ["answered", "answered", "updated", "updated"]
    assert said == len(made)


@pytest.mark.parametrize(("learner", "most"), [("esn", 23), ("lstm", 25)])
def test_a_quick_profile_needs_few_programs(learner: str, most: int, tmp_path: Path) -> None:
    said, made = counted(learner, tmp_path)
    assert len(made) <= said <= most, made


def test_a_file_with_one_learner_need_not_name_it(tmp_path: Path) -> None:
    from quickstudy.learners.naming import choose_learner

    file = tmp_path / "one.py"
    text = "def helper():\n    pass\n\n\nclass {0}:\n    def __init__(self, brief, seed, width=2):\n        pass\n\n"
    text += (
        "    def learn(self, inputs, targets):\n        pass\n\n    def predict(self, inputs):\n        return inputs\n"
    )
    file.write_text(text.format("Only"))
    assert choose_learner(str(file), "corrected").label == "one.py:Only"
    card = qs.profile(str(file), seeds=1, families=["grammar"], out=tmp_path / "out", workers=0, progress=False)
    assert card.facts["learner"] == "one.py"
    assert (card.path.name, card.page.title) == ("card-one.html", "one.py: Profile, quick, as given")
    assert choose_learner(f"{file}:width=3", "corrected").label == "one.py:Only:width=3"
    two = tmp_path / "two.py"
    two.write_text(text.format("One") + "\n\n" + text.format("Two"))
    with pytest.raises(qs.UsageError, match="which learner of"):
        choose_learner(str(two), "corrected")
