"""Language models as learners in their context, with a server on loopback that also misbehaves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import quickstudy as qs
from loopback import Loopback
from quickstudy.adapters.answer_text import answer_in, scores_of
from quickstudy.adapters.in_context import PREAMBLE, Alphabet
from quickstudy.adapters.llm_cache import Said
from quickstudy.adapters.openai import Server
from quickstudy.base.errors import LearnerFault, NotApplicable, Unavailable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cli.main import main as command_line
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.runs.array_files import load_trace
from quickstudy.testing import check_learner

BRIEF = Brief(Tokens(4), Tokens(4), "cross-entropy", 3, 2)
SYMBOLS = np.array([[0, 2], [1, 3], [0, 2]])  # two sequences: 0 1 0, 2 3 2
ASKED = np.array([[False, False], [True, True], [True, True]])
EXAMPLES = Examples(SYMBOLS, (SYMBOLS + 1) % 4, ASKED, np.array([3, 3]))


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = Loopback()
    yield made
    made.close()


def begun(server: Any, **given: Any) -> Any:
    settings = {"url": server.url, "model": "toy", "seconds": 5.0, **given}
    return Server(**settings).begin(BRIEF, [Streams(0, "", 0)])


def taught(server: Any, **given: Any) -> Any:
    pupil = begun(server, **given)
    pupil.learn(Lesson([EXAMPLES], np.array([[0, 1]])), 0, 2)
    return pupil


def test_what_it_is_asked(server):
    """Lines of letters, answers behind their places; of the sequence in question no answer, and
    nothing after it.
    """
    pupil = taught(server, at_once=1)
    pupil.answer(Exam([EXAMPLES]))
    names = pupil._alphabet.inputs
    a, b, c, d = names
    lines = f"{PREAMBLE}{a} {b}>{c} {a}>{b}\n{c} {d}>{a} {c}>{d}\n"
    prompts = [body["prompt"] for body, _ in server.seen[1:]]
    assert prompts == [
        f"{lines}{a} {b}>",
        f"{lines}{a} {b} {a}>",
        f"{lines}{c} {d}>",
        f"{lines}{c} {d} {c}>",
    ]
    assert all(body["temperature"] == 0 and body["model"] == "toy" for body, _ in server.seen)


@pytest.mark.parametrize("protocol", ["completions", "chat"])
@pytest.mark.parametrize("logprobs", [True, False])
def test_it_answers_what_the_model_says(server, protocol, logprobs):
    server.logprobs = logprobs
    pupil = taught(server, protocol=protocol)
    scores = pupil.answer(Exam([EXAMPLES]))
    assert pupil.scale == ("probabilities" if logprobs else "order")
    assert scores.shape == (1, 4, 4)
    assert scores[0].argmax(axis=1).tolist() == [2, 1, 0, 3]
    np.testing.assert_allclose(scores.sum(axis=2), 1.0)


def test_letters_differ_between_repetitions_and_never_collide():
    drawn = [Alphabet.drawn(BRIEF, False, np.random.default_rng(seed)) for seed in range(20)]
    assert len({one.inputs for one in drawn}) == 20
    assert all(len({*one.inputs, *one.outputs}) == 8 for one in drawn)
    many = Brief(Tokens(30), Tokens(23), "cross-entropy", 3, 2)
    with pytest.raises(NotApplicable, match="named by 52 letters, and 53 are needed"):
        Alphabet.drawn(many, True, np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="symbols"):
        Alphabet.drawn(
            Brief(Reals(1), Tokens(2), "cross-entropy", 3, 2), True, np.random.default_rng(0)
        )


def test_scores_by_hand():
    words = ("a", "b", "c")
    likely = {" a": np.log(0.5), "a": np.log(0.1), "b": np.log(0.3), "cat": np.log(0.1)}
    found = scores_of(Said(likely, "", 0), "", words)
    np.testing.assert_allclose(found.scores, np.array([0.6, 0.3, 0.0]) / 0.9, atol=1e-5)
    assert found.understood
    given = scores_of(Said(None, " b\n", 0), "", words)
    assert (given.scores.tolist(), given.understood) == ([0, 1, 0], True)


@pytest.mark.parametrize(
    "said", [Said(None, "what?", 0), Said({"What": -0.01, "Well": -5.0}, "What", 0)]
)
def test_an_answer_that_is_not_understood_is_a_guess_and_counts_as_such(said):
    words = ("a", "b", "c")
    readings = [scores_of(said, str(number), words) for number in range(300)]
    assert not any(reading.understood for reading in readings)
    answers = np.array([reading.scores.argmax() for reading in readings])
    assert (np.bincount(answers, minlength=3) > 70).all()  # 100 each, standard deviation 8


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("k", "k"),
        (" k\n", "k"),
        ('"k"', "k"),
        ("'k'.", "k"),
        ("k.", "k"),
        ("**k**", "k"),
        ("`k`", "k"),
        ("“k”", "k"),
        ("> k", "k"),
        ("The answer is k", "k"),
        ("The answer is k.", "k"),
        ('the next symbol is "k".', "k"),
        ("Answer: k", "k"),
        ("The next symbol would be I", "I"),
        ("I think the answer is k", "k"),
        ("k t>k k>t", "k"),
        ("k is the next symbol", "k"),
        ("\n\nk\nt k>t", "k"),
        ("I", "I"),
        ("A", "A"),
        ("I do not know", None),
        ("A sequence of symbols", None),
        ("K", None),
        ("kk", None),
        ("", None),
        ("?", None),
        ("The answer is z", None),
        ("The answer is known", None),
    ],
)
def test_answers_with_words_around_them(text, answer):
    assert answer_in(text, ("k", "t", "I", "A")) == answer


@pytest.mark.parametrize("fault", ["slow", "cut", "nonsense", "no-json", "busy", "broken"])
def test_a_server_that_misbehaves_now_and_then_changes_no_answer(server, fault):
    pupil = taught(server, seconds=0.3)
    server.faults = [fault, fault]
    assert pupil.answer(Exam([EXAMPLES]))[0].argmax(axis=1).tolist() == [2, 1, 0, 3]
    assert len(server.seen) == 1 + 4 + 2


def test_a_server_that_refuses_is_not_asked_again(server):
    pupil = taught(server, at_once=1)
    server.faults = ["forbidden"]
    with pytest.raises(Unavailable, match=r"the server refuses: status 401.*told to be forbidden"):
        pupil.answer(Exam([EXAMPLES]))
    assert len(server.seen) == 2


def test_what_was_answered_is_kept_and_the_same_again_goes_on(server):
    pupil = taught(server, at_once=1, retries=1)
    server.faults = ["", "", "cut", "broken"]
    with pytest.raises(Unavailable, match=r"no answer in 2 attempts.*status 503.*run again"):
        pupil.answer(Exam([EXAMPLES]))
    before = len(server.seen)
    again = taught(server, at_once=1)
    assert again.answer(Exam([EXAMPLES]))[0].argmax(axis=1).tolist() == [2, 1, 0, 3]
    assert len(server.seen) == before + 2
    # What it cost is what all its answers cost, kept ones too.
    assert again.cost()[0].tokens == sum(
        len(body["prompt"].split()) + 1 for body in _different(server.seen)[1:]
    )
    assert "tokens" in again.cost()[0].as_facts()


def _different(seen):
    return list({body["prompt"]: body for body, _ in seen}.values())


def test_a_torn_line_of_what_is_kept_is_asked_again(server, tmp_path):
    taught(server).answer(Exam([EXAMPLES]))
    (file,) = (tmp_path / "quickstudy" / "answers").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    before = len(server.seen)
    assert taught(server).answer(Exam([EXAMPLES])).shape == (1, 4, 4)
    assert len(server.seen) == before + 1


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize(
    ("spend", "answered"), [(30, 1), (31, 2), (61, 2), (62, 3), (91, 3), (92, 4)]
)
def test_a_budget_stops(server, at_once, spend, answered):
    """Four questions of 30, 31, 30 and 31 tokens: each is put while less than all is spent, however
    many at once.
    """
    server.delay = 0.02
    pupil = taught(server, spend=spend, at_once=at_once)
    if answered < 4:
        with pytest.raises(Unavailable, match=f"the budget of {spend} tokens is spent"):
            pupil.answer(Exam([EXAMPLES]))
    else:
        pupil.answer(Exam([EXAMPLES]))
    assert len(server.seen) == 1 + answered
    before = len(server.seen)
    rest = sum((30, 31, 30, 31)[answered:])
    assert taught(server, spend=max(1, rest), at_once=at_once).answer(Exam([EXAMPLES])).shape == (
        1,
        4,
        4,
    )
    assert len(server.seen) == before + 4 - answered  # what was paid for is not paid for again


def test_requests_per_minute(server, monkeypatch):
    waited = []
    pupil = taught(server, per_minute=600, at_once=1)
    monkeypatch.setattr("quickstudy.adapters.completions.time.sleep", waited.append)
    pupil.answer(Exam([EXAMPLES]))
    assert sum(waited) > 0.1  # four at 0.1 s each, none of which was really waited for


def test_window_and_snapshot(server):
    pupil = taught(server, window=1)
    pupil.answer(Exam([EXAMPLES]))
    assert all(body["prompt"].count("\n") == 2 for body, _ in server.seen[1:])
    other = Server(url=server.url, model="toy", window=1).begin(BRIEF, [Streams(5, "", 1)])
    other.restore(pupil.snapshot())
    np.testing.assert_array_equal(other.answer(Exam([EXAMPLES])), pupil.answer(Exam([EXAMPLES])))


def test_the_key_is_sent_and_written_nowhere(server, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "secret-7")
    taught(server, key="MY_API_KEY").answer(Exam([EXAMPLES]))
    assert server.seen[0][1]["Authorization"] == "Bearer secret-7"
    assert not any(
        b"secret-7" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )


def test_patience_is_no_part_of_what_it_is(server):
    one = choose_learner(f"openai:url={server.url},model=toy,spend=5,retries=1", "corrected")
    assert one.what["parameters"] == {
        "url": server.url,
        "model": "toy",
        "protocol": "completions",
        "shared": True,
        "window": 0,
        "edition": 1,
    }


def test_a_server_that_is_not_there():
    with pytest.raises(Unavailable, match="no connection to 127"):
        Server(url="http://127.0.0.1:9/v1", model="m", retries=0).begin(BRIEF, [Streams(0, "", 0)])


@pytest.mark.parametrize("protocol", ["completions", "chat"])
@pytest.mark.parametrize(
    ("most", "limit"), [(5, "max_tokens"), (0, "max_tokens"), (20, "max_completion_tokens")]
)
def test_a_server_that_accepts_less_is_asked_for_less(server, protocol, most, limit):
    """Fewer log-probabilities, or none, or another name for the longest answer: found out at the
    first prompt.
    """
    server.most, server.limit, server.logprobs = most, limit, most > 0
    pupil = taught(server, protocol=protocol)
    tries = len(server.seen)
    assert pupil.answer(Exam([EXAMPLES]))[0].argmax(axis=1).tolist() == [2, 1, 0, 3]
    assert pupil.scale == ("probabilities" if most else "order")
    asked = [body.get("top_logprobs", body.get("logprobs", 0)) for body, _ in server.seen[tries:]]
    assert asked == [min(most, 20)] * 4
    assert all(limit in body for body, _ in server.seen[tries:])


def test_log_probabilities_can_be_left_out(server):
    pupil = taught(server, logprobs=False)
    assert pupil.answer(Exam([EXAMPLES]))[0].argmax(axis=1).tolist() == [2, 1, 0, 3]
    assert pupil.scale == "order"
    assert not any("logprobs" in body for body, _ in server.seen)


def test_a_server_that_refuses_everything_says_why(server):
    server.limit = "something-else"
    with pytest.raises(
        Unavailable, match=r"the server refuses: status 400.*use 'something-else' instead"
    ):
        begun(server)
    assert len(server.seen) < 6


@pytest.mark.parametrize("answer", ["The answer is {}", '"{}"', "{}."])
def test_words_around_an_answer_change_no_score(server, answer):
    plain = taught(server, logprobs=False, kept=False).answer(Exam([EXAMPLES]))
    server.answer = answer
    pupil = taught(server, logprobs=False, kept=False)
    np.testing.assert_array_equal(pupil.answer(Exam([EXAMPLES])), plain)
    assert (pupil.cost()[0].answers, pupil.cost()[0].understood) == (4, 4)


@pytest.mark.parametrize(("logprobs", "remedy"), [(True, "logprobs=false"), (False, "")])
def test_a_model_that_is_not_understood_fails_and_says_what_it_said(server, logprobs, remedy):
    server.answer = "Certainly! I would say {}"
    pupil = taught(server, logprobs=logprobs)
    for _ in range(4):
        pupil.answer(Exam([EXAMPLES]))
    with pytest.raises(
        LearnerFault, match=rf"0 of 20 answers were understood.*Certainly.*{remedy}"
    ):
        pupil.answer(Exam([EXAMPLES]))


def test_the_share_understood_is_in_the_record_and_in_the_report(
    server, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    server.logprobs = False
    given = {"seeds": 1, "protocol": {"sequences": 6}, "workers": 0, "controls": False}
    done = qs.run(
        "language/periodic:length=20,longest=3", f"openai:url={server.url},model=toy", **given
    )
    cost = done.records[0].cost
    assert 0 < cost["understood"] <= cost["answers"]
    done.show()
    shown = capsys.readouterr().out
    assert f"{cost['understood']:,} of {cost['answers']:,} answers" in " ".join(shown.split())
    assert f"{cost['tokens']:,} tokens" in " ".join(shown.split())


def test_tokens_that_the_server_does_not_count_are_estimated(server):
    server.usage = False
    pupil = taught(server, spend=40, at_once=1)
    with pytest.raises(Unavailable, match="the budget of 40 tokens is spent"):
        pupil.answer(Exam([EXAMPLES]))
    assert len(server.seen) == 2  # one prompt has more than 80 letters


def test_grammar_asks_nothing_after_the_end_of_a_string(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {
        "seeds": 1,
        "protocol": {"order": 1, "factors": "2/1"},
        "workers": 0,
        "controls": False,
    }
    done = qs.run("grammar/an-bn", f"openai:url={server.url},model=toy,window=3", **given)
    assert done.execution.ok == 1
    prompts = [body["prompt"] for body, _ in server.seen[1:]]
    ends = {prompt.splitlines()[1].split()[0].partition(">")[0] for prompt in prompts}
    assert len(ends) == 1  # the symbol that begins and ends all strings
    (end,) = ends
    questions = [prompt.splitlines()[-1].rstrip(">").split() for prompt in prompts]
    assert not [question for question in questions if end in question[1:]]
    assert len(set(prompts)) == len(prompts)
    # The cost is that of both factors, tests included; a question that comes again counts again.
    sent = sum(len(prompt.split()) + 1 for prompt in prompts)
    assert sent <= done.records[0].cost["tokens"] < 1.05 * sent


def test_it_keeps_the_promises_of_a_learner(server):
    findings = check_learner(f"openai:url={server.url},model=toy,at_once=1", sequences=60)
    assert [str(finding) for finding in findings if not finding.ok] == []


def test_a_run_as_a_user_types_it(server, tmp_path, monkeypatch):
    """One that fails for want of tokens, and then for want of a server, goes on by the same
    command; only what is missing is asked. One that failed otherwise does not.
    """
    monkeypatch.chdir(tmp_path)
    tasks = "language/periodic"
    poor, rich = (f"openai:url={server.url},model=toy,spend={spend}" for spend in (2000, 0))
    given = {"seeds": 1, "protocol": {"sequences": 6}, "workers": 1, "controls": False}
    qs.run(tasks, poor, **given)
    between = len(server.seen)
    assert between > 5
    server.faults = ["forbidden"]
    assert qs.run(tasks, rich, **given).execution.failed == 1
    ended = qs.run(tasks, rich, **given).execution
    assert (ended.ok, ended.failed, ended.exit_status) == (1, 0, 0)
    texts = [file.read_text() for file in (tmp_path / "results").rglob("*.jsonl")]
    records = [json.loads(line) for text in texts for line in text.splitlines()]
    told = [json.dumps(record) for record in records]
    assert any("the budget of 2000 tokens is spent" in one for one in told)
    assert any("told to be forbidden" in one for one in told)
    assert any('"status": "ok"' in one and '"tokens":' in one for one in told)
    prompts = [body["prompt"] for body, _ in server.seen]
    assert (
        between + 1 < len(prompts) == len(set(prompts)) + 1
    )  # the one that was refused comes again


@pytest.mark.parametrize(
    ("task", "protocol"),
    [
        ("language/periodic:length=20,longest=3", {"sequences": 6}),
        ("language/periodic:length=20,longest=3", {"sequences": 6, "questions": 5}),
        ("grammar/an-bn", {"order": 1, "factors": "1", "upto": "whole"}),
    ],
)
def test_a_dry_run_counts_what_the_run_will_ask(
    server, tmp_path, monkeypatch, capsys, task, protocol
):
    monkeypatch.chdir(tmp_path)

    def main(arguments: list[str]) -> int:
        with pytest.raises(SystemExit) as ended:
            command_line(arguments)
        return int(ended.value.code or 0)

    typed = [part for item in protocol.items() for part in ("--set", "=".join(map(str, item)))]
    learner = f"openai:url={server.url},model=toy"
    arguments = ["run", task, "-l", learner, "--seeds", "1", "--no-controls", *typed]
    assert main([*arguments, "--dry-run", "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert server.seen == []
    assert main([*arguments, "--dry-run"]) == 0
    assert (
        f"{counted['questions']:,} questions to language models and about"
        in capsys.readouterr().out
    )
    qs.run(task, learner, seeds=1, controls=False, protocol=protocol, workers=0)
    assert counted["prompt"] in [body["prompt"] for body, _ in server.seen]
    asked = len(server.seen) - 1  # the first finds out what the server accepts, and is kept
    assert (
        asked == counted["questions"]
        if "language" in task
        else abs(asked - counted["questions"]) < 0.5 * asked
    )
    letters = sum(len(body["prompt"]) for body, _ in server.seen)
    assert 0.4 * letters < counted["tokens"] < 0.7 * letters


def test_a_cap_on_questions_asks_as_many_and_leaves_the_rest_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"seeds": 1, "controls": False, "workers": 0}
    whole, few = (
        qs.run(
            "language/periodic:length=20,longest=3", "majority", **given, protocol=protocol
        ).records[0]
        for protocol in ({"sequences": 10}, {"sequences": 10, "questions": 7})
    )
    assert "questions" not in whole.what["protocol"]["parameters"]
    assert few.what["protocol"]["parameters"]["questions"] == 7
    facts = [record.trace["facts"] for record in (whole, few)]
    assert facts[0]["test_questions"] > 7 == facts[1]["test_questions"]
    assert facts[0]["training_sequences"] == facts[1]["training_sequences"]


def test_a_transcript_has_every_prompt_and_how_its_answer_was_read(server, tmp_path):
    file = tmp_path / "transcript.jsonl"
    pupil = taught(server, at_once=1, transcript=str(file))
    scores = pupil.answer(Exam([EXAMPLES]))[0]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["prompt"] for line in lines] == [body["prompt"] for body, _ in server.seen[1:]]
    names = pupil._alphabet.outputs
    assert [line["answer"] for line in lines] == [names[place] for place in scores.argmax(axis=1)]
    assert {"likely", "text", "tokens", "understood"} < lines[0].keys()
    with pytest.raises(UsageError, match=r"transcript=.* cannot be written: "):
        begun(server, transcript=str(tmp_path / "nowhere" / "file"))
    assert (
        "transcript"
        not in choose_learner(f"openai:url={server.url},model=m,transcript=x", "corrected").what[
            "parameters"
        ]
    )


@pytest.mark.parametrize("item", ["copy", "lookup", "count", "nest", "parity", "recombine", "hold"])
def test_span_items_are_asked_with_a_cap_in_every_bin(server, tmp_path, monkeypatch, capsys, item):
    """Each question has the worked examples and its own line up to the question; no line of the
    test has an answer.
    """
    monkeypatch.chdir(tmp_path)
    learner = f"openai:url={server.url},model=toy,at_once=1"
    protocol = {"sequences": 12, "questions": 2, "checkpoints": 1}
    found = qs.run(
        f"span/{item}",
        learner,
        seeds=1,
        controls=False,
        protocol=protocol,
        workers=0,
        progress=True,
    )
    (record,) = found.records
    trace = load_trace(tmp_path / "results", record)
    assert trace.arrays["asked"].tolist() == [2] * len(trace.arrays["difficulty"])
    assert "whole" not in trace.arrays
    assert "whole-span" not in record.scores["span"]["values"]
    prompts = [body["prompt"] for body, _ in server.seen[1:]]
    told = capsys.readouterr().err
    assert f"{len(prompts)} questions to language models and about " in told
    assert len(prompts) == len(set(prompts)) <= 2 * len(trace.arrays["difficulty"])
    examples = {prompt.rpartition("\n")[0] for prompt in prompts}
    assert len(examples) == 1
    assert next(iter(examples)).count("\n") == 12  # the preamble and twelve worked examples
    for prompt in prompts:
        line = prompt.rpartition("\n")[2]
        assert line.count(">") == 1
        assert line.endswith(">")


def test_a_card_in_context(server, tmp_path, monkeypatch, capsys):
    """Its items have few examples and capped questions; the number of requests is announced, and it
    is kept to.
    """
    monkeypatch.chdir(tmp_path)
    learner = f"openai:url={server.url},model=toy"
    card = qs.profile(
        learner, budget="context", seeds=2, families="games", workers=0, progress=True
    )
    (games,) = card.facts["families"]
    assert {item["item"] for item in games["items"]} == {"recombine", "values"}
    assert all(item["seeds"] == 2 and item["rank"] is None for item in games["items"])
    questions = 2 * 2 * 5 * 8  # seeds, items, bins, questions
    assert f"{questions} questions to language models" in capsys.readouterr().err
    assert len(server.seen) - 1 <= questions
    again = qs.profile("recall", budget="context", seeds=2, families="games", workers=0)
    assert [item["seeds"] for item in again.facts["families"][0]["items"]] == [2, 2]
