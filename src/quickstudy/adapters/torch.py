"""A PyTorch module as a learner: a network that reads whole sequences, or a cell that reads one
step.

    from quickstudy.adapters.torch import SequenceModel
    qs.run("language/qa", SequenceModel(lambda brief: Net(brief.inputs.width, brief.outputs.width)))

or, in a file, as `quickstudy run language/qa --learner net.py:Model:width=64`:

    class Model(SequenceModel):
        def build(self, brief, width=32):
            return Net(brief.inputs.width, width, brief.outputs.width)

The adapter initialises the weights by the seed, trains in mini-batches with the settings of the
built-in `adam`, answers many sequences at once, shows the network's states, acts in worlds by an
actor-critic, and can be saved. It does not change PyTorch's global generator.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.built import Built
from quickstudy.adapters.torch_acting import Actor
from quickstudy.adapters.torch_states import features_read, has_states
from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Bits, Reals, Tokens

FEW = 50
"""With fewer updates than this, a result is hardly a statement about a network."""
OPTIMIZERS = {"adam": "Adam", "adamw": "AdamW", "sgd": "SGD", "rmsprop": "RMSprop"}


class SequenceModel(Built):
    """Learns with a network made by build(brief): numbers (time, row, inputs.width) in, scores
    (time, row, outputs.width) out, or a tuple that begins with them; symbols come one-hot.

    - build: makes the network; or a subclass has a method of that name, whose parameters are
      parameters of the learner.
    - passes: times that the material is shown. batch: sequences per update; 0: all of them. rate:
      step size. Default: those of the built-in `adam`, 10, 1 and 0.001 for symbols, 200, 8 and
      0.005 for real numbers, 100, 8 and 0.001 for strings; a world's rate is 0.005.
    - optimizer: adam, adamw, sgd or rmsprop; in Python also a function of the parameters.
    - weight_decay: of the optimizer. clip: largest norm of the gradient; 0: no limit.
    - device: as PyTorch names it: cpu, cuda, mps.
    - symbols: the network is given symbols as whole numbers (time, row), for an `Embedding`.

    The loss of a sequence is the mean over its questions, that of a batch the mean over its
    sequences. Row t of the scores must not depend on inputs after t: no bidirectional layers,
    causal masks in attention. Shorter sequences of a batch are padded at the end.

    Its states are what the network's method `states` gives, (time, row, feature) for inputs as in
    `forward`; without one, the input of its last Linear layer with outputs.width outputs.
    """

    model = "a torch.nn.Module"
    reads: ClassVar[tuple[type, ...]] = (Tokens, Reals, Bits)
    gives: ClassVar[tuple[type, ...]] = (Tokens, Reals)
    passes: ClassVar[int | None] = None
    batch: ClassVar[int | None] = None
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "symbols": {"passes": 10, "batch": 1, "rate": 0.001},
        "reals": {"passes": 200, "batch": 8, "rate": 0.005},
        "strings": {"passes": 100, "batch": 8, "rate": 0.001},
        "reward": {"passes": 1, "batch": 1, "rate": 0.005},
    }

    def __init__(
        self,
        brief: Brief,
        seed: int = 0,
        build: Callable[..., Any] | None = None,
        passes: int | None = None,
        batch: int | None = None,
        rate: float | None = None,
        optimizer: str | Callable[[Any], Any] = "adam",
        weight_decay: float = 0.0,
        clip: float = 0.0,
        device: str = "cpu",
        symbols: bool = False,
        **of_build: Any,
    ) -> None:
        del passes, batch  # the pace: who shows the material goes by it
        asked = (
            "reward"
            if brief.loss == "reward"
            else "symbols"
            if isinstance(brief.outputs, Tokens)
            else "reals"
        )
        rate = self.usual[asked]["rate"] if rate is None else rate
        for name, value, least in (("clip", clip, 0.0), ("weight_decay", weight_decay, 0.0)):
            if value < least:
                raise UsageError(f"{type(self).__name__}: {name} must be at least 0, got {value}")
        if rate <= 0:
            raise UsageError(f"{type(self).__name__}: rate must be above 0, got {rate}")
        self.torch = _imported()
        self.torch.set_num_threads(1)  # one process per core: more threads would compete
        self.symbols, self.clip = symbols and isinstance(brief.inputs, Tokens), clip
        self.scale = "logits" if isinstance(brief.outputs, Tokens) else "values"
        self.device = self._found_device(device)
        self._chance = self._seeded(seed)
        acts = brief.loss == "reward"
        self.brief = Actor.widened(brief) if acts and not self.symbols else brief
        with self._own_chance():
            network = self.built(build, self.brief, of_build)
            if not isinstance(network, self.torch.nn.Module):
                raise LearnerFault(
                    f"build must give a torch.nn.Module, got {type(network).__name__}"
                )
            self.network = network.to(self.device)
            self._actor = Actor(self, brief) if acts else None
        if self._actor is not None:
            self.act = self._actor.act
        if has_states(self.network, self.brief.outputs.width):
            self.states = self._states
        modules = [self.network, *([self._actor.critic] if self._actor else [])]
        weights = [one for module in modules for one in module.parameters()]
        self.parameters = lambda: weights
        self._trained = [one for one in weights if one.requires_grad]
        self._optimizer = self._made(optimizer, rate, weight_decay) if self._trained else None
        self.updates = 0

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """One update on one sequence."""
        self.learn_many([(inputs, targets)])

    def learn_many(self, sequences: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> None:
        """One update on a batch."""
        nothing = -1 if isinstance(self.brief.outputs, Tokens) else np.nan
        inputs, targets = zip(*sequences, strict=True)
        with self.training():
            scores = self.scores(self.given(_padded(inputs, 0)))
            self.update(self._loss(scores, _padded(targets, nothing)))

    def count_work(self, sequences: Sequence[NDArray[Any]]) -> dict[str, float]:
        """Multiplications of one step, mean over the steps of these sequences; see
        `quickstudy.adapters.torch_work`.
        """
        from quickstudy.adapters.torch_work import counted_work

        with self.asking():
            return counted_work(lambda inputs: self.scores(self.given(inputs[:, None])), sequences)

    def update(self, loss: Any) -> None:
        """One step of the optimizer."""
        if self._optimizer is None:
            return
        self._optimizer.zero_grad()
        loss.backward()
        if self.clip:
            self.torch.nn.utils.clip_grad_norm_(self._trained, self.clip)
        self._optimizer.step()
        self.updates += 1

    def remark(self) -> str:
        """A warning where the network was hardly trained; empty otherwise."""
        if self._optimizer is None or self.updates >= FEW:
            return ""
        many = f"only {self.updates} update{'' if self.updates == 1 else 's'}"
        return (
            f"{many}, which is hardly enough to train a network; set passes and batch in its name"
        )

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Scores after every row."""
        return self.predict_many([inputs])[0]

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Scores for several sequences, padded at their ends."""
        with self.asking():
            scores = self.scores(self.given(_padded(sequences, 0))).cpu().numpy()
        return [
            scores[: len(inputs), place].astype(np.float64)
            for place, inputs in enumerate(sequences)
        ]

    def snapshot(self) -> Snapshot:
        """Weights, optimizer and random state, in PyTorch's own format."""
        kept = {
            "network": self.network.state_dict(),
            "chance": self._chance,
            "updates": self.updates,
        }
        if self._optimizer is not None:
            kept["optimizer"] = self._optimizer.state_dict()
        if self._actor is not None:
            kept["actor"] = self._actor.kept()
        content = io.BytesIO()
        self.torch.save(kept, content)
        return Snapshot({"torch": np.frombuffer(content.getvalue(), np.uint8)})

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot. Only tensors and numbers are read from it; no code of it is
        executed.
        """
        content = io.BytesIO(np.asarray(snapshot.arrays["torch"], np.uint8).tobytes())
        kept = self.torch.load(content, weights_only=True, map_location="cpu")
        self.network.load_state_dict(kept["network"])
        self._chance, self.updates = kept["chance"], kept["updates"]
        if self._optimizer is not None:
            self._optimizer.load_state_dict(kept["optimizer"])
        if self._actor is not None:
            self._actor.restore(kept["actor"])

    def _states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """(time, feature) states of the network on the way through one sequence."""
        with self.asking():
            states = self.scores_and_features(self.given(inputs[:, None]))[1]
        return np.asarray(states[:, 0].cpu().numpy().astype(np.float64))

    def scores_and_features(self, inputs: Any) -> tuple[Any, Any]:
        """(time, row, ...) scores and states; the scores twice, where the states are not known."""
        if callable(getattr(self.network, "states", None)):
            return self.scores(inputs), self.network.states(inputs)
        outputs = self.brief.outputs.width
        if not has_states(self.network, outputs):
            return (self.scores(inputs),) * 2
        return features_read(self.network, lambda: self.scores(inputs), outputs, inputs.shape[:2])

    def scores(self, inputs: Any) -> Any:
        """(time, row, width) of all steps."""
        return self._checked(self.network(inputs), tuple(inputs.shape[:2]))

    def _checked(self, given: Any, rows: tuple[int, ...]) -> Any:
        scores = given[0] if isinstance(given, tuple) else given
        wanted = (*rows, self.brief.outputs.width)
        if tuple(getattr(scores, "shape", ())) != wanted:
            found = tuple(getattr(scores, "shape", ())) or type(scores).__name__
            raise LearnerFault(f"the network must give scores of shape {wanted}, got {found}")
        return scores

    def given(self, inputs: NDArray[Any]) -> Any:
        """Inputs as the network reads them, on its device."""
        if not isinstance(self.brief.inputs, Tokens):
            return self.torch.tensor(inputs, dtype=self.torch.float32, device=self.device)
        symbols = self.torch.tensor(inputs, dtype=self.torch.long, device=self.device)
        return (
            symbols
            if self.symbols
            else self.torch.nn.functional.one_hot(symbols, self.brief.inputs.size).float()
        )

    def _loss(self, scores: Any, targets: NDArray[Any]) -> Any:
        """The mean over sequences of the mean over questions."""
        tokens = isinstance(self.brief.outputs, Tokens)
        asked = targets >= 0 if tokens else ~np.isnan(targets).any(axis=-1)
        questions = asked.sum(axis=0)
        weights = self.torch.tensor(
            asked / np.maximum(questions, 1) / max(1, (questions > 0).sum())
        )
        if tokens:
            wanted = self.torch.tensor(targets, dtype=self.torch.long, device=self.device)
            functional = self.torch.nn.functional
            losses = functional.cross_entropy(
                scores.movedim(-1, 1), wanted, ignore_index=-1, reduction="none"
            )
        else:
            wanted = self.torch.tensor(
                np.nan_to_num(targets), dtype=self.torch.float32, device=self.device
            )
            losses = ((scores - wanted) ** 2).mean(-1)
        return (losses * weights.to(scores)).sum()

    def _made(self, optimizer: str | Callable[[Any], Any], rate: float, weight_decay: float) -> Any:
        if callable(optimizer):
            return optimizer(self._trained)
        if optimizer not in OPTIMIZERS:
            known = ", ".join(OPTIMIZERS)
            raise UsageError(
                f'{type(self).__name__}: optimizer must be one of {known}, got "{optimizer}"'
            )
        kind = getattr(self.torch.optim, OPTIMIZERS[optimizer])
        return kind(self._trained, lr=rate, weight_decay=weight_decay)

    def _found_device(self, name: str) -> Any:
        try:
            device = self.torch.device(name)
            self.torch.zeros(1, device=device)
        except (
            RuntimeError,
            AssertionError,
        ) as error:  # an unknown word, or a device that is not there
            said = str(error).splitlines()[0]
            raise UsageError(
                f'{type(self).__name__}: device "{name}" cannot be used: {said}'
            ) from error
        return device

    def _seeded(self, seed: int) -> dict[str, Any]:
        states = {"cpu": self.torch.Generator().manual_seed(seed).get_state()}
        if self.device.type != "cpu":
            states["device"] = self.torch.Generator(self.device).manual_seed(seed).get_state()
        return states

    @contextlib.contextmanager
    def training(self) -> Iterator[None]:
        """Learning: layers such as dropout are on."""
        self.network.train()
        with self._own_chance():
            yield

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Answering: no gradients, no dropout."""
        self.network.eval()
        with self.torch.no_grad(), self._own_chance():
            yield

    @contextlib.contextmanager
    def _own_chance(self) -> Iterator[None]:
        """Layers draw from the global generator: it has our state meanwhile, and its own again
        afterwards.
        """
        apart = self.device.type != "cpu"
        kind = self.device.type if apart else "cuda"
        with self.torch.random.fork_rng(devices=[self.device] if apart else [], device_type=kind):
            self.torch.random.set_rng_state(self._chance["cpu"])
            if apart:
                module = self.torch.get_device_module(self.device)
                module.set_rng_state(self._chance["device"], self.device)
            yield
            self._chance["cpu"] = self.torch.random.get_rng_state()
            if apart:
                self._chance["device"] = module.get_rng_state(self.device)


