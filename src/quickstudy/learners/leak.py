"""THE PUBLISHED LEAK: sequences with the answers in them, for a core that is meant to repeat that defect and no other.

The published transformer attends to the whole sequence, in both directions, and the answer is part of it, one step
after the place where it has to be given. So it reads the answers off its inputs, and its published scores measure
nothing else. No core does this unless its parameters ask for it, as they do under the convention `published` alone;
the checkers rightly find that it looks ahead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import ABSENT


def check_leak(brief: Brief) -> None:
    """Raise NotApplicable unless answers are symbols of the kind that is read, so that they can be among the inputs."""
    if brief.inputs != brief.outputs or not isinstance(brief.inputs, Tokens):
        raise NotApplicable(
            f"the published leak needs answers that are inputs as well, not {brief.inputs} and {brief.outputs}; "
            "give causal=true"
        )


def with_answers(examples: Examples) -> Examples:
    """The examples with the last answer written behind the last input, and `ABSENT` behind that.

    The other answers are there already: they are the next inputs. There must be a step of padding for the last one.
    """
    places = np.arange(examples.steps)[:, None]
    last = examples.targets[examples.lengths - 1, np.arange(examples.count)]
    after = np.where(places == examples.lengths, last, ABSENT)
    return replace(examples, inputs=np.where(places < examples.lengths, examples.inputs, after))
