"""Adam on a bag of words that is never written out: as `bag+adam`, for vocabularies of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.catalogue import training
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.bag import BagCore, BagOfWords
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import eqx, jax, jnp
from quickstudy.learners.adam import Head, Model
from quickstudy.learners.batches import Batch, BatchPupil, RowSettings
from quickstudy.learners.rows import distinct


class LinearBag(eqx.Module):
    """The mean of the weights (symbol, output) of a row's different symbols, plus a bias."""

    head: Head

    noisy: ClassVar[bool] = False

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
    """Adam on a bag of words: as `bag+adam`, but looking up the weights of the words that are there.

    rate: step size. batch: examples per update; their losses are averaged. passes: times the material is shown, in a
    new order each time. For the core `bag` only, and for symbols only. The same model, the same first weights and the
    same updates as `bag+adam:total=mean`, up to rounding, at a cost that does not grow with the vocabulary but for
    Adam's own. Source: the linear model of Cisneros et al. 2022, section 4.
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

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> BatchPupil:
        """A fresh pupil."""
        # Measured on reviews: nearly every batch of 8 fits into 512 different pieces, so that hundreds of updates are
        # one call.
        plan = RowSettings(distinct, self.rate, self.batch, smallest=512, together=1 << 19)
        return BatchPupil(plan, [LinearBag(_head(core, brief, stream)) for stream in streams], streams)


def _head(core: CoreSpec, brief: Brief, streams: Streams) -> Head:
    rng = streams.numpy("core")
    return Head.drawn(core.build(brief.inputs, rng), brief.outputs.width, rng)
