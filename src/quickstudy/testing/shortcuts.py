"""Shallow rules that are fitted to a task of tokens: what can be had without solving it, and by
what.

Two families of features are looked at, of all that is read before a question: the n-grams of one to
three tokens with their numbers; and the same n-grams with a link: a token that is one of the last
eight is written as its distance from the question, so that "the token asked for came after a NOT"
is a feature for any token. On each a linear classifier and a small tree are fitted, on many more
draws than a learner is shown. Their score on samples that none of them has seen is the ceiling of
shallow statistics; it is listed next to the controls of the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.runs.run_spec import controls_of
from quickstudy.tasks.sampling import sequence_keys

FITTED, CHOSEN, TESTED = 4000, 1000, 2000
"""Draws that rules are fitted to, those by which their strength or depth is chosen, and those they
are tested on.
"""
LONGEST, LINKS, READ = 3, 8, 400
"""Tokens of the longest n-gram; tokens before a question that are linked; tokens before a question
that are read.
"""
RAREST, MOST = 8, 8_000
"""Draws that have a feature at least, and features at most (the most frequent)."""
PENALTIES, DEPTHS, LEAF = (1.0, 10.0), (2, 4, 8), 20
"""Strengths of the linear rule, depths of the tree, and draws in a leaf at least."""
TREES = 6
"""Trees, each fitted to all draws but every sixth: a greedy tree finds a rule of three features
that say nothing alone by luck only, and which one is tried first differs between them. On
`language/qa@2` one tree has 0.59 to 0.91.
"""
MARGIN = 0.05
"""A fitted rule that is further above the best control than this is a shortcut that no control
declares.
"""
FEWEST = 50  # different draws to be tested on at least


class Asked(NamedTuple):
    """One question of each draw: what was read before it, and its answer."""

    read: list[tuple[int, ...]]
    answer: NDArray[np.int64]


@dataclass(frozen=True)
class Shortcut:
    """A rule, its accuracy on fresh draws, whether it was fitted, and what it goes by."""

    rule: str
    accuracy: float
    fitted: bool
    goes_by: str = ""

    @property
    def line(self) -> str:
        """What a terminal shows after its name."""
        return f"{self.accuracy:.3f}  {self.goes_by}".rstrip()


@dataclass(frozen=True)
class Shortcuts:
    """The shortcuts of a task: the rules, how many samples they were tested on, and the
    standard error of the difference between the best fitted rule and the best control, which answer
    the same samples.
    """

    rules: tuple[Shortcut, ...]
    tested: int
    error: float

    @property
    def best_control(self) -> Shortcut:
        """The best of the rules that the task declares, or of the constant answer."""
        return max((rule for rule in self.rules if not rule.fitted), key=lambda rule: rule.accuracy)

    @property
    def best_fitted(self) -> Shortcut:
        """The best of the fitted rules."""
        return max((rule for rule in self.rules if rule.fitted), key=lambda rule: rule.accuracy)

    @property
    def above(self) -> float:
        """How far the best fitted rule is above the best control."""
        return self.best_fitted.accuracy - self.best_control.accuracy

    @property
    def declared(self) -> bool:
        """Whether no fitted rule is further above the best control than MARGIN and two standard
        errors.
        """
        return self.above <= MARGIN + 2 * self.error


def find_shortcuts(task: Any, root: int = 0) -> Shortcuts:
    """Fit shallow rules to a task of tokens. Raises UsageError for a task of another kind, or of
    too few sequences.
    """
    id = getattr(task, "id", type(task).__name__)
    if not isinstance(task, ExampleTask) or not all(
        isinstance(space, Tokens) for space in spaces_of(task)
    ):
        raise UsageError(
            f"{id} is not a task of token sequences; shortcuts can be searched for in those only"
        )
    streams = Streams(root, id, 0)
    shown, fresh = _draws(task, streams.numpy("shortcuts"))
    if len(fresh.answer) < FEWEST:
        raise UsageError(
            f"{id} has {len(fresh.answer)} sequences to be tested on that differ from those to"
            f" learn from, at least {FEWEST} are needed"
        )
    inputs, outputs = spaces_of(task)
    words: Sequence[str] = getattr(task, "vocabulary", None) or [
        str(token) for token in range(inputs.width)
    ]
    brief = Brief(inputs, outputs, "cross-entropy", READ, FITTED)
    constant = np.full(len(fresh.answer), _mode(shown.answer))
    said = [
        ("best constant answer", constant, False, ""),
        *_declared(task, brief, streams, shown, fresh),
    ]
    for name, features in (("n-grams", _grams), ("linked n-grams", _linked_grams)):
        table = _Table(shown.read, features, words)
        known, unknown = table.rows(shown.read), table.rows(fresh.read)
        for kind, fit in (("linear", _fit_linear), ("tree", _fit_tree)):
            answers, goes_by = fit(known, shown.answer, unknown, table)
            said.append((f"{kind} rule on {name}", answers, True, goes_by))
    right = {name: answers == fresh.answer for name, answers, _, _ in said}
    rules = tuple(
        Shortcut(name, float(right[name].mean()), fitted, by) for name, _, fitted, by in said
    )
    found = Shortcuts(rules, len(fresh.answer), 0.0)
    apart = right[found.best_fitted.rule] - 1.0 * right[found.best_control.rule]
    return replace(found, error=float(apart.std() / np.sqrt(len(apart))))


def _mode(answers: NDArray[np.int64]) -> int:
    return int(np.bincount(answers).argmax())


def _draws(task: ExampleTask, rng: np.random.Generator) -> tuple[Asked, Asked]:
    """Draws to fit and choose by, and different ones to be tested on; one question of each."""
    examples = task.sample(rng, FITTED + CHOSEN + TESTED)
    keys = sequence_keys(examples)
    known = set(keys[: FITTED + CHOSEN])
    read, answers = [], []
    for index in range(examples.count):
        asked = np.flatnonzero(examples.asked[:, index])
        place = int(asked[int(rng.random() * len(asked))])
        read.append(tuple(examples.inputs[max(place + 1 - READ, 0) : place + 1, index].tolist()))
        answers.append(int(examples.targets[place, index]))
    cut = FITTED + CHOSEN
    fresh = [index for index in range(cut, examples.count) if keys[index] not in known]
    answer = np.array(answers, dtype=np.int64)
    return Asked(read[:cut], answer[:cut]), Asked([read[index] for index in fresh], answer[fresh])


_Said = tuple[str, NDArray[np.int64], bool, str]
"""A rule's answers on fresh samples: its name, its answers, whether it was fitted, and the
features it uses.
"""


def _declared(
    task: Any, brief: Brief, streams: Streams, shown: Asked, fresh: Asked
) -> Iterator[_Said]:
    """The controls of the task; those that count answers are shown what was fitted to."""
    for name in controls_of(task):
        if name not in registries.control or name == getattr(task, "oracle", None):
            continue
        rule = registries.control.get(name)(task, brief, streams.integer("host"))
        if not hasattr(rule, "predict") or hasattr(rule, "told"):
            continue
        for read, answer in zip(shown.read, shown.answer.tolist(), strict=True):
            targets = np.full(len(read), -1)
            targets[-1] = answer
            rule.learn(np.array(read), targets)
        said = [_token(rule.predict(np.array(read))[-1]) for read in fresh.read]
        yield name, np.array(said), False, ""


def _token(answer: Any) -> int:
    """An answer, or the largest of some scores."""
    return int(answer) if np.ndim(answer) == 0 else int(np.argmax(answer))


Gram = tuple[int, ...]


def _grams(read: Sequence[int]) -> Iterator[Gram]:
    """N-grams; a number below zero is the distance of a linked token."""
    for length in range(1, LONGEST + 1):
        yield from (tuple(read[place : place + length]) for place in range(len(read) - length + 1))


def _linked_grams(read: Sequence[int]) -> Iterator[Gram]:
    """The same of everything but the last tokens, with the last tokens written as their distance
    from the question; and the last tokens themselves, each with its distance.
    """
    links: dict[int, int] = {}
    for distance, token in enumerate(reversed(read[-LINKS:]), 1):
        links.setdefault(token, -distance)
    for token, link in links.items():
        yield (link, token)
    rest = read[:-1]
    common = Counter(read)
    # A token that recurs often carries no information by being linked: it is kept unchanged.
    tied = [
        links[token] if token in links and common[token] <= 1 + len(read) // LINKS else token
        for token in rest
    ]
    yield from _grams(tied)


class _Table:
    """The features that are frequent enough, and rows of draws by them."""

    def __init__(self, read: Sequence[Sequence[int]], features: Any, words: Sequence[str]) -> None:
        self._features, self._words = features, words
        found: Counter[Gram] = Counter()
        for sequence in read[:FITTED]:
            found.update(set(features(sequence)))
        chosen = [gram for gram, count in found.most_common(MOST) if count >= RAREST]
        self.grams = chosen
        self._columns = {gram: column for column, gram in enumerate(chosen)}

    def rows(self, read: Sequence[Sequence[int]]) -> Any:
        """A sparse table of the counts of each feature: 1, or 2 for twice or more."""
        from scipy.sparse import csr_matrix

        places, columns, values = [0], list[int](), list[float]()
        for sequence in read:
            counts = Counter(
                self._columns[gram] for gram in self._features(sequence) if gram in self._columns
            )
            columns += counts
            values += [float(min(count, 2)) for count in counts.values()]
            places.append(len(columns))
        return csr_matrix((values, columns, places), shape=(len(read), len(self.grams)))

    def called(self, column: int) -> str:
        """A feature in words; `#2` is the token that stands second from the question."""
        return " ".join(
            f"#{-part}" if part < 0 else self._words[part] for part in self.grams[column]
        )


def _fit_linear(
    known: Any, answer: NDArray[np.int64], unknown: Any, table: _Table
) -> tuple[NDArray[np.int64], str]:
    """A softmax of the features, its penalty chosen on draws that it was not fitted to."""
    from scipy.optimize import minimize

    kinds, targets = np.unique(answer, return_inverse=True)
    wanted = np.eye(len(kinds))[targets[:FITTED]]
    fitted = known[:FITTED]

    def weights(penalty: float) -> NDArray[np.float64]:
        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            table = flat.reshape(fitted.shape[1] + 1, len(kinds))
            logits = fitted @ table[1:] + table[0]
            logits -= logits.max(axis=1, keepdims=True)
            chances = np.exp(logits)
            chances /= chances.sum(axis=1, keepdims=True)
            value = (
                -np.log((chances * wanted).sum(axis=1) + 1e-300).sum()
                + penalty / 2 * (table[1:] ** 2).sum()
            )
            error = chances - wanted
            slope = np.concatenate(
                [error.sum(axis=0, keepdims=True), fitted.T @ error + penalty * table[1:]]
            )
            return float(value), slope.ravel()

        start = np.zeros((fitted.shape[1] + 1) * len(kinds))
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 50})
        return np.asarray(found.x.reshape(fitted.shape[1] + 1, len(kinds)))

    def said(rows: Any, found: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.asarray(kinds[(rows @ found[1:] + found[0]).argmax(axis=1)])

    tried = [weights(penalty) for penalty in PENALTIES]
    best = max(
        tried, key=lambda found: float(np.mean(said(known[FITTED:], found) == answer[FITTED:]))
    )
    spread = np.ptp(best[1:], axis=1)
    told = ", ".join(table.called(int(column)) for column in np.argsort(-spread, kind="stable")[:3])
    return said(unknown, best), told


class _Node(NamedTuple):
    """A node of a tree: its answer, the feature and the number from which on it goes to the second
    child.
    """

    answer: int
    column: int = -1
    bound: float = 0.0
    children: tuple[Any, ...] = ()


def _fit_tree(
    known: Any, answer: NDArray[np.int64], unknown: Any, table: _Table
) -> tuple[NDArray[np.int64], str]:
    """A decision tree on these counts; the best of TREES, cut at the best of DEPTHS, on samples
    that it was not fitted to.
    """
    kinds, targets = np.unique(answer, return_inverse=True)
    fitted = known[:FITTED].tocsc()
    parts = {bound: (fitted >= bound).astype(np.float64).tocsr() for bound in (1.0, 2.0)}
    wanted, rows = np.eye(len(kinds))[targets[:FITTED]], np.arange(FITTED)
    columns = known[FITTED:].tocsc(), unknown.tocsc()
    trees = [
        _grown(parts, wanted, rows[rows % TREES != left], max(DEPTHS)) for left in range(TREES)
    ]
    tree, depth = max(
        product(trees, DEPTHS),
        key=lambda one: float(np.mean(_walked(one[0], columns[0], one[1]) == targets[FITTED:])),
    )
    asked = [node.column for node in _inner(tree, 2)][:3]
    return np.asarray(kinds[_walked(tree, columns[1], depth)]), ", ".join(
        table.called(column) for column in asked
    )


def _grown(parts: Any, wanted: NDArray[np.float64], rows: NDArray[np.int64], depth: int) -> _Node:
    counts = wanted[rows].sum(axis=0)
    node = _Node(int(counts.argmax()))
    if depth == 0 or len(rows) < 2 * LEAF or counts.max() == len(rows):
        return node
    best = (1e-9, -1, 0.0)
    for bound, part in parts.items():
        there = np.asarray(part[rows].T @ wanted[rows])
        sizes = there.sum(axis=1)
        gain = _purity(there) + _purity(counts - there) - _purity(counts[None])
        gain[(sizes < LEAF) | (len(rows) - sizes < LEAF)] = 0.0
        column = int(gain.argmax())
        best = max(best, (float(gain[column]), column, bound))
    if best[1] < 0:
        return node
    there = np.asarray(parts[best[2]][rows][:, [best[1]]].todense())[:, 0] > 0
    children = tuple(_grown(parts, wanted, rows[side], depth - 1) for side in (~there, there))
    return node._replace(column=best[1], bound=best[2], children=children)


def _purity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minus the impurity of some draws, times their number, after Gini."""
    return np.asarray((counts**2).sum(axis=1) / np.maximum(counts.sum(axis=1), 1e-9))


def _walked(tree: _Node, rows: Any, depth: int) -> NDArray[np.int64]:
    answers = np.full(rows.shape[0], tree.answer)
    waiting = [(tree, np.arange(rows.shape[0]), depth)]
    while waiting:
        node, some, left = waiting.pop()
        answers[some] = node.answer
        if node.children and left:
            there = np.asarray(rows[:, [node.column]].todense())[some, 0] >= node.bound
            waiting += [
                (node.children[0], some[~there], left - 1),
                (node.children[1], some[there], left - 1),
            ]
    return answers


def _inner(node: _Node, depth: int) -> Iterator[_Node]:
    """The nodes that ask, those nearest to the root first."""
    if node.children:
        yield node
        for child in node.children if depth else ():
            yield from _inner(child, depth - 1)
