"""`torch:module.Class`: any causal layer of PyTorch as a learner, by its name alone.

    quickstudy run span/lookup --learner torch:torch.nn.GRU:width=32

The layer is put into the usual frame: a linear map of the inputs to `width`, `layers` times x +
layer(norm(x)), a norm and a linear readout, all trained by `SequenceModel`. Layers of `fla` and
models of transformers are put into the same frame (`quickstudy.adapters.fla`, `.hf_config`).

A layer maps (batch, time, width) to the same shape, or to a tuple that begins with it. It must be
causal: what it gives at a step depends on nothing after it. One with a method `step(x, state)`,
which maps (batch, width) and the state of the step before (None at the first) to what it gives and
the next state, is also read step by step. Both is tried on random numbers before anything is
learned.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import inspect
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.torch import SequenceModel
from quickstudy.base.errors import LearnerFault, UsageError, nearest
from quickstudy.base.learner import Brief
from quickstudy.base.registries import learner

WIDTHS = ("d_model", "hidden_size", "dim", "embed_dim", "input_size", "width")
"""What constructors call the width of a layer."""
STEPS, CUT = 12, 7
"""Random steps on which a layer is tried, and the step from which on they are changed."""
CLOSE = 1e-4
"""The largest difference, over the largest value, of two ways to compute the same."""


class LayerModel(SequenceModel):
    """A layer in its frame. A subclass maps a name to a layer by `layer_of`."""

    first: ClassVar[str] = "layer"
    kind: ClassVar[str] = ""
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **SequenceModel.usual,
        "symbols": {"passes": 10, "batch": 8, "rate": 0.003},
    }

    def __init__(self, brief: Brief, seed: int = 0, **more: Any) -> None:
        super().__init__(brief, seed, **more)
        if all(layer.stepper is not None for layer in self.network.blocks):
            self.start, self.step, self.rows = self._start, self._step, self._rows

    @classmethod
    def layer_of(cls, name: str, width: int, given: Mapping[str, Any]) -> Any:
        """The layer of that name: a torch.nn.Module."""
        raise NotImplementedError

    @classmethod
    def source_of(cls, name: str) -> str:
        """The module that a name is imported from."""
        raise NotImplementedError

    @classmethod
    def imported_code(cls, parameters: Mapping[str, Any]) -> dict[str, str]:
        """What the code of the layer is: the version of its package, or a hash of its file."""
        name = str(parameters.get("layer") or "")
        if not name:
            raise UsageError(f"{cls.kind}: which layer? type {cls.kind}:{cls.example}")
        return {"layer": code_of_module(cls.kind, cls.source_of(name))}

    example: ClassVar[str] = ""

    def build(
        self, brief: Brief, layer: str = "", width: int = 64, layers: int = 1, **of: Any
    ) -> Any:
        """The whole network."""
        if width < 1 or layers < 1:
            raise UsageError(f"{self.kind}: width and layers must be at least 1")
        made = [self.layer_of(layer, width, of) for _ in range(layers)]
        for one in made:
            check_layer(one, width, layer)
        return framed(made, brief.inputs.width, width, brief.outputs.width)

    def _start(self, rows: int, capacity: int) -> tuple[Any, ...]:
        """Nothing read: the state of every row is that of its layers."""
        return ((None,) * len(self.network.blocks),) * rows

    def _step(
        self, state: tuple[Any, ...], inputs: NDArray[Any]
    ) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """One step of every row. Row by row: in a batch, rounding depends on the row's position."""
        after, scores = [], []
        with self.asking():
            for x, before in zip(self.given(inputs), state, strict=True):
                given, following = self.network.stepped(x[None], before)
                scores.append(given[0].cpu().numpy().astype(np.float64))
                after.append(following)
        return tuple(after), np.stack(scores)

    def _rows(self, state: tuple[Any, ...], numbers: NDArray[Any]) -> tuple[Any, ...]:
        """The states of these rows."""
        return tuple(state[number] for number in numbers)


@learner("torch", version=1)
class TorchLayer(LayerModel):
    """A causal layer of PyTorch by the name of its class, trained by gradient.

    layer: module.Class; may be typed without its name, as in `torch:torch.nn.GRU`. width: of the
    layer and of what is around it. layers: how many. Every other parameter is one of the class's
    constructor; those that its constructor calls d_model, dim, hidden_size and so on are set to
    width.
    """

    kind: ClassVar[str] = "torch"
    example: ClassVar[str] = "torch.nn.GRU:width=32"

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"imports {given.get('layer')}"

    @classmethod
    def source_of(cls, name: str) -> str:
        """All before the last dot."""
        module, dot, _ = name.rpartition(".")
        if not dot:
            raise UsageError(f"torch: a layer is named module.Class, got {name}")
        return module

    @classmethod
    def layer_of(cls, name: str, width: int, given: Mapping[str, Any]) -> Any:
        """An instance of the class."""
        found = class_in("torch", cls.source_of(name), name.rpartition(".")[2])
        return constructed(found, width, given)


def class_in(kind: str, module: str, name: str) -> Any:
    """A class of an installed module. Raises UsageError if there is none."""
    known = vars(_imported(kind, module))
    found = known.get(name)
    if not isinstance(found, type):
        classes = [key for key, one in known.items() if isinstance(one, type)]
        raise UsageError(f"{kind}: {module} has no class {name}; {nearest(name, classes)}")
    return found


