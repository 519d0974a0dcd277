"""A language model on a server with the completions or the chat protocol, as an in-context learner.

    quickstudy run language/qa --learner "openai:url=http://127.0.0.1:8000/v1,model=my-7b" --seeds 2

Answers are kept in the user's cache: a run that failed because the server was away, or because its
tokens were spent, continues with the same command and pays for nothing twice. Only the standard
library is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.adapters.api_key import USUAL, check_key_name, read_key
from quickstudy.adapters.completions import Client
from quickstudy.adapters.in_context import ContextPupil, Counter, begin_in_context, check_transcript
from quickstudy.adapters.llm_cache import KeptAnswers
from quickstudy.adapters.server_url import ServerUrl
from quickstudy.base.canonical import digest
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens


@learner("openai", version=2)
@dataclass(frozen=True)
class Server:
    """A language model on a server, learning in context: examples are in the prompt, with renamed
    symbols.

    The temperature is 0. The parameters from `key` on do not change answers and are not part of a
    run's identity.

    Parameters
    ----------
    url:
        Root of the API, such as http://127.0.0.1:8000/v1.
    model:
        Name of the model on that server.
    protocol:
        `completions` or `chat`.
    shared:
        Inputs and answers have the same letters, where there are equally many.
    window:
        Examples in the context, the last ones; 0 for all.
    logprobs:
        Ask for log-probabilities, and read the answer as text only where the server gives none; no:
        always read the text.
    edition:
        Raise it when the server has changed under the same url and model name.
    key:
        Environment variable that holds the API key. Default: OPENAI_API_KEY, for api.openai.com and
        servers on this machine only.
    spend:
        Most tokens of a run; 0 for no limit.
    retries:
        Retries of a request.
    seconds:
        Timeout of a request.
    price:
        Price of a million tokens, in any currency; with it, the price of all runs is printed before
        they begin.
    per_minute:
        Most requests per worker and minute; 0 for no limit.
    at_once:
        Requests in parallel.
    kept:
        Keep the answers.
    transcript:
        File to which every prompt and answer is appended.
    """

    url: str = parameter("")
    model: str = parameter("")
    protocol: str = parameter("completions", choices=("completions", "chat"))
    shared: bool = parameter(True)
    window: int = parameter(0, at_least=0)
    logprobs: bool = parameter(True, added=True)
    edition: int = parameter(1, at_least=1)
    key: str = parameter("", place=True)
    spend: int = parameter(0, at_least=0, place=True)
    price: float = parameter(0.0, at_least=0.0, place=True)
    retries: int = parameter(5, at_least=0, place=True)
    seconds: float = parameter(60.0, above=0.0, place=True)
    per_minute: int = parameter(0, at_least=0, place=True)
    at_once: int = parameter(4, at_least=1, place=True)
    kept: bool = parameter(True, place=True)
    transcript: str = parameter("", place=True)

    pace: ClassVar[Pace] = Pace()
    reads: ClassVar[tuple[type, ...]] = (Tokens,)
    gives: ClassVar[tuple[type, ...]] = (Tokens,)

    def __post_init__(self) -> None:
        check_key_name(self.key)
        if self.url:
            object.__setattr__(self, "url", str(ServerUrl.read(self.url)))

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"asks {given.get('url') or 'a server'}, with the key in {given.get('key') or USUAL}"

    def ready(self) -> None:
        """Raise UsageError, before anything runs, if no server or model is named or the key is not
        there.
        """
        if not self.url or not self.model:
            raise UsageError(
                "openai: which server and model? type openai:url=http://127.0.0.1:8000/v1,model=NAME"
            )
        read_key(self.key, ServerUrl.read(self.url))
        check_transcript(self.transcript)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> ContextPupil:
        """Nothing is in its context yet. Raises UsageError as `ready` does."""
        self.ready()
        kept = (
            KeptAnswers(digest({"url": self.url, "edition": self.edition})) if self.kept else None
        )
        return begin_in_context(
            lambda: Client(self, kept),
            brief,
            streams,
            self.shared,
            self.window,
            self.spend,
            kept,
            self.transcript,
        )

    def counting(self) -> Counter:
        """A learner that is asked what this one would be asked, and only counts."""
        return Counter(self.shared, self.window)
