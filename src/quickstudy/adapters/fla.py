"""`fla:GatedDeltaNet`: a layer of flash-linear-attention, by its name alone.

The frame and the contract are those of `quickstudy.adapters.torch_layer`. Most layers of that
library are Triton programs, which need a GPU: `fla:GatedDeltaNet:device=cuda`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quickstudy.adapters.torch_layer import LayerModel, class_in, constructed
from quickstudy.base.registries import learner

LAYERS = "fla.layers"


@learner("fla", version=1)
class FlaLayer(LayerModel):
    """A layer of flash-linear-attention, trained by gradient.

    layer: the class in `fla.layers`, as in `fla:GatedDeltaNet`. width, layers: as of `torch`. Every
    other parameter is one of the class's constructor.
    """

    kind: ClassVar[str] = "fla"
    example: ClassVar[str] = "GatedDeltaNet:width=64"

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"imports {LAYERS}"

    @classmethod
    def source_of(cls, name: str) -> str:
        """The same for all."""
        return LAYERS

    @classmethod
    def layer_of(cls, name: str, width: int, given: Mapping[str, Any]) -> Any:
        """An instance of the class."""
        return constructed(class_in("fla", LAYERS, name), width, given)
