"""Multiplications of a PyTorch network, counted while it answers.

Every operation that PyTorch carries out passes through a hook, layers of any kind and plain
functions alike: what counts is what was computed, not what a layer is called. A MAC is what it is
for compiled learners (`quickstudy.learners.work`).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils._python_dispatch import TorchDispatchMode

from quickstudy.base.errors import NotApplicable

_ATEN = torch.ops.aten
PRODUCTS = {
    _ATEN.mm.default: (0, 1),
    _ATEN.addmm.default: (1, 2),
    _ATEN.bmm.default: (0, 1),
    _ATEN.baddbmm.default: (1, 2),
    _ATEN.mv.default: (0, 1),
    _ATEN.addmv.default: (1, 2),
    _ATEN.dot.default: (0, 1),
}
"""Matrix products, with the positions of their factors."""
ELEMENTWISE = {
    _ATEN.mul.Tensor: (0, 1),
    _ATEN.mul_.Tensor: (0, 1),
    _ATEN.addcmul.default: (1, 2),
    _ATEN.lerp.Scalar: (0, 2),
}
"""Products element by element."""
NOT_COUNTED = {
    _ATEN.mkldnn_rnn_layer.default: "a recurrent layer of oneDNN",
    _ATEN._thnn_fused_gru_cell.default: "a fused GRU",
    _ATEN._thnn_fused_lstm_cell.default: "a fused LSTM",
    _ATEN._cudnn_rnn.default: "a recurrent layer of cuDNN",
    _ATEN._fft_r2c.default: "a Fourier transform",
    _ATEN._fft_c2c.default: "a Fourier transform",
    _ATEN.cumprod.default: "a running product",
}
"""Operations that multiply inside, where no hook reaches."""


class _Counter(TorchDispatchMode):
    """Counts what passes: all multiplications, those of matrix products, the effective ones."""

    def __init__(self) -> None:
        super().__init__()
        self.macs = self.matrix = self.effective = 0
        self.unknown: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        found = func(*args, **given)
        if func in PRODUCTS:
            left, right = (args[place] for place in PRODUCTS[func])
            # The last axis of the first factor is summed over, for factors of any shape.
            self._add(math.prod(found.shape) * left.shape[-1], True)
            ones = [(one != 0).double() for one in (left, right)]
            self.effective += int((ones[0] @ ones[1]).sum())
        elif func is _ATEN.convolution.default:
            self._convolved(args, found)
        elif func in ELEMENTWISE and found.is_floating_point():
            self._add(math.prod(found.shape), False)
            factors = [torch.as_tensor(args[place]) for place in ELEMENTWISE[func]]
            together = (factors[0] != 0) & (factors[1] != 0).to(found.device)
            self.effective += int(together.expand(found.shape).sum())
        elif func in NOT_COUNTED:
            self.unknown.add(NOT_COUNTED[func])
        elif "scaled_dot_product" in str(func):
            self._attended(args, found)
        return found

    def _add(self, count: int, matrix: bool) -> None:
        self.macs += count
        self.matrix += count if matrix else 0

    def _convolved(self, args: Any, found: Any) -> None:
        inputs, weights, _, *settings, transposed, _, groups = args
        del settings
        self._add(math.prod(found.shape) * math.prod(weights.shape[1:]), True)
        if transposed:
            self.unknown.add("a transposed convolution")
            return
        ones = [(one != 0).double() for one in (inputs, weights)]
        rest = args[3:6]
        same = _ATEN.convolution.default(*ones, None, *rest, transposed, args[7], groups)
        self.effective += int(same.sum())

    def _attended(self, args: Any, found: Any) -> None:
        """Queries by keys, then weights by values; weights are above zero unless masked, and all
        are counted.
        """
        query, key, value = args[:3]
        count = math.prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1])
        self._add(count, True)
        self.effective += count


def counted_work(
    forward: Callable[[NDArray[Any]], Any], sequences: Sequence[NDArray[Any]]
) -> dict[str, float]:
    """By name (`macs`, `matrix_macs`, `effective_macs`), the mean over all steps of one sequence
    after another. Raises NotApplicable where an operation cannot be counted.

    Recurrent layers are carried out step by step for it, without oneDNN, and attention without its
    fused programs: the same numbers, from operations that can be seen.
    """
    steps = sum(map(len, sequences))
    with contextlib.ExitStack() as stack:
        # The switch mentions GPUs of another maker each time it is used.
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH))
        counter = stack.enter_context(_Counter())
        for inputs in sequences:
            forward(np.asarray(inputs))
    if counter.unknown:
        raise NotApplicable(
            f"the network has {' and '.join(sorted(counter.unknown))}, which is not counted"
        )
    counts = {
        "macs": counter.macs,
        "matrix_macs": counter.matrix,
        "effective_macs": counter.effective,
    }
    return {name: count / steps for name, count in counts.items()}
