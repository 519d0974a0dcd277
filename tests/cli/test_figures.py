"""reproduce with a study file of one's own, for each kind of figure."""

import csv
import json

STUDY = """
version = 1
title = "A small figure"
source = "nowhere"
kind = "KIND"
score = "wade"
seeds = 2
[learners]
majority = "majority"
last = "copy-last"
[[rows]]
task = "language/qa"
label = "5 qa"
published = {majority = [0.3, 0.1]}
"""


def test_figures_are_made_from_a_file_and_share_their_runs(quickstudy, tmp_path):
    for kind in ("curves", "illustration", "grid"):
        (tmp_path / f"my-{kind}.toml").write_text(STUDY.replace("KIND", kind))
    common = ("--seeds", 2, "--workers", 0, "-o", "runs")
    made = quickstudy("reproduce", "my-curves.toml", *common, "--json")
    assert made.status == 0, made.err
    facts = json.loads(made.out)
    assert facts["curves"]["5 qa"]["majority"]["runs"] == 2
    assert facts["wade"]["rows"]["5 qa"]["majority"]["published"] == [0.3, 0.1]
    with (tmp_path / "runs" / "my-curves-published-curves.csv").open() as file:
        lines = list(csv.DictReader(file))
    curve = facts["curves"]["5 qa"]["majority"]
    assert len(lines) == 2 * len(curve["steps"])
    assert float(lines[0]["mean accuracy"]) == round(curve["mean"][0], 6)

    drawn = quickstudy("reproduce", "my-illustration.toml", *common)
    assert drawn.status == 0, drawn.err
    assert "all 2 runs found" in drawn.err
    assert "WADE = " in drawn.out

    scored = quickstudy("reproduce", "my-grid.toml", *common)
    assert scored.status == 0, scored.err
    assert "the order of the models" in scored.out.lower()
    assert (tmp_path / "runs" / "my-grid-published-sensitivity.svg").is_file()
    assert not (tmp_path / "results").exists()


def test_a_wrong_kind_is_one_line(quickstudy, tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY.replace("KIND", "ilustration"))
    refused = quickstudy("reproduce", "mine.toml")
    assert refused.status == 2
    assert (
        refused.err.strip() == 'mine: no kind of study "ilustration"; did you mean "illustration"?'
    )