class CellModel(SequenceModel):
    """The same with a cell: cell(x (row, inputs.width), state) gives scores (row, outputs.width)
    and the next state; the first state is None. It cannot look ahead.
    """

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """One after another: in a batch, rounding depends on the row's position (1e-7 measured)."""
        return [super(CellModel, self).predict_many([inputs])[0] for inputs in sequences]

    def start(self, rows: int, capacity: int) -> tuple[Any, ...]:
        """The cell's state for every row before the first input."""
        return (None,) * rows

    def step(
        self, state: tuple[Any, ...], inputs: NDArray[Any]
    ) -> tuple[tuple[Any, ...], NDArray[Any]]:
        """One step of every row from its state: nothing is read again. Row by row, as in
        `predict_many`.
        """
        with self.asking():
            after = [
                self._moved(x[None], before)
                for x, before in zip(self.given(inputs), state, strict=True)
            ]
        scores = [given[0].cpu().numpy().astype(np.float64) for given, _ in after]
        return tuple(following for _, following in after), np.stack(scores)

    def rows(self, state: tuple[Any, ...], numbers: NDArray[Any]) -> tuple[Any, ...]:
        """The states of these rows."""
        return tuple(state[number] for number in numbers)

    def scores(self, inputs: Any) -> Any:
        """(time, row, width) of all steps, one after another."""
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


def _padded(sequences: Sequence[NDArray[Any]], filler: float) -> NDArray[Any]:
    """(time, row, ...), filled at the ends."""
    longest = max(map(len, sequences))
    whole = np.full((longest, len(sequences), *sequences[0].shape[1:]), filler, sequences[0].dtype)
    for place, inputs in enumerate(sequences):
        whole[: len(inputs), place] = inputs
    return whole


def _imported() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra("torch", "torch") from error
    return torch
