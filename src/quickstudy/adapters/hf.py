"""A language model in a folder, read by the library transformers, as a learner in its context.

    quickstudy run language/periodic --learner hf:folder=models/my-7b --seeds 2

Of every possible answer the logarithm of its probability is computed, so that nothing is sampled.
Answers are kept in the user's cache: a run that was stopped goes on by the same command,
and computes nothing twice. Nothing is fetched from anywhere, and no code of the folder is run.
Needs the extra `lm`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.adapters.in_context import ContextPupil, Counter, begin_in_context, check_transcript
from quickstudy.adapters.llm_cache import KeptAnswers, Said
from quickstudy.base.canonical import digest
from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens

PIECE = 1 << 16
"""Bytes that are read of a file in one place, for its fingerprint."""
_NOTHING_ELSE = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is fetched, and no code of the folder is run; without the second, transformers asks a
user on a terminal.
"""
PLACES = 64
"""In how many places, evenly spaced, a large file is read: the weights of a model take minutes to
read whole.
"""


@learner("hf", version=1)
@dataclass(frozen=True)
class Folder:
    """A language model in a folder, learning in context: examples are in the prompt, with renamed
    symbols.

    A run is identified by the content of the folder. The parameters from `device` on do not change
    answers beyond rounding and are not part of a run's identity.

    Parameters
    ----------
    folder:
        Folder as transformers saves it (`config.json`, weights, tokenizer).
    content:
        Fingerprint of its files, computed when they are read.
    precision:
        Precision of the weights.
    shared:
        Inputs and answers have the same letters, where there are equally many.
    window:
        Examples in the context, the last ones; 0 for all.
    device:
        Name of a torch device; auto: a GPU if there is one.
    threads:
        Threads on a CPU.
    spend:
        Most tokens of a run; 0 for no limit.
    kept:
        Keep the answers.
    transcript:
        File to which every prompt and answer is appended.
    """

    folder: str = parameter("", place=True)
    content: str = parameter("", derived=True)
    precision: str = parameter("float32", choices=("float32", "bfloat16", "float16"))
    shared: bool = parameter(True)
    window: int = parameter(0, at_least=0)
    device: str = parameter("auto", place=True)
    threads: int = parameter(1, at_least=1, place=True)
    spend: int = parameter(0, at_least=0, place=True)
    kept: bool = parameter(True, place=True)
    transcript: str = parameter("", place=True)

    pace: ClassVar[Pace] = Pace()
    reads: ClassVar[tuple[type, ...]] = (Tokens,)
    gives: ClassVar[tuple[type, ...]] = (Tokens,)

    def __post_init__(self) -> None:
        if not self.folder:
            return
        found = fingerprint(pathlib.Path(self.folder).expanduser())
        if self.content not in ("", found):
            raise ValueError(
                f"{self.folder} has changed: its content is {found}, not {self.content}"
            )
        object.__setattr__(self, "content", found)

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads the folder {given.get('folder')}"

    def ready(self) -> None:
        """Raise UsageError, before anything runs, if no folder is named."""
        if not self.folder:
            raise UsageError("hf: which folder? type hf:folder=models/my-7b")
        check_transcript(self.transcript)

    def counting(self) -> Counter:
        """A learner that is asked what this one would be asked, and only counts."""
        return Counter(self.shared, self.window)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> ContextPupil:
        """Nothing in its context yet. Raises UsageError if no folder is named, or its model cannot
        be read.
        """
        self.ready()
        kept = (
            KeptAnswers(digest({"content": self.content, "precision": self.precision}))
            if self.kept
            else None
        )

        def opened() -> Reader:
            return Reader(
                *_loaded(self.folder, self.content, self.precision, self.device), self.threads
            )

        return begin_in_context(
            opened, brief, streams, self.shared, self.window, self.spend, kept, self.transcript
        )


