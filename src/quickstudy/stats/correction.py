"""p-values corrected for the number of comparisons that were made.

Adjusted values stand in the order of the input, never fall below it, and are at most 1; a comparison holds at level α
when its adjusted value is at most α. nan (no test could be made) stays nan and still counts as a comparison.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError


def bonferroni(p_values: ArrayLike) -> NDArray[np.float64]:
    """Each p times the number of comparisons.

    >>> bonferroni([0.01, 0.5])
    array([0.02, 1.  ])
    """
    values = _checked(p_values)
    return np.minimum(values * len(values), 1.0)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down method: the smallest p times m, the next times m - 1 ..., none below the one before.

    Holds the chance of any false positive as Bonferroni does, for any dependence, and is never the weaker one.

    >>> holm([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    values = _checked(p_values)
    order = np.argsort(values)  # nan last
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1:
        raise UsageError(f"p-values must be a list, got shape {values.shape}")
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if len(wrong):
        raise UsageError(f"p-value {wrong[0] + 1} must be between 0 and 1, got {float(values[wrong[0]])}")
    return values
