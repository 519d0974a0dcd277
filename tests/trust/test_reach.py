"""A study and a kept learner reach nothing outside the package unless the user trusts them."""

import os

import pytest

from quickstudy.api.study import reproduce
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Tokens
from quickstudy.base.study import find_study, study_names
from quickstudy.cli.main import main
from quickstudy.learners.learner_spec import revive
from quickstudy.learners.outside import reached, reached_by_study

STUDY = """
version = 1
title = "From elsewhere"
source = "elsewhere"
kind = "table"
score = "{score}"
seeds = 1

[learners]
theirs = '''{learner}'''

[[rows]]
task = "{task}"
label = "5 qa"

[settings.tuning.language]
task = "{tuning}"
"""
CODE = "import pathlib; pathlib.Path('TOUCHED').touch()\nclass Learner: ..."


def study(learner="esn", task="language/qa", tuning="language/qa", score="wade"):
    with open("study.toml", "w") as file:
        file.write(STUDY.format(learner=learner, task=task, tuning=tuning, score=score))
    return "study.toml"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize(
    "learner",
    [
        "theirs.py:Learner",
        "theirs.pyLearner",
        "tampered:learner=theirs.py,how=blank",
        "tampered:learner=esn|theirs.py",
        "lines:command=touch TOUCHED",
        "lines@1:command=touch TOUCHED",
        "zeromq:command=touch TOUCHED,connect=0.1",
        "openai:url=http://127.0.0.1:9/v1,model=m,key=OTHERS_API_KEY",
        "hf:folder=/",
        "recorded:file=FIFO",
        "network:file=FIFO",
    ],
)
def test_a_study_without_trust_runs_nothing_and_is_named_by_dry_run(here, learner, capsys):
    os.mkfifo("FIFO")  # to read it would wait for a writer
    name = study(learner)
    with pytest.raises(UsageError, match=r"reaches outside this package: .*--trust"):
        reproduce(name, seeds=1, workers=0, progress=False)
    with pytest.raises(SystemExit) as left:
        main(["reproduce", name, "--dry-run"])
    said = capsys.readouterr().out
    assert (left.value.code, "6 runs at most" in said, "needs --trust" in said) == (0, True, True)
    assert sorted(path.name for path in here.iterdir()) == ["FIFO", "study.toml", "theirs.py"]


@pytest.mark.parametrize(
    "parts",
    [
        {"task": "curriculum/file:path=FIFO", "score": "reward-rate"},
        {"task": "grammar/written:rules=FIFO", "score": "h-bits"},
        {"tuning": "theirs.py:Task"},
    ],
)
def test_so_is_a_study_whose_tasks_read_paths_or_run_code(here, parts):
    os.mkfifo("FIFO")
    name = study(**parts)
    with pytest.raises(UsageError, match="reaches outside"):
        reproduce(name, seeds=1, workers=0, progress=False)
    with pytest.raises(SystemExit):
        main(["reproduce", name, "--dry-run"])
    assert not (here / "TOUCHED").exists()


def test_a_study_that_is_trusted_starts_its_program(here):
    with pytest.raises(SystemExit) as left:
        main(
            [
                "reproduce",
                study("lines:command=touch TOUCHED"),
                "--trust",
                "--set",
                "sequences=20",
                "-s",
                "1",
                "-q",
                "-j",
                "0",
            ]
        )
    assert left.value.code == 1  # the program ends without an answer
    assert (here / "TOUCHED").exists()


def test_a_file_that_the_user_includes_needs_no_further_trust(here):
    assert reached("theirs.py:Learner")
    from quickstudy.base.registry import include

    include(here / "theirs.py")
    assert reached("theirs.py:Learner") == []


@pytest.mark.parametrize("parts", [":washout=50,test=50", ""])
def test_of_several_tasks_each_is_looked_at(here, parts):
    tasks = [f"dynamics/narma-5{parts}", f"dynamics/lorenz-63{parts}"]
    assert reached("+".join(tasks)) == []
    (found,) = reached("+".join([*tasks, "curriculum/file:path=FIFO", tasks[0]]))
    assert "FIFO" in found


def test_no_study_of_the_package_reaches_outside():
    assert {
        name: found for name in study_names() if (found := reached_by_study(find_study(name)))
    } == {}


def kept(id, **parameters):
    brief = Brief(Tokens(256), Tokens(256), "squared", 4, 1)
    what = {"id": id, "version": 1, "parameters": parameters}
    return Snapshot({}, {"learner": what, "brief": brief.as_facts()})


@pytest.mark.parametrize(
    ("id", "parameters"),
    [
        ("lines", {"command": "touch TOUCHED"}),
        ("zeromq", {"command": "touch TOUCHED", "connect": 0.1}),
        ("openai", {"url": "http://127.0.0.1:9/v1", "model": "m"}),
        ("recorded", {"file": "FIFO"}),
        ("recorded-states", {"file": "FIFO", "drive": "FIFO"}),
        ("network", {"file": "FIFO"}),
        ("tampered", {"learner": "theirs.py:Learner"}),
    ],
)
def test_a_kept_learner_reaches_nothing_unless_it_is_named(here, id, parameters):
    os.mkfifo("FIFO")
    for trust in ("", "esn"):
        with pytest.raises(UsageError, match=f'reaches outside .*trust="{id}"'):
            revive(kept(id, **parameters), trust=trust)
    assert not (here / "TOUCHED").exists()


def test_a_kept_learner_that_is_named_starts_its_program(here):
    with pytest.raises(Exception, match=r"^the learner "):
        revive(kept("lines", command="touch TOUCHED", seconds=5.0), trust="lines")
    assert (here / "TOUCHED").exists()
