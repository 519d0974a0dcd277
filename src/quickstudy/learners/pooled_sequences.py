"""Networks that read a whole row and then give one answer: word vectors, a core, pooling, a norm
and a head; or a bag of words that is never written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Space, Tokens
from quickstudy.cores.bag import BagCore, BagOfWords
from quickstudy.cores.core import ABSENT, CoreSpec
from quickstudy.jax_gateway import device_kind, eqx, jax, jnp, lax
from quickstudy.learners.pooled import Batch, RowSettings, distinct, in_order
from quickstudy.learners.pooled_training import RowPupil
from quickstudy.learners.stepping import Head, Model

MEMORY = 0.1
"""Part of a new batch in what is remembered."""
_TINY = 1e-5
ON_CPU, ON_GPU = (1 << 15, None), (1 << 20, 1 << 26)
"""Places of test rows that are answered in one call, and pairs of them where each looks at all
others. A GPU takes as long for a step of few rows as for one of hundreds; what a core that attends
keeps there, 8 heads of 2**26 pairs, are 2 GB a lane.
"""


class Noted(NamedTuple):
    """Mean and variance (features,) as remembered over batches."""

    mean: Any
    variance: Any


class BatchNorm(eqx.Module):
    """Zero mean and unit variance over a batch, then a scale and a shift for each feature.

    While learning, by the batch's own mean and (population) variance; they go into a running mean
    with the sample variance, by which rows are normalised when answering.
    """

    scale: Any
    shift: Any

    @classmethod
    def fresh(cls, width: int) -> BatchNorm:
        """Scale 1, shift 0."""
        return cls(jnp.ones(width), jnp.zeros(width))

    def notes(self) -> Noted:
        """Before any batch: mean 0, variance 1."""
        return Noted(jnp.zeros_like(self.shift), jnp.ones_like(self.scale))

    def __call__(
        self, rows: Any, shares: Any, noted: Noted, *, learning: bool
    ) -> tuple[Any, Noted]:
        """Rows (row, feature), counted where their share is above 0; and what is noted after
        them.
        """
        used = noted
        if learning:
            counted = (shares > 0).astype(rows.dtype)[:, None]
            count = counted.sum()
            mean = (counted * rows).sum(axis=0) / count
            variance = (counted * jnp.square(rows - mean)).sum(axis=0) / count
            used = Noted(mean, variance)
            sample = variance * count / jnp.maximum(count - 1.0, 1.0)
            noted = Noted(
                noted.mean + MEMORY * (lax.stop_gradient(mean) - noted.mean),
                noted.variance + MEMORY * (lax.stop_gradient(sample) - noted.variance),
            )
        return (rows - used.mean) * lax.rsqrt(
            used.variance + _TINY
        ) * self.scale + self.shift, noted


class WordVectors(eqx.Module):
    """A vector for every symbol, some of its numbers left out while learning. silent: symbol 0 is
    the zero vector.
    """

    vectors: Any
    dropped: float = eqx.field(static=True)
    silent: bool = eqx.field(static=True)

    def __call__(self, symbols: Any, key: Any) -> Any:
        """(..., width) of symbols (...)."""
        rows = self.vectors[symbols]
        if self.silent:
            rows = jnp.where((symbols == 0)[..., None], 0.0, rows)
        if key is None or self.dropped == 0:
            return rows
        return (
            rows * jax.random.bernoulli(key, 1.0 - self.dropped, rows.shape) / (1.0 - self.dropped)
        )


class PooledNet(eqx.Module):
    """Reads rows of symbols through a core and answers from the features pooled over time."""

    words: WordVectors | None
    core: Any
    norm: BatchNorm | None
    head: Head
    pool: str = eqx.field(static=True)

    def notes(self) -> Any:
        """What batch normalisation remembers."""
        return None if self.norm is None else self.norm.notes()

    def speaker(self, notes: Any) -> PooledSpeaker:
        """Itself, step by step. Raises NotApplicable where the core looks both ways."""
        if self.core.capabilities.leaks:
            raise NotApplicable(
                "a pooled network that looks both ways reads whole rows, not single steps"
            )
        return PooledSpeaker(self, notes)

    def trainable(self) -> Any:
        """Everything but what the core keeps fixed."""
        whole = jax.tree.map(eqx.is_inexact_array, self)
        return eqx.tree_at(lambda net: net.core, whole, self.core.trainable())

    def __call__(self, batch: Batch, notes: Any, key: Any) -> tuple[Any, Any]:
        """(row, output) logits, and the notes after them; key None: no noise, and nothing is
        noted.
        """
        rows, places = batch.symbols.shape
        symbols, place = batch.symbols.T.astype(jnp.int32), jnp.arange(places)[:, None]
        if self.core.capabilities.leaks:
            # A core that sees all of a row at once gets the end of the row; it ends before the
            # answer.
            symbols = jnp.where(place < batch.limits, symbols, ABSENT)
        of_words, of_core = (None, None) if key is None else jax.random.split(key)
        inputs = symbols if self.words is None else self.words(symbols, of_words)
        start = self.core.start(rows, places)
        features = self.core.unroll(
            start, inputs, key=of_core if self.core.capabilities.noisy else None
        )[1]
        if self.pool == "last":
            pooled = features[batch.sizes - 1, jnp.arange(rows)]
        else:
            pooled = (
                jnp.where((place < batch.limits)[..., None], features, 0.0).sum(axis=0)
                / batch.limits[:, None]
            )
        if self.norm is not None:
            pooled, notes = self.norm(pooled, batch.shares, notes, learning=key is not None)
        return self.head(pooled), notes


class PooledSpeaker(eqx.Module):
    """What a net would answer if its row ended here. State: the core's, the sum of the features,
    how many they are.
    """

    net: PooledNet
    notes: Any

    def start(self, rows: int, capacity: int) -> Any:
        """Nothing read."""
        return (
            self.net.core.start(rows, capacity),
            jnp.zeros((rows, self.net.core.width)),
            jnp.zeros(()),
        )

    def step(self, state: Any, x: Any) -> tuple[Any, Any]:
        """One more place of every row."""
        net, (memory, total, count) = self.net, state
        memory, features = net.core.step(memory, x if net.words is None else net.words(x, None))
        total, count = total + features, count + 1.0
        pooled = features if net.pool == "last" else total / count
        if net.norm is not None:
            pooled, _ = net.norm(pooled, None, self.notes, learning=False)
        return (memory, total, count), net.head(pooled)

    def rows(self, state: Any, numbers: Any) -> Any:
        """Of the core, and of the sums."""
        memory, total, count = state
        return self.net.core.rows(memory, numbers), total[numbers], count


@training("pooled", version=1)
@dataclass(frozen=True)
class Pooled:
    """Adam on whole sequences: the features before a question are pooled into one vector, which
    gives the answer.

    A sequence ends at its question, so that a core that looks both ways (`transformer` with
    `causal=no`) cannot see the answer; here that is not a defect. Test sequences are batched in the
    order of their questions, in few padded lengths.

    Source: Cisneros et al. 2022, section 4.

    Parameters
    ----------
    rate:
        Step size.
    batch:
        Examples per update; their losses are averaged.
    passes:
        Times that the material is shown, in a new order each time.
    vectors:
        Width of trained embeddings, standard normal at the start; none lets the core read the
        symbols.
    dropped:
        Dropout on the embeddings.
    pool:
        The features after the `last` symbol, or their `mean` over all.
    normed:
        Batch normalisation of the pooled features.
    padding:
        `none`, or `zeros`, the preset of `published`, which repeats a defect of the published
        programs: positions after a sequence's end hold symbol 0, which a core that looks both ways
        attends to and which counts in the mean, so that an answer depends on the rest of its batch.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(8, at_least=1)
    passes: int = parameter(10, at_least=1)
    vectors: int | None = parameter(None, at_least=1)
    dropped: float = parameter(0.0, at_least=0, at_most=0.95)
    pool: str = parameter("last", choices=("last", "mean"))
    normed: bool = False
    padding: str = parameter("none", choices=("none", "zeros"))

    programs: ClassVar[int] = 8
    by_question: ClassVar[bool] = False
    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"padding": "zeros"}}

    def __post_init__(self) -> None:
        if self.dropped and self.vectors is None:
            raise ValueError(
                f"dropped is about vectors, and there are none, got {self.dropped}; give"
                " vectors=128"
            )

    def check_core(self, core: CoreSpec) -> None:
        """One that is trained."""
        if core.frozen:
            raise UsageError(
                f"pooled trains the whole network, and {core.id} is a reservoir; use {core.id}+adam"
            )

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> RowPupil:
        """A fresh pupil."""
        together, pairs = ON_CPU if device_kind() == "cpu" else ON_GPU
        nets = [self._net(core, brief, stream) for stream in streams]
        can = nets[0].core.capabilities
        settings = RowSettings(
            in_order,
            self.rate,
            self.batch,
            smallest=32,
            together=together,
            pairs=pairs if can.attends else None,
            padding_counts=self.padding == "zeros" and (self.pool == "mean" or can.leaks),
        )
        return RowPupil(settings, nets, streams)

    def _net(self, core: CoreSpec, brief: Brief, streams: Streams) -> PooledNet:
        rng = streams.numpy("core")
        words = None
        if self.vectors is not None:
            drawn = jnp.asarray(rng.normal(size=(brief.inputs.width, self.vectors)), jnp.float32)
            words = WordVectors(drawn, self.dropped, self.padding == "zeros")
        built = core.build(brief.inputs if words is None else Reals(words.vectors.shape[1]), rng)
        head = Head.drawn(built, brief.outputs.width, rng)
        return PooledNet(
            words, built, BatchNorm.fresh(built.width) if self.normed else None, head, self.pool
        )


