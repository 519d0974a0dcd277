"""Pictures of a classification, of four sequences that are told apart by hand."""

import numpy as np

from quickstudy.base.blocks import LEARNER, Mark, Traced
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace

SCORES = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])


def test_confusions_and_curves_are_those_of_all_runs_together():
    trace = Trace("classes", {"score": SCORES, "label": np.array([0, 1, 1, 0])})
    matrix, curves = figure.get("classes")("t", [Traced("mine", LEARNER, Mark(), [trace, trace])])
    assert matrix.values == [[1.0, 0.0], [0.5, 0.5]]  # of class 1 one of two was taken for class 0
    assert matrix.data == [["class", "0", "1"], ["0", 4, 0], ["1", 2, 2]]
    assert "0.750 of the sequences right" in matrix.label
    (line,) = curves.panels[0].series
    assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0.0, 0.0, 1.0, 1.0)
    # By falling score, right or not: 0.9 yes, 0.8 yes, 0.7 no, 0.6 yes, 0.4 no, 0.3 yes, 0.2 no,
    # 0.1 no
    assert list(zip(line.x, line.y, strict=True))[:5] == [
        (0, 0),
        (0, 0.25),
        (0, 0.5),
        (0.25, 0.5),
        (0.25, 0.75),
    ]
