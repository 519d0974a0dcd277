"""A scikit-learn estimator as a learner: it reads the last few inputs of every place as one row of
features.

    from quickstudy.adapters.sklearn import WindowModel
    qs.run("language/qa", WindowModel(lambda brief: RandomForestClassifier(20), reach=6))

or, in your own file, as `quickstudy run language/qa --learner forest.py:Forest`:

    class Forest(WindowModel):
        def build(self, brief):
            return RandomForestClassifier(20)

Where something is symbols a classifier is wanted, where it is real numbers a regressor. An
estimator with `partial_fit` is given every sequence once; any other is fitted again to all that was
shown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.built import Built
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Snapshot
from quickstudy.base.spaces import Bits, Reals, Tokens

LEAST = 1e-6
"""The share of an answer that an estimator has never seen: a distribution has no zero."""
SEEDS = 2**32
"""Estimators take seeds below this."""


class WindowModel(Built):
    """Learns with an estimator made by build(brief).

    The features of a step are the last `reach` inputs, the oldest first: symbols one-hot, numbers
    unchanged; 0 before the first input. So it cannot look ahead, and remembers nothing beyond its
    reach.

    build: makes the estimator; or a subclass has a method of that name. Every `random_state` that
    is not set, also within a pipeline, is sampled from the seed. every: an estimator without
    `partial_fit` is fitted after so many sequences, when it is next asked; between, it answers as
    before. Called with a function alone, `WindowModel(build, reach=6)`, it is the class with these
    parameters.

    Scores are probabilities where the estimator has `predict_proba`, else those of
    `decision_function`, or what it predicts. It is kept by what it was shown, and comes back by
    being shown that again.
    """

    model = "an estimator"
    reads: ClassVar[tuple[type, ...]] = (Tokens, Reals, Bits)
    gives: ClassVar[tuple[type, ...]] = (Tokens, Reals)

    def __init__(
        self,
        brief: Any,
        seed: int = 0,
        build: Callable[..., Any] | None = None,
        reach: int = 8,
        every: int = 1,
        **of_build: Any,
    ) -> None:
        for name, value in (("reach", reach), ("every", every)):
            if not isinstance(value, int) or value < 1:
                raise UsageError(
                    f"{type(self).__name__}: {name} must be a whole number from 1, got {value!r}"
                )
        self.brief, self.reach, self.every = brief, reach, every
        self._build, self._seed = (
            functools.partial(self.built, build, brief, of_build),
            seed % SEEDS,
        )
        self._symbols = isinstance(brief.outputs, Tokens)
        self._begin()
        shares = self._symbols and hasattr(self.estimator, "predict_proba")
        self.scale = "probabilities" if shares else "order" if self._symbols else "values"

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Take in what is asked of one sequence."""
        self._shown.append((inputs, targets))
        rows, answers = self._features(inputs, targets)
        if not hasattr(self.estimator, "partial_fit"):
            self._kept.append((rows, answers))
        elif self._symbols:
            self.estimator.partial_fit(rows, answers, classes=np.arange(self.brief.outputs.size))
            self._fitted = len(self._shown)
        else:
            self.estimator.partial_fit(rows, answers)
            self._fitted = len(self._shown)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Scores after every row; before anything was learned all answers are alike, or 0."""
        self._fit()
        width = self.brief.outputs.width
        if not self._fitted:
            return np.full(
                (len(inputs), width), 1 / width if self.scale == "probabilities" else 0.0
            )
        if self._only is not None:
            return self._spread(np.ones((len(inputs), 1)), [self._only])
        rows = self._windows(inputs)
        if not self._symbols:
            return np.asarray(self.estimator.predict(rows), np.float64).reshape(len(inputs), width)
        if self.scale == "probabilities":
            return self._spread(self.estimator.predict_proba(rows), self.estimator.classes_)
        if not hasattr(self.estimator, "decision_function"):
            return np.asarray(self.estimator.predict(rows)).astype(np.int64)
        scores = np.asarray(self.estimator.decision_function(rows), np.float64)
        if scores.ndim == 1:  # of two answers, how much it is the second
            scores = np.stack([-scores, scores], axis=1)
        return self._spread(scores, self.estimator.classes_)

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """One after another: estimators may round a row by its place among others."""
        return [self.predict(inputs) for inputs in sequences]

    def snapshot(self) -> Snapshot:
        """What it was shown."""
        lengths = np.array([len(inputs) for inputs, _ in self._shown], np.int64)
        if not self._shown:
            return Snapshot({"lengths": lengths})
        inputs, targets = (np.concatenate(part) for part in zip(*self._shown, strict=True))
        return Snapshot({"lengths": lengths, "inputs": inputs, "targets": targets})

    def restore(self, snapshot: Snapshot) -> None:
        """Be shown it again."""
        self._begin()
        ends = np.cumsum(snapshot.arrays["lengths"])
        for length, end in zip(snapshot.arrays["lengths"], ends, strict=True):
            place = slice(int(end - length), int(end))
            self.learn(snapshot.arrays["inputs"][place], snapshot.arrays["targets"][place])

    @property
    def parameters(self) -> int | None:
        """Known for a linear model or a network of layers; unknown for a forest."""
        found = [
            getattr(self.estimator, name, None)
            for name in ("coef_", "intercept_", "coefs_", "intercepts_")
        ]
        arrays = [
            array
            for one in found
            if one is not None
            for array in (one if isinstance(one, list) else [one])
        ]
        return sum(int(np.size(array)) for array in arrays) if arrays else None

    def _begin(self) -> None:
        self.estimator = self._build()
        if not hasattr(self.estimator, "predict") or not (
            hasattr(self.estimator, "fit") or hasattr(self.estimator, "partial_fit")
        ):
            raise LearnerFault(
                "build must give an estimator with fit and predict, got"
                f" {type(self.estimator).__name__}"
            )
        self._check_kind()
        settings: dict[str, Any] = getattr(self.estimator, "get_params", dict)()
        unset = [
            name
            for name, value in settings.items()
            if name.endswith("random_state") and value is None
        ]
        if unset:
            self.estimator.set_params(**dict.fromkeys(unset, self._seed))
        self._shown: list[tuple[Any, Any]] = []
        self._kept: list[tuple[Any, Any]] = []
        self._fitted = 0
        self._only: int | None = None

    def _check_kind(self) -> None:
        """Raises NotApplicable for a classifier where real numbers are asked for, and for a
        regressor of symbols.
        """
        from sklearn.base import is_classifier, is_regressor

        wrong, right = ("classifier", "regressor")[:: -1 if self._symbols else 1]
        if (is_regressor if self._symbols else is_classifier)(self.estimator):
            asked = "symbols" if self._symbols else "real numbers"
            raise NotApplicable(
                f"{type(self.estimator).__name__} is a {wrong}, and {asked} are asked for; let"
                f" build give a {right} where brief.outputs is"
                f" {'Tokens' if self._symbols else 'Reals'}"
            )

    def _fit(self) -> None:
        full = len(self._kept) // self.every * self.every
        if full == self._fitted or not self._kept:
            return
        rows, answers = (np.concatenate(part) for part in zip(*self._kept[:full], strict=True))
        known = np.unique(answers) if self._symbols else answers
        self._only = (
            int(known[0]) if self._symbols and len(known) == 1 else None
        )  # many classifiers refuse a single class
        if self._only is None:
            self.estimator.fit(rows, answers)
        self._fitted = full

    def _features(
        self, inputs: NDArray[Any], targets: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows and answers of the places at which something is asked."""
        asked = targets >= 0 if self._symbols else ~np.isnan(targets).any(axis=1)
        answers = targets[asked]
        alone = not self._symbols and answers.shape[1] == 1
        return self._windows(inputs)[asked], answers[:, 0] if alone else answers

    def _windows(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """(place, reach * width) features."""
        size = self.brief.inputs.size if isinstance(self.brief.inputs, Tokens) else 0
        numbers = inputs[:, None] == np.arange(size) if size else inputs
        padded = np.concatenate([np.zeros((self.reach - 1, numbers.shape[1])), numbers])
        seen = np.lib.stride_tricks.sliding_window_view(padded, self.reach, axis=0)
        return np.asarray(seen.transpose(0, 2, 1).reshape(len(inputs), -1), np.float64)

    def _spread(self, scores: NDArray[Any], answers: Any) -> NDArray[np.float64]:
        """(place, answer) scores of all answers: of those that were never seen the least."""
        places = np.asarray(answers, np.int64)
        if self.scale == "probabilities":
            shares = np.full((len(scores), self.brief.outputs.size), LEAST)
            shares[:, places] += scores
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        # By rows: the least of all of them would let a place depend on those after it.
        whole = np.tile(scores.min(axis=1, keepdims=True) - 1.0, self.brief.outputs.size)
        whole[:, places] = scores
        return whole