class LinearBag(eqx.Module):
    """The mean of the weights (symbol, output) of a row's different symbols, plus a bias."""

    head: Head

    def notes(self) -> None:
        """None are taken."""

    def speaker(self, notes: None) -> Model:
        """The bag itself, with the same weights on its features."""
        return Model(BagCore(Tokens(self.head.weights.shape[-2])), self.head)

    def trainable(self) -> Any:
        """All of it."""
        return jax.tree.map(lambda _: True, self)

    def __call__(self, batch: Batch, notes: None, key: Any) -> tuple[Any, None]:
        """(row, output) logits."""
        there = jnp.arange(batch.symbols.shape[1]) < batch.sizes[:, None]
        gathered = jnp.where(there[..., None], self.head.weights[batch.symbols], 0.0)
        return gathered.sum(axis=1) / batch.sizes[:, None] + self.head.bias, None


@training("sparse", version=1)
@dataclass(frozen=True)
class Sparse:
    """Adam on a bag of words by embedding lookup: the model of `bag+adam` at a cost independent of
    the vocabulary.

    For the core `bag` and for symbols only. It has the same initial weights and updates as
    `bag+adam:total=mean`, up to rounding.

    Source: the linear model of Cisneros et al. 2022, section 4.

    Parameters
    ----------
    rate:
        Step size.
    batch:
        Examples per update; their losses are averaged.
    passes:
        Times that the material is shown, in a new order each time.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(8, at_least=1)
    passes: int = parameter(10, at_least=1)

    programs: ClassVar[int] = 8
    by_question: ClassVar[bool] = False
    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """A bag of words."""
        if not isinstance(core, BagOfWords):
            raise UsageError(f"sparse is for the core bag, not {core.id}; use {core.id}+adam")

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> RowPupil:
        """A fresh pupil."""
        # Measured on reviews: nearly every batch of 8 fits into 512 different pieces, so that
        # hundreds of updates are one call.
        settings = RowSettings(distinct, self.rate, self.batch, smallest=512, together=1 << 19)
        models = [
            Model.drawn(core, brief.inputs, brief.outputs.width, stream) for stream in streams
        ]
        return RowPupil(settings, [LinearBag(model.head) for model in models], streams)
