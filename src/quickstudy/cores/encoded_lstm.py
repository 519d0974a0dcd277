"""LSTMs that read features of their input: after feed-forward layers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Reals, Space
from quickstudy.cores.core import Array, Capabilities, Core, InputWeights, as_numbers
from quickstudy.cores.esbn import Encoder
from quickstudy.cores.recurrent import LSTM, RecurrentCore
from quickstudy.jax_gateway import eqx, jnp


class PartedEncoder(eqx.Module):
    """Layers of their own for the first numbers of an input and perhaps for those after them; the
    features of both and the rest of the input side by side; and perhaps layers after that.
    """

    sight: Encoder
    speech: Encoder | None
    onward: Encoder | None
    space: Space = eqx.field(static=True)
    perceived: int = eqx.field(static=True)
    heard: int = eqx.field(static=True)

    def __call__(self, x: Any) -> Array:
        """(..., features)."""
        numbers = as_numbers(self.space, x)
        seen, said, rest = jnp.split(
            numbers, [self.perceived, self.perceived + self.heard], axis=-1
        )
        joined = jnp.concatenate(
            [self.sight(seen), self.speech(said) if self.speech else said, rest], axis=-1
        )
        return self.onward(joined) if self.onward else joined


class FeatureWeights(InputWeights):
    """What the features of an input contribute to each unit. weights: (features, units)."""

    encoder: Encoder | PartedEncoder

    def __call__(self, x: Any) -> Array:
        """(..., units) contributions of inputs x."""
        return self.encoder(x) @ self.weights


class EncodedCore(Core):
    """Stacked LSTMs, each reading h of the one before; features are h of the last and
    with it some numbers of the input, from one place to before another. State: those of all
    layers. straight: as of a layer.
    """

    layers: tuple[RecurrentCore, ...]
    space: Space = eqx.field(static=True)
    beside: tuple[int, int] = eqx.field(static=True)
    straight: bool = eqx.field(static=True, default=False)

    @property
    def width(self) -> int:
        """The last layer, and the inputs that bypass it."""
        return self.layers[-1].width + self.beside[1] - self.beside[0]

    @property
    def capabilities(self) -> Capabilities:
        """Layers may be written out."""
        return replace(super().capabilities, straightens=True)

    def start(self, batch: int, capacity: int) -> Any:
        """Zeros."""
        return tuple(layer.start(batch, capacity) for layer in self.layers)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """One step of all layers."""
        return self._through("step", state, x)

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """All steps of the first layer, then of the next."""
        return self._through("unroll", state, xs)

    def _through(self, way: str, state: Any, x: Any) -> tuple[Any, Array]:
        features, after = x, []
        for layer, before in zip(self.layers, state, strict=True):
            own, features = getattr(replace(layer, straight=self.straight), way)(before, features)
            after.append(own)
        beside = as_numbers(self.space, x)[..., slice(*self.beside)]
        return tuple(after), jnp.concatenate([features, beside], axis=-1)


@core("encoded-lstm", version=1)
@dataclass(frozen=True)
class EncodedLSTM:
    """Long short-term memory after layers with ReLU, as in the agents of Denamganaï et al. 2022.

    The agent of the paper is `layers=512/256/256,sight=512/256/128,upper=128`. That of the authors'
    later programs is `units=512,layers=0,sight=64/32,speech=64/32,beside=30/31` in a game without
    distractors and with one round, where the number that marks a decision replaces their action
    mask. Weights are drawn in the order sight, speech, layers, LSTMs. A list of widths has at least
    two.

    Parameters
    ----------
    units:
        Units of the LSTM.
    hidden:
        Width of the first layer before the LSTM.
    features:
        Width of the second one.
    waves:
        Octaves of sines and cosines of each input, as for `transformer`; 0 for none.
    upper:
        Units of a second LSTM that reads the first; 0 for none.
    layers:
        Widths of the layers before the LSTM, instead of `hidden` and `features`; 0 for none.
    sight:
        Widths of layers for the first `perceived` numbers alone, in a game the stimuli (three
        numbers each). Their output and the rest of the input enter the common layers.
    speech:
        Widths of layers for the `heard` numbers after them, the message.
    perceived:
        Numbers that `sight` reads.
    heard:
        Numbers that `speech` reads: 21 for three tokens out of six words.
    beside:
        Start and end (exclusive, from 0) of inputs that are also features, unchanged.
    """

    units: int = parameter(256, at_least=1)
    hidden: int = parameter(256, at_least=1)
    features: int = parameter(128, at_least=1)
    waves: int = parameter(0, at_least=0, at_most=16)
    upper: int = parameter(0, at_least=0, added=True)
    layers: tuple[int, ...] | None = parameter(None, added=True)
    sight: tuple[int, ...] | None = parameter(None, added=True)
    speech: tuple[int, ...] | None = parameter(None, added=True)
    perceived: int = parameter(3, at_least=1, added=True)
    heard: int = parameter(21, at_least=1, added=True)
    beside: tuple[int, ...] | None = parameter(None, added=True)

    frozen: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("layers", "sight", "speech"):
            widths = getattr(self, name)
            bare = name == "layers" and widths == (0,)
            if widths is not None and not bare and (len(widths) < 2 or min(widths) < 1):
                raise ValueError(
                    f"{name} must be two widths or more, such as 64/32, got"
                    f" {'/'.join(map(str, widths))}"
                )
        if self.sight is None and (self.speech is not None or self.layers == (0,)):
            raise ValueError(
                "speech and layers=0 are for inputs of which the first numbers have layers: give"
                " sight too"
            )
        if self.beside is not None and (
            len(self.beside) != 2 or not 0 <= self.beside[0] < self.beside[1]
        ):
            raise ValueError(
                f"beside must be two places, such as 30/31, got {'/'.join(map(str, self.beside))}"
            )

    def build(self, inputs: Space, rng: np.random.Generator) -> Core:
        """Weights in the order encoder, input, recurrent, bias; those of an LSTM uniform in +-
        1/sqrt(units).
        """
        encoder, width = self._encoder(inputs, rng)
        first = LSTM(units=self.units).build(Reals(width), rng)
        first = replace(first, inputs=FeatureWeights(first.inputs.weights, Reals(width), encoder))
        if not self.upper and self.beside is None:
            return first
        if self.beside is not None and self.beside[1] > inputs.width:
            raise NotApplicable(
                f"beside must end within the {inputs.width} numbers of an input, got"
                f" {self.beside[1]}"
            )
        further = [LSTM(units=self.upper).build(Reals(self.units), rng)] if self.upper else []
        return EncodedCore(
            (first, *further),
            inputs,
            (0, 0) if self.beside is None else (self.beside[0], self.beside[1]),
        )

    def _encoder(
        self, inputs: Space, rng: np.random.Generator
    ) -> tuple[Encoder | PartedEncoder, int]:
        """The layers in front, and how many features they give."""
        widths = (self.hidden, self.features) if self.layers is None else self.layers
        if self.sight is None:
            return Encoder.drawn(inputs, self.waves, *widths, rng=rng), widths[-1]
        parts = self.perceived + self.heard if self.speech else self.perceived
        if inputs.width < parts:
            named = "perceived + heard" if self.speech else "perceived"
            raise NotApplicable(
                f"{named} must be at most the {inputs.width} numbers of an input, got {parts}"
            )
        sight = Encoder.drawn(Reals(self.perceived), self.waves, *self.sight, rng=rng)
        speech = Encoder.drawn(Reals(self.heard), 0, *self.speech, rng=rng) if self.speech else None
        width = self.sight[-1] + (self.speech[-1] if self.speech else 0) + inputs.width - parts
        onward = Encoder.drawn(Reals(width), 0, *widths, rng=rng) if widths[0] else None
        heard = self.heard if self.speech else 0
        return (
            PartedEncoder(sight, speech, onward, inputs, self.perceived, heard),
            widths[-1] or width,
        )
