"""Sentences of a file or a grammar: bits word by word, and minimal pairs."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameters_of
from quickstudy.base.trace import Trace
from quickstudy.cli.main import app
from quickstudy.measures.sentences import minimal_pairs, surprisal
from quickstudy.protocols.sentences import SentencesProtocol
from quickstudy.tasks.grammar.sentences import Sentences

CORPUS = (
    "# a comment\nthe cat sleeps\nthe cats sleep\n# the dog sleeps #\nthe dogs sleep\n"
    "the cat sleeps\n"
)
PAIRS = "the cat sleeps\tthe cat sleep\tsimple\nthe dogs sleep\tthe dogs sleeps\tplural\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "corpus.txt").write_text(CORPUS + "the cats near the dog sleep\n")
    (tmp_path / "pairs.txt").write_text(PAIRS)
    return {name: str(tmp_path / f"{name}.txt") for name in ("corpus", "pairs")}


def of(task, sentences):
    return [task.text(sentence) for sentence in sentences]


def test_a_file_of_sentences(files):
    task = Sentences(**files)
    assert task.vocabulary == (
        "#",
        "cat",
        "cats",
        "dog",
        "dogs",
        "near",
        "sleep",
        "sleeps",
        "the",
    )
    found = task.material
    assert dict(zip(of(task, found.sentences), found.counts.tolist(), strict=True)) == {
        "# the cat sleeps #": 2,
        "# the cats sleep #": 1,
        "# the dog sleeps #": 1,
        "# the dogs sleep #": 1,
        "# the cats near the dog sleep #": 1,
    }
    assert [pair.kind for pair in found.pairs] == ["simple", "plural"]
    assert task.text(found.pairs[0].unacceptable) == "# the cat sleep #"
    assert of(task, [found.sentences[number] for number in found.free]) == [
        "# the cats sleep #",
        "# the dog sleeps #",
        "# the cats near the dog sleep #",
    ]


def test_letters_need_no_spaces(tmp_path):
    (tmp_path / "corpus.txt").write_text("#ab#\n#aabb#\n#aaabbb#\n")
    task = Sentences(corpus=str(tmp_path / "corpus.txt"))
    assert task.vocabulary == ("#", "a", "b")
    assert of(task, task.material.sentences) == ["#ab#", "#aabb#", "#aaabbb#"]


def test_what_is_in_the_files_is_known_and_where_they_lie_is_not(files, tmp_path):
    known = parameters_of(Sentences(**files))
    (tmp_path / "moved.txt").write_bytes((tmp_path / "corpus.txt").read_bytes())
    assert parameters_of(Sentences(**{**files, "corpus": str(tmp_path / "moved.txt")})) == known
    (tmp_path / "corpus.txt").write_text(CORPUS + "the dog sleeps\n")
    assert parameters_of(Sentences(**files)) != known
    with pytest.raises(UsageError, match="has changed: its digest is"):
        Sentences(**files, digest=known["digest"])


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_tested_is_shown(files, seed):
    task = Sentences(**files)
    stream = qs.Streams(seed, task.id, 0)
    shown, asked = SentencesProtocol(sequences=50)._split(task, stream)
    tested = set(of(task, [sentence for _, sentence in asked]))
    assert not tested & set(of(task, shown))
    assert [group for group, _ in asked] == [0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("corpus", "pairs", "said"),
    [
        (CORPUS, "the cat sleeps\n", "line 1: a pair is an acceptable sentence, a tab"),
        (CORPUS, "a\ta\n", "line 1: a pair is"),
        ("the cat sleeps\n", "", "1 sentence of the corpus is in no pair"),
        ("", "", "0 sentence of the corpus is in no pair"),
        ("S -> a S b [0.5] | [0.5]", "a b\tc b\n", '"c" of the pairs is not in the grammar'),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, corpus, pairs, said):
    (tmp_path / "corpus.txt").write_text(corpus)
    (tmp_path / "pairs.txt").write_text(pairs)
    with pytest.raises(UsageError, match=said):
        Sentences(corpus=str(tmp_path / "corpus.txt"), pairs=str(tmp_path / "pairs.txt"))


def trace(bits, kinds=("simple", "simple")):
    """Two pairs of two words and an end each, after one held-out sentence of two words."""
    group = np.repeat([0, 1, 1, 2, 2], 3)
    words = [1, 2, 0, *[1, 3, 0], *[2, 3, 0], *[1, 4, 0], *[2, 4, 0]]
    arrays = {
        "sentence": np.repeat(np.arange(5), 3),
        "group": group,
        "position": np.tile(np.arange(3), 5),
        "word": np.array(words),
        "bits": np.array(bits, float),
        "likeliest": np.arange(15) % 3 == 0,
    }
    return Trace("sentence-bits", arrays, {"kinds": list(kinds), "symbols": list("#abcd")}, None)


def test_scores_by_hand():
    bits = [1, 2, 3, *[1, 1, 1], *[1, 4, 1], *[1, 3, 1], *[1, 2, 1]]
    assert surprisal(trace(bits), "corrected") == {
        "bits-per-word": 2.0,
        "perplexity": 4.0,
        "word-accuracy": pytest.approx(1 / 3),
    }
    assert minimal_pairs(trace(bits), "corrected") == {"pairs-right": 0.5, "critical-bits": 0.0}
    assert minimal_pairs(trace(bits, ("one", "the other")), "corrected") == {
        "pairs-right": 0.5,
        "critical-bits": 0.0,
        "pairs-right-one": 1.0,
        "critical-bits-one": 2.0,
        "pairs-right-the-other": 0.0,
        "critical-bits-the-other": -2.0,
    }
    assert minimal_pairs(trace([1] * 15), "corrected")["pairs-right"] == 0.5
    assert minimal_pairs(trace(bits, ()), "corrected") == {}


FINITE = "S -> d N [1]; N -> r [0.25] | s [0.25] | k V [0.5]; V -> r [0.5] | s [0.5]"


def values(results):
    """By learner: the scores of each run."""
    found = {}
    for record in results.records:
        scores = {
            name: value
            for measure in record.scores.values()
            for name, value in measure["values"].items()
        }
        found.setdefault(record.what["learner"]["id"], []).append(scores)
    return found


def test_a_finite_language_is_tested_on_what_was_held_out(tmp_path):
    """Four strings of 2 bits and of 3 or 4 words: three to learn from, one to be tested on. The
    bigram, which never saw that one, needs more bits than the oracle.
    """
    task = f'grammar/sentences:corpus="{FINITE}"'
    results = qs.run(task, "bigram", seeds=2, protocol={"sequences": 50}, out=tmp_path, workers=0)
    found = values(results)
    for oracle, bigram in zip(found["true-grammar"], found["bigram"], strict=True):
        assert oracle["bits-per-word"] in (pytest.approx(2 / 3), pytest.approx(2 / 4))
        assert oracle["bits-per-word"] < bigram["bits-per-word"] <= 20


def test_pairs_are_in_the_scores_and_on_the_page(files, tmp_path):
    task = "grammar/sentences:" + ",".join(f"{name}={path}" for name, path in files.items())
    out = tmp_path / "out"
    results = qs.run(task, "trigram", seeds=2, protocol={"sequences": 20}, out=out, workers=0)
    for scores in values(results)["trigram"]:
        assert {"pairs-right-simple", "critical-bits-plural"} <= set(scores)
        assert scores["pairs-right"] in (0, 0.25, 0.5, 0.75, 1)
    assert "true-grammar" not in [
        record.what["learner"]["id"] for record in results.records if record.status == "ok"
    ]
    assert CliRunner().invoke(app, ["report", str(out)]).exit_code == 0
    page = (out / "report.html").read_text()
    assert ">the cat sleep<" in page
    assert "bits per word" in page
