"""Memories: what folds an input stream into features. What a core of one's own is made of can be imported from here."""

from quickstudy.cores.core import ABSENT, PRECISIONS, Array, Core, CoreSpec, InputWeights, Reservoir, at_precision

__all__ = ["ABSENT", "PRECISIONS", "Array", "Core", "CoreSpec", "InputWeights", "Reservoir", "at_precision"]
