"""A language model in a folder: a tiny one, made here with weights drawn by a seed. Where
transformers is not installed, what needs no model is still looked at.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import string
import sys
import types

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.adapters.hf import PIECE, PLACES, Folder, Reader, _loaded, fingerprint
from quickstudy.adapters.in_context import PREAMBLE
from quickstudy.base.errors import LearnerFault, MissingExtra, Unavailable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.runs.array_files import load_trace
from quickstudy.testing import check_learner

BRIEF = Brief(Tokens(4), Tokens(4), "cross-entropy", 3, 2)
SYMBOLS = np.array([[0, 2], [1, 3], [0, 2]])
ASKED = np.array([[False, False], [True, True], [True, True]])
EXAMPLES = Examples(SYMBOLS, (SYMBOLS + 1) % 4, ASKED, np.array([3, 3]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One layer of 16 units, and a tokenizer of letters that makes one token of `>a`, but not of
    `>` and others.
    """
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models

    path = tmp_path_factory.mktemp("models") / "tiny"
    letters = [*string.ascii_letters, *" >\n.", ">a"]
    tokenizer = Tokenizer(
        models.BPE(vocab={one: place for place, one in enumerate(letters)}, merges=[(">", "a")])
    )
    tokenizer.decoder = decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(path)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        config = transformers.GPT2Config(
            vocab_size=len(letters),
            n_positions=512,
            n_embd=16,
            n_layer=1,
            n_head=2,
            bos_token_id=0,
            eos_token_id=0,
            initializer_range=0.5,
        )
        transformers.GPT2LMHeadModel(config).save_pretrained(path)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def taught(folder, **given):
    pupil = Folder(str(folder), **given).begin(BRIEF, [Streams(0, "", 0)])
    pupil.learn(Lesson([EXAMPLES], np.array([[0, 1]])), 0, 2)
    return pupil


def test_answers_are_shares_of_the_whole_text(folder):
    """By another way: the probability of a text is the product over its tokens, and shares are
    those of the texts.
    """
    import torch
    import transformers

    model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    reader, answers = Reader(torch, model, tokenizer, 1), ("a", "b", "c")
    prompt = f"{PREAMBLE}a b>c\nb a>"
    said = reader.say(prompt, answers)
    whole = []
    for answer in answers:
        tokens = tokenizer(prompt + answer)["input_ids"]
        with torch.inference_mode():
            logs = torch.log_softmax(model(torch.tensor([tokens])).logits[0].double(), -1)
        whole.append(float(sum(logs[place - 1, tokens[place]] for place in range(1, len(tokens)))))
    assert (
        len({len(tokenizer(prompt + answer)["input_ids"]) for answer in answers}) == 2
    )  # `>a` is one token
    shares = np.exp(np.array(whole) - max(whole))
    np.testing.assert_allclose(
        [np.exp(said.likely[one]) for one in answers], shares / shares.sum(), rtol=1e-5
    )
    assert said.text == answers[int(np.argmax(whole))]


def test_what_was_answered_is_kept(folder, monkeypatch):
    first = taught(folder).answer(Exam([EXAMPLES]))
    assert first.shape == (1, 4, 4)
    np.testing.assert_allclose(first.sum(axis=2), 1.0)
    cost = taught(folder).cost()[0]
    assert cost.fixed_parameters > 16 * 57
    monkeypatch.setattr(Reader, "say", lambda *_: pytest.fail("asked again"))
    again = taught(folder)
    np.testing.assert_array_equal(again.answer(Exam([EXAMPLES])), first)
    assert again.cost()[0].tokens > 4 * 100
    with pytest.raises(pytest.fail.Exception):
        taught(folder, kept=False).answer(Exam([EXAMPLES]))


def test_a_budget_stops_and_a_full_context_is_said(folder):
    with pytest.raises(Unavailable, match="the budget of 100 tokens is spent"):
        taught(folder, spend=100).answer(Exam([EXAMPLES]))
    pupil = taught(folder)
    for _ in range(50):
        pupil.learn(Lesson([EXAMPLES], np.array([[0, 1]])), 0, 2)
    with pytest.raises(
        LearnerFault, match=r"and the model reads 512: give fewer examples \(window"
    ):
        pupil.answer(Exam([EXAMPLES]))


