"""A PyTorch module as a learner: a network that reads whole sequences, or a cell that reads one step.

    from quickstudy.adapters.torch import SequenceModel
    qs.run("language/qa", SequenceModel(lambda brief: Net(brief.inputs.width, brief.outputs.width)))

or, in a file of one's own, as `quickstudy run language/qa --learner net.py:Model`:

    class Model(SequenceModel):
        def build(self, brief):
            return Net(brief.inputs.width, brief.outputs.width)

The adapter draws the weights by the seed, trains by Adam, one step per sequence, answers many sequences side by side,
and can be kept. It leaves PyTorch's common generator as it was.
"""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Bits, Reals, Tokens


class SequenceModel:
    """Learns with a network made by build(brief): numbers (time, row, inputs.width) in, scores (time, row,
    outputs.width) out, or a tuple whose first part they are; symbols come one-hot.

    build: makes the network; or a subclass has a method of that name. rate: of Adam. symbols: the network is given
    symbols as whole numbers (time, row), for an `Embedding`, instead of one-hot. clip: of the gradient's norm, 0: none.
    Called with a function alone, `SequenceModel(build, rate=0.01)`, it is the class with these parameters.

    Row t of the scores must not depend on inputs after t: no bidirectional layers, causal masks in attention.
    """

    reads: ClassVar[tuple[type, ...]] = (Tokens, Reals, Bits)
    gives: ClassVar[tuple[type, ...]] = (Tokens, Reals)

    def __new__(
        cls, brief: Any, seed: int = 0, build: Callable[[Brief], Any] | None = None, rate: float = 0.003,
        symbols: bool = False, clip: float = 0.0,
    ) -> Any:  # fmt: skip
        """The learner; or, of a function that builds networks, the class with that function."""
        if isinstance(brief, Brief):
            return super().__new__(cls)
        if not callable(brief):
            raise UsageError(
                f"{cls.__name__}: give a function of the brief that makes a torch.nn.Module, got {brief!r}"
            )
        given = {"rate": (rate, 0.003), "symbols": (symbols, False), "clip": (clip, 0.0)}
        changed: dict[str, Any] = {name: value for name, (value, usual) in given.items() if value != usual}
        return functools.partial(cls, build=brief, **changed)

    def __init__(
        self, brief: Any, seed: int = 0, build: Callable[[Brief], Any] | None = None, rate: float = 0.003,
        symbols: bool = False, clip: float = 0.0,
    ) -> None:  # fmt: skip
        if rate <= 0 or clip < 0:
            raise UsageError(f"{type(self).__name__}: rate must be above 0 and clip at least 0, got {rate}, {clip}")
        self.torch = _imported()
        self.torch.set_num_threads(1)  # workers share the cores: one process each
        self.brief, self.symbols, self.clip = brief, symbols and isinstance(brief.inputs, Tokens), clip
        self.scale = "logits" if isinstance(brief.outputs, Tokens) else "values"
        self._chance = self.torch.Generator().manual_seed(seed).get_state()
        with self._own_chance():
            self.network = (build or self.build)(brief)
        if not isinstance(self.network, self.torch.nn.Module):
            raise LearnerFault(f"build must give a torch.nn.Module, got {type(self.network).__name__}")
        self.parameters = self.network.parameters
        trained = [weights for weights in self.network.parameters() if weights.requires_grad]
        self._optimizer = self.torch.optim.Adam(trained, lr=rate) if trained else None

    def build(self, brief: Brief) -> Any:
        """The network; a subclass has it."""
        raise UsageError(f"{type(self).__name__} has no build(brief) that makes its network")

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """One step of Adam on the mean loss of what is asked."""
        if self._optimizer is None:
            return
        self.network.train()
        with self._own_chance():
            scores = self._scores(self._given(inputs[:, None]))[:, 0]
            loss = self._loss(scores, targets)
            self._optimizer.zero_grad()
            loss.backward()
            if self.clip:
                self.torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
            self._optimizer.step()

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Scores after every row."""
        return self.predict_many([inputs])[0]

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Side by side, padded behind their ends."""
        longest = max(map(len, sequences))
        padded = np.zeros((longest, len(sequences), *sequences[0].shape[1:]), sequences[0].dtype)
        for place, inputs in enumerate(sequences):
            padded[: len(inputs), place] = inputs
        self.network.eval()
        with self.torch.no_grad(), self._own_chance():
            scores = self._scores(self._given(padded)).numpy()
        return [scores[: len(inputs), place].astype(np.float64) for place, inputs in enumerate(sequences)]

    def snapshot(self) -> Snapshot:
        """Weights, the optimiser and the state of chance, in PyTorch's own format."""
        kept = {"network": self.network.state_dict(), "chance": self._chance}
        if self._optimizer is not None:
            kept["optimizer"] = self._optimizer.state_dict()
        content = io.BytesIO()
        self.torch.save(kept, content)
        return Snapshot({"torch": np.frombuffer(content.getvalue(), np.uint8)})

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot. Only tensors and numbers are read of it: nothing of it is run."""
        content = io.BytesIO(np.asarray(snapshot.arrays["torch"], np.uint8).tobytes())
        kept = self.torch.load(content, weights_only=True)
        self.network.load_state_dict(kept["network"])
        self._chance = kept["chance"]
        if self._optimizer is not None:
            self._optimizer.load_state_dict(kept["optimizer"])

    def _scores(self, inputs: Any) -> Any:
        """(time, row, width) of all steps."""
        return self._checked(self.network(inputs), tuple(inputs.shape[:2]))

    def _checked(self, given: Any, rows: tuple[int, ...]) -> Any:
        scores = given[0] if isinstance(given, tuple) else given
        wanted = (*rows, self.brief.outputs.width)
        if tuple(getattr(scores, "shape", ())) != wanted:
            found = tuple(getattr(scores, "shape", ())) or type(scores).__name__
            raise LearnerFault(f"the network must give scores of shape {wanted}, got {found}")
        return scores

    def _given(self, inputs: NDArray[Any]) -> Any:
        if not isinstance(self.brief.inputs, Tokens):
            return self.torch.tensor(inputs, dtype=self.torch.float32)
        symbols = self.torch.tensor(inputs, dtype=self.torch.long)
        return symbols if self.symbols else self.torch.nn.functional.one_hot(symbols, self.brief.inputs.size).float()

    def _loss(self, scores: Any, targets: NDArray[Any]) -> Any:
        if isinstance(self.brief.outputs, Tokens):
            wanted = self.torch.tensor(targets, dtype=self.torch.long)
            return self.torch.nn.functional.cross_entropy(scores, wanted, ignore_index=-1)
        asked = ~np.isnan(targets).any(axis=-1)
        wanted = self.torch.tensor(targets[asked], dtype=self.torch.float32)
        return ((scores[self.torch.tensor(asked)] - wanted) ** 2).mean()

    @contextlib.contextmanager
    def _own_chance(self) -> Iterator[None]:
        """Layers draw from the generator that all share: it is lent our state, and put back."""
        with self.torch.random.fork_rng(devices=[]):
            self.torch.random.set_rng_state(self._chance)
            yield
            self._chance = self.torch.random.get_rng_state()


class CellModel(SequenceModel):
    """The same with a cell: cell(x (row, inputs.width), state) gives scores (row, outputs.width) and the next state;
    state None: nothing was read. It cannot look ahead.
    """

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """One after another: side by side, a row's sums are rounded by its place among the others (seen: 1e-7)."""
        return [super(CellModel, self).predict_many([inputs])[0] for inputs in sequences]

    def start(self, rows: int, capacity: int) -> tuple[Any, ...]:
        """Of every row the cell's state: nothing was read."""
        return (None,) * rows

    def step(self, state: tuple[Any, ...], inputs: NDArray[Any]) -> tuple[tuple[Any, ...], NDArray[Any]]:
        """One step of every row from where it is: nothing is read again. Row by row, as in `predict_many`."""
        self.network.eval()
        with self.torch.no_grad(), self._own_chance():
            after = [self._moved(x[None], before) for x, before in zip(self._given(inputs), state, strict=True)]
        scores = [given[0].numpy().astype(np.float64) for given, _ in after]
        return tuple(following for _, following in after), np.stack(scores)

    def rows(self, state: tuple[Any, ...], numbers: NDArray[Any]) -> tuple[Any, ...]:
        """Where these rows are."""
        return tuple(state[number] for number in numbers)

    def _scores(self, inputs: Any) -> Any:
        state, scores = None, []
        for x in inputs:
            given, state = self._moved(x, state)
            scores.append(given)
        return self.torch.stack(scores)

    def _moved(self, x: Any, state: Any) -> tuple[Any, Any]:
        given = self.network(x, state)
        if not isinstance(given, tuple) or len(given) != 2:
            raise LearnerFault("a cell must give its scores and its next state")
        return self._checked(given[0], (x.shape[0],)), given[1]


def _imported() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra("torch", "torch") from error
    return torch
