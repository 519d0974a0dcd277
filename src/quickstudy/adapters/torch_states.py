"""The states of any PyTorch network: what its readout layer reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quickstudy.base.errors import NotApplicable


def has_states(network: Any, outputs: int) -> bool:
    """Whether a network has a method `states`, or a Linear layer that can be its readout."""
    return callable(getattr(network, "states", None)) or bool(_readouts(network, outputs))


def features_read(
    network: Any, forward: Callable[[], Any], outputs: int, rows: Sequence[int]
) -> tuple[Any, Any]:
    """What a forward pass gives, and the (time, row, feature) inputs of the readout, the last layer
    that can be one.

    A cell reads one step per call: as many calls as there are steps.
    """
    import torch

    calls: list[tuple[Any, Any]] = []
    hooks = [
        layer.register_forward_pre_hook(lambda layer, read: calls.append((layer, read[0])))
        for layer in _readouts(network, outputs)
    ]
    try:
        given = forward()
    finally:
        for hook in hooks:
            hook.remove()
    read = [inputs for layer, inputs in calls if layer is calls[-1][0]]
    features = (
        torch.stack(read)
        if len(read) == rows[0] and read[0].ndim == 2
        else read[-1]
        if read
        else None
    )
    if features is None or tuple(features.shape[:2]) != tuple(rows):
        raise NotApplicable(
            "the network's states are not found: its readout does not read (time, row, feature); "
            "give the network a method states(inputs)"
        )
    return given, features


def _readouts(network: Any, outputs: int) -> list[Any]:
    import torch

    return [
        one
        for one in network.modules()
        if isinstance(one, torch.nn.Linear) and one.out_features == outputs
    ]