def fingerprint(folder: pathlib.Path) -> str:
    """Of the files of a folder by their names, sizes and content; of large ones in 64 places.
    Raises ValueError if there is no model.
    """
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"folder must hold a model that transformers has saved, with a config.json; {folder}"
            " has none"
        )
    files = sorted(
        file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
    )
    whole = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        whole.update(f"{file.name} {size}\n".encode())
        with open(file, "rb") as source:
            if size <= PIECE * PLACES:
                whole.update(source.read())
                continue
            for start in np.linspace(0, size - PIECE, PLACES).astype(int).tolist():
                source.seek(start)
                whole.update(source.read(PIECE))
    return whole.hexdigest()[:16]


class Reader:
    """A causal model and its tokenizer. One question at a time, each by itself: an answer depends
    on nothing but its prompt, to the last bit.
    """

    at_once = 1
    likely = True

    def __init__(self, torch: Any, model: Any, tokenizer: Any, threads: int) -> None:
        self._torch, self._model, self._tokenizer = torch, model, tokenizer
        torch.set_num_threads(threads)
        self.parameters: int | None = int(sum(weights.numel() for weights in model.parameters()))
        most = getattr(model.config, "max_position_embeddings", None)
        self._most = most if isinstance(most, int) and most > 0 else None

    def request(self, prompt: str, answers: Sequence[str]) -> Any:
        """The prompt, and the answers that are compared."""
        return {"prompt": prompt, "answers": list(answers)}

    def say(self, prompt: str, answers: Sequence[str]) -> Said:
        """The share of each answer among all of them. Raises LearnerFault if the context is too
        long for the model.

        A tokenizer may make one token of `>` and the letter after it. So each answer is read with
        its prompt, and its probability is that of all tokens after the prefix that all answers
        share.
        """
        texts = [self._tokenizer(prompt + answer)["input_ids"] for answer in answers]
        longest = max(map(len, texts))
        if self._most is not None and longest > self._most:
            raise LearnerFault(
                f"the context has {longest} tokens, and the model reads {self._most}: give fewer"
                " examples (window=...)"
            )
        common = min(_common(texts[0], text) for text in texts)
        # Before its first token a model predicts nothing: the entry there is the same for all, and
        # is taken as given.
        common = max(1, min(common, min(map(len, texts)) - 1))
        first = self._logarithms(texts[0][:common])[-1]
        read = common
        found = []
        for text in texts:
            value = float(first[text[common]])
            if len(text) > common + 1:
                rest = self._logarithms(text[:-1])
                read += len(text) - 1
                value += float(
                    sum(rest[place - 1, text[place]] for place in range(common + 1, len(text)))
                )
            found.append(value)
        if not all(map(math.isfinite, found)):
            raise LearnerFault("the probabilities of the model are not finite")
        total = float(np.logaddexp.reduce(found))
        likely = {answer: value - total for answer, value in zip(answers, found, strict=True)}
        return Said(likely, max(likely, key=likely.__getitem__), read)

    def close(self) -> None:
        """The next run has the same model: it stays."""

    def _logarithms(self, tokens: Sequence[int]) -> Any:
        """(place, token) logarithms of the probabilities of what comes after each place."""
        with self._torch.inference_mode():
            given = self._torch.tensor([list(tokens)], device=self._model.device)
            scores = self._model(input_ids=given, use_cache=False).logits[0]
            return self._torch.log_softmax(scores.double(), dim=-1).cpu().numpy()


def _common(first: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts have in common from their beginning."""
    pairs = enumerate(zip(first, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(first), len(other)))


@functools.lru_cache(maxsize=1)
def _loaded(folder: str, content: str, precision: str, device: str) -> tuple[Any, Any, Any]:
    """torch, the model and its tokenizer; those of the last run, if they are the same."""
    try:
        torch: Any = importlib.import_module("torch")
        transformers: Any = importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "lm") from error
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    path = str(pathlib.Path(folder).expanduser().absolute())
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        with torch.random.fork_rng(devices=[]):  # weights are drawn before they are read
            model = transformers.AutoModelForCausalLM.from_pretrained(
                path, dtype=getattr(torch, precision), **_NOTHING_ELSE
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(path, **_NOTHING_ELSE)
        return torch, model.to(device).eval(), tokenizer
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise UsageError(
            f"hf: {folder} cannot be read: {' '.join(str(error).split())[:200]}"
        ) from error