def _imported(kind: str, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"{kind}: {module} cannot be imported: {error}") from error


@functools.lru_cache
def code_of_module(kind: str, module: str) -> str:
    """`package version` of a module that was installed, else a hash of its file."""
    top = module.partition(".")[0]
    for name in importlib.metadata.packages_distributions().get(top, []):
        return f"{name} {importlib.metadata.version(name)}"
    file = getattr(_imported(kind, module), "__file__", None)
    text = pathlib.Path(file).read_bytes() if file else b""
    return hashlib.sha256(text).hexdigest()[:16]


def constructed(found: Any, width: int, given: Mapping[str, Any]) -> Any:
    """A layer of a width. Raises UsageError where the constructor asks for more."""
    import torch

    if issubclass(found, torch.nn.RNNBase):
        return found(width, width, batch_first=True, **given)
    known = {
        name: one
        for name, one in inspect.signature(found.__init__).parameters.items()
        if name != "self" and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }
    settings = {name: width for name in WIDTHS if name in known} | dict(given)
    if "batch_first" in known:
        settings.setdefault("batch_first", True)
    if missing := [n for n, one in known.items() if one.default is one.empty and n not in settings]:
        raise UsageError(
            f"{found.__name__} needs {', '.join(missing)}; write them after its name:"
            f" {missing[0]}=..."
        )
    try:
        return found(**settings)
    except TypeError as error:
        raise UsageError(f"{found.__name__} cannot be made: {error}") from error


def check_layer(layer: Any, width: int, name: str) -> None:
    """Try a layer on random numbers. Raises LearnerFault if it gives another shape, looks ahead, or
    has a step form that does not agree.
    """
    import torch

    draw = torch.Generator().manual_seed(0)
    one = torch.randn(2, STEPS, width, generator=draw)
    other = torch.cat([one[:, :CUT], torch.randn(2, STEPS - CUT, width, generator=draw)], dim=1)
    was, layer = layer.training, layer.eval()
    with torch.no_grad():
        given, changed = (whole(layer, x) for x in (one, other))
        if tuple(given.shape) != (2, STEPS, width):
            raise LearnerFault(
                f"{name} must give (batch, time, width) = {(2, STEPS, width)}, got"
                f" {tuple(given.shape)}"
            )
        if not bool(torch.isfinite(given).all() and torch.isfinite(changed).all()):
            raise LearnerFault(f"{name} gives numbers that are not finite")
        size = float(given.abs().max()) or 1.0
        apart = (given - changed).abs().amax(dim=(0, 2)) / size
        if (early := float(apart[:CUT].max())) > CLOSE:
            step = int((apart[:CUT] > CLOSE).nonzero()[0])
            raise LearnerFault(
                f"{name} looks ahead: with other inputs from step {CUT} on, it gives other numbers"
                f" at step {step} (by {early:.2g} of the largest); use a causal layer, or mask it"
            )
        if (step_form := stepper_of(layer)) is not None:
            state, rows = None, []
            for t in range(STEPS):
                row, state = step_form(one[:, t], state)
                rows.append(row)
            if (wrong := float((torch.stack(rows, dim=1) - given).abs().max()) / size) > CLOSE:
                raise LearnerFault(
                    f"{name}: its step form gives other numbers than its parallel form (by"
                    f" {wrong:.2g} of the largest)"
                )
    layer.train(was)


def whole(layer: Any, x: Any) -> Any:
    """What a layer gives to whole sequences (batch, time, width)."""
    found = layer(x)
    return found[0] if isinstance(found, tuple) else found


def stepper_of(layer: Any) -> Callable[[Any, Any], tuple[Any, Any]] | None:
    """A function of (batch, width) and a state, None where the layer has no step form."""
    import torch

    if callable(getattr(layer, "step", None)):
        return lambda x, state: layer.step(x, state)
    if isinstance(layer, torch.nn.RNNBase) and not layer.bidirectional:

        def stepped(x: Any, state: Any) -> tuple[Any, Any]:
            given, after = layer(x[:, None], state)
            return given[:, 0], after

        return stepped
    return None


def framed(made: list[Any], inputs: int, width: int, outputs: int) -> Any:
    """The network around the layers; inputs and scores are (time, row, ...)."""
    from torch import nn

    class Block(nn.Module):
        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.norm, self.layer = nn.LayerNorm(width), layer
            self.stepper: Any = stepper_of(layer)

        def forward(self, x: Any) -> Any:
            return x + whole(self.layer, self.norm(x))

        def stepped(self, x: Any, state: Any) -> tuple[Any, Any]:
            given, after = self.stepper(self.norm(x), state)
            return x + given, after

    class Framed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.Linear(inputs, width)
            self.blocks = nn.ModuleList(map(Block, made))
            self.norm, self.outputs = nn.LayerNorm(width), nn.Linear(width, outputs)

        def forward(self, x: Any) -> Any:
            rows = self.inputs(x).transpose(0, 1)
            for block in self.blocks:
                rows = block(rows)
            return self.outputs(self.norm(rows)).transpose(0, 1)

        def stepped(self, x: Any, states: Any) -> tuple[Any, Any]:
            row, after = self.inputs(x), []
            for block, state in zip(self.blocks, states, strict=True):
                row, following = block.stepped(row, state)
                after.append(following)
            return self.outputs(self.norm(row)), tuple(after)

    return Framed()
