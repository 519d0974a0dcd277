"""Estimators of scikit-learn as learners: windows worked by hand, promises, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.adapters.sklearn import WindowModel
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Bits, Reals, Tokens
from quickstudy.learners.learner_spec import bring, choose_learner
from quickstudy.testing import check_learner

pytest.importorskip("sklearn")

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

BRIEF = Brief(Tokens(3), Tokens(3), "cross-entropy", 5, 10)


def broken(findings):
    return [str(finding) for finding in findings if not finding.ok]


def learns_online(brief):
    return SGDClassifier(loss="log_loss") if isinstance(brief.outputs, Tokens) else SGDRegressor()


def tree(brief):
    return (
        DecisionTreeClassifier() if isinstance(brief.outputs, Tokens) else DecisionTreeRegressor()
    )


def margins(brief):
    return LinearSVC() if isinstance(brief.outputs, Tokens) else Ridge()


@pytest.mark.parametrize("build", [learns_online, tree, margins])
def test_they_keep_the_promises_of_a_learner(build):
    """Of symbols and of real numbers: online by shares, again and again by shares, and by
    margins.
    """
    assert broken(check_learner(WindowModel(build, reach=4), sequences=60)) == []


def test_features_by_hand():
    host = WindowModel(BRIEF, 0, build=tree, reach=2)
    assert host._windows(np.array([2, 0])).tolist() == [[0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]]
    real = WindowModel(Brief(Reals(2), Reals(1), "squared", 5, 10), 0, build=tree, reach=2)
    assert real._windows(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [
        [0, 0, 1, 2],
        [1, 2, 3, 4],
    ]
    bits = WindowModel(Brief(Bits(1), Tokens(2), "cross-entropy", 5, 10), 0, build=tree, reach=3)
    assert bits._windows(np.array([[1], [0]])).tolist() == [[0, 0, 1], [0, 1, 0]]


def test_only_what_is_asked_is_learned_and_an_answer_never_seen_has_a_share():
    host = WindowModel(BRIEF, 0, build=lambda brief: LogisticRegression(C=1000.0), reach=1)
    np.testing.assert_allclose(host.predict(np.array([0])), 1 / 3)
    host.learn(
        np.array([0, 1]), np.array([-1, 2])
    )  # a single class, which LogisticRegression refuses
    np.testing.assert_allclose(host.predict(np.array([1])), [[0, 0, 1]], atol=1e-5)
    host.learn(np.array([0, 1]), np.array([0, 2]))
    shares = host.predict(np.array([0, 1]))
    assert shares.argmax(axis=1).tolist() == [0, 2]
    assert 0 < shares[0, 1] < 1e-5
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_every():
    host = WindowModel(BRIEF, 0, build=tree, every=2)
    host.learn(np.array([0]), np.array([1]))
    np.testing.assert_allclose(host.predict(np.array([0])), 1 / 3)
    host.learn(np.array([0]), np.array([1]))
    assert host.predict(np.array([0])).argmax() == 1


def test_the_seed_is_set_wherever_nobody_has():
    def build(brief):
        return make_pipeline(StandardScaler(), RandomForestClassifier(3))

    host = WindowModel(BRIEF, 2**32 + 7, build=build)
    assert host.estimator.get_params()["randomforestclassifier__random_state"] == 7
    assert (
        WindowModel(
            BRIEF, 7, build=lambda brief: SGDClassifier(random_state=1)
        ).estimator.random_state
        == 1
    )
    assert WindowModel(BRIEF, 7, build=learns_online).estimator.random_state == 7


def test_what_is_wrong_is_said():
    with pytest.raises(UsageError, match="give a function of the brief that makes an estimator"):
        WindowModel("forest")
    with pytest.raises(UsageError, match="reach must be a whole number from 1, got 0"):
        WindowModel(BRIEF, 0, build=tree, reach=0)
    with pytest.raises(UsageError, match="has no build"):
        WindowModel(BRIEF, 0)
    with pytest.raises(LearnerFault, match="an estimator with fit and predict, got StandardScaler"):
        WindowModel(BRIEF, 0, build=lambda brief: StandardScaler())
    assert bring(WindowModel(tree, reach=3)) == "WindowModel:build=tree,reach=3"


def test_the_wrong_kind_of_estimator_is_not_applicable():
    real = Brief(Reals(1), Reals(1), "squared", 5, 10)
    with pytest.raises(
        NotApplicable,
        match=r"SGDClassifier is a classifier, and real numbers are asked for; let build",
    ):
        WindowModel(real, 0, build=lambda brief: SGDClassifier())
    with pytest.raises(NotApplicable, match="a regressor, and symbols are asked for"):
        WindowModel(BRIEF, 0, build=lambda brief: SGDRegressor())
    with pytest.raises(NotApplicable, match="Pipeline is a classifier"):
        WindowModel(real, 0, build=lambda brief: make_pipeline(StandardScaler(), SGDClassifier()))


class Online(WindowModel):
    def build(self, brief, alpha=0.0001):
        return SGDClassifier(loss="log_loss", alpha=alpha)


def test_a_subclass_has_parameters_of_its_own():
    name = bring(Online(alpha=0.01, reach=3))
    assert name == "Online:alpha=0.01,reach=3"
    host = choose_learner(name, "corrected").make(None).make(BRIEF, 0)
    assert (host.estimator.alpha, host.reach) == (0.01, 3)
