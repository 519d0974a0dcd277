"""`memax:LRU`: a memory model of memax (written in Equinox), trained by gradient as the built-in
cores are.

    quickstudy run span/lookup --learner memax:FFM:units=32

Its residual model of one or more layers is a core: it reads step by step and whole sequences at
once, in one compiled program. That both agree is tried on random numbers before anything is
learned.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError, nearest
from quickstudy.base.learner import Brief, Pace, Pupil
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space

if TYPE_CHECKING:
    from quickstudy.learners.adam import Adam

LAYERS = (
    *("MLP", "NMax", "FART", "FWP", "DeltaNet", "DeltaProduct", "GDN", "FFM", "S6", "PSpherical"),
    *("LRU", "LinearRNN", "Stack", "Attention", "Attention-RoPE", "Attention-ALiBi", "GRU"),
    *("Elman", "ElmanReLU", "Spherical", "MGU", "LSTM"),
)
"""Names in memax 0.1, for suggestions; others are tried."""
CLOSE = 1e-3
"""The largest difference of step form and parallel form, over the largest feature: parallel scans
add in another order.
"""


@learner("memax", version=1)
@dataclass(frozen=True)
class Memax:
    """A memory model of memax, with a readout, trained by backpropagation with Adam.

    layer: its name in memax, as in `memax:LRU`. units: size of the recurrent layers. layers: how
    many. rate, batch, passes: as of `adam`. imported: the version of memax.
    """

    layer: str = parameter("")
    units: int = parameter(64, at_least=1)
    layers: int = parameter(1, at_least=1)
    rate: float = parameter(0.003, above=0)
    batch: int = parameter(8, at_least=0)
    passes: int = parameter(10, at_least=1)
    imported: str = parameter("", derived=True)

    first: ClassVar[str] = "layer"
    programs: ClassVar[int] = 2
    compiled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.layer:
            _imported()
            object.__setattr__(self, "imported", f"memax {importlib.metadata.version('memax')}")

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return "imports memax"

    def ready(self) -> None:
        """Raise UsageError, before anything runs, if no layer is named."""
        if not self.layer:
            raise UsageError("memax: which layer? type memax:LRU:units=32")

    @property
    def pace(self) -> Pace:
        """As of `adam`."""
        return Pace(self.passes, self.batch)

    @property
    def training(self) -> Adam:
        """How it is trained."""
        from quickstudy.learners.adam import Adam

        return Adam(rate=self.rate, batch=self.batch, passes=self.passes)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil with a core of its own for every stream."""
        from quickstudy.learners.core_with_training import Trained

        self.ready()
        return Trained(MemaxSpec(self.layer, self.units, self.layers), self.training).begin(
            brief, streams
        )


@dataclass(frozen=True)
class MemaxSpec:
    """What a core is built from."""

    layer: str
    units: int
    layers: int

    id: ClassVar[str] = "memax"
    version: ClassVar[int] = 1
    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> Any:
        """A core with weights from the library's own initialisation."""
        from quickstudy.jax_gateway import jax, jnp, key_from_words
        from quickstudy.learners.lanes import Frame

        train_utils = _imported()
        key = key_from_words(rng.integers(2**32, size=2, dtype=np.uint32))
        try:
            model = train_utils.get_residual_memory_model(
                self.layer, inputs.width, self.units, self.units, num_layers=self.layers, key=key
            )
        except KeyError:
            raise UsageError(
                f'memax: no layer "{self.layer}"; {nearest(self.layer, LAYERS)}'
            ) from None
        # Functions among its leaves are kept apart: programs take arrays alone.
        arrays, frame = Frame.of(model)
        core = _core_class()(arrays, frame, inputs, self.units)
        xs = jax.random.normal(key, (6, 2, inputs.width))
        whole = core.read(core.start(2, 6), xs)[1]
        state, rows = core.start(2, 6), []
        for x in xs:
            state, row = core.read(state, x[None])
            rows.append(row[0])
        apart = float(jnp.abs(jnp.stack(rows) - whole).max())
        if not apart <= CLOSE * max(1.0, float(jnp.abs(whole).max())):
            raise LearnerFault(
                f"{self.layer}: its step form gives other numbers than its parallel form, by"
                f" {apart:.2g}"
            )
        return core


def _core_class() -> Any:
    from quickstudy.cores.core import Core, as_numbers
    from quickstudy.jax_gateway import eqx, jax, jnp

    class MemaxCore(Core):
        """A model of memax; the state is that of its layers, with a batch axis first."""

        arrays: Any
        frame: Any = eqx.field(static=True)
        space: Any = eqx.field(static=True)
        units: int = eqx.field(static=True)

        @property
        def width(self) -> int:
            return self.units

        @property
        def capabilities(self) -> Any:
            return replace(super().capabilities, scans=False)

        def start(self, batch: int, capacity: int) -> Any:
            alone = self.frame.filled(self.arrays).initialize_carry()
            return jax.tree.map(lambda one: jnp.repeat(one[None], batch, axis=0), alone)

        def step(self, state: Any, x: Any, *, key: Any = None) -> Any:
            after, features = self.read(state, as_numbers(self.space, x)[None])
            return after, features[0]

        def unroll(self, state: Any, xs: Any, *, key: Any = None) -> Any:
            return self.read(state, as_numbers(self.space, xs))

        def read(self, state: Any, vectors: Any) -> Any:
            """Steps (time, batch, width) at once."""
            model = self.frame.filled(self.arrays)

            def one(state: Any, rows: Any) -> Any:
                states, features = model(state, (rows, jnp.zeros(len(rows), bool)))
                return model.latest_recurrent_state(states), features

            return jax.vmap(one, in_axes=(0, 1), out_axes=(0, 1))(state, vectors)

    return MemaxCore


def _imported() -> Any:
    try:
        from memax.equinox import train_utils
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "memax", "memax") from error
    return train_utils