def test_it_keeps_the_promises_of_a_learner(folder):
    findings = check_learner(f"hf:folder={folder},window=2", sequences=20)
    # Weights that nobody trained learn nothing in their context.
    broken = [str(finding) for finding in findings if not finding.ok]
    assert all("learns from nothing" in one for one in broken), broken


def test_runs_are_known_by_the_content_wherever_it_lies(folder, tmp_path):
    import shutil

    other = tmp_path / "elsewhere"
    shutil.copytree(folder, other)
    one, two = (
        choose_learner(f"hf:folder={path},spend=9", "corrected") for path in (folder, other)
    )
    assert one.what == two.what
    assert one.what["parameters"]["content"] == fingerprint(folder)
    weights = other / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert choose_learner(f"hf:folder={other}", "corrected").what != one.what


def test_a_run_as_a_user_types_it(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"seeds": 1, "protocol": {"sequences": 6}, "workers": 1, "controls": False}
    results = qs.run(
        "language/periodic:length=8,longest=2", f"hf:folder={folder},window=3", **given
    )
    (record,) = results.records
    assert record.status == "ok"
    assert record.cost["tokens"] > 0


def test_bad_input(tmp_path):
    with pytest.raises(UsageError, match="which folder"):
        Folder().begin(BRIEF, [Streams(0, "", 0)])
    with pytest.raises(UsageError, match=r"hf: folder must hold a model .* has none"):
        choose_learner(f"hf:folder={tmp_path}", "corrected")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such thing"}))
    with pytest.raises((UsageError, MissingExtra), match=r"cannot be read|is not installed"):
        Folder(str(tmp_path)).begin(BRIEF, [Streams(0, "", 0)])


def test_a_fingerprint_of_a_large_file(tmp_path):
    """Another size, or another byte where it is read, is another model."""
    (tmp_path / "config.json").write_text("{}")
    size = PIECE * PLACES + 1
    found = {}
    for place, length in itertools.product((0, size // 2, size - 1), (size, size + 1)):
        content = bytearray(length)
        content[place] = 1
        pathlib.Path(tmp_path / "weights").write_bytes(content)
        found[place, length] = fingerprint(tmp_path)
    assert len(set(found.values())) == 6


def test_no_code_of_the_folder_is_run_and_nobody_is_asked(tmp_path, monkeypatch):
    """By what transformers is given: with neither yes nor no it asks on a terminal."""
    given = []

    class Opened:
        @classmethod
        def from_pretrained(cls, path, **options):
            given.append(options)
            return cls()

        def to(self, device):
            return self

        def eval(self):
            return self

    torch = types.SimpleNamespace(
        float32=None,
        random=types.SimpleNamespace(fork_rng=lambda devices: contextlib.nullcontext()),
    )
    silent = types.SimpleNamespace(set_verbosity_error=int, disable_progress_bar=int)
    transformers = types.SimpleNamespace(
        utils=types.SimpleNamespace(logging=silent),
        AutoModelForCausalLM=Opened,
        AutoTokenizer=Opened,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    _loaded.__wrapped__(str(tmp_path), "", "float32", "cpu")
    assert [one["trust_remote_code"] for one in given] == [False, False]
    assert [one["local_files_only"] for one in given] == [True, True]


def test_a_span_item_with_a_cap_on_questions(folder, tmp_path, monkeypatch):
    """Eight examples in its context; two questions in each of four bins."""
    monkeypatch.chdir(tmp_path)
    protocol = {"sequences": 8, "questions": 2, "checkpoints": 1}
    done = qs.run(
        "span/copy:longest=4",
        f"hf:folder={folder}",
        seeds=2,
        controls=False,
        protocol=protocol,
        workers=0,
    )
    for record in done.records:
        assert record.status == "ok"
        assert load_trace(tmp_path / "results", record).arrays["asked"].tolist() == [2, 2, 2, 2]
        assert record.cost["answers"] == 8
        assert 0 <= record.scores["span"]["values"]["span"] <= 4
