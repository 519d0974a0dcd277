"""Statistics of the battery by hand, and which demands are not met."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from quickstudy.pages.profile import battery
from quickstudy.pages.profile import reliability as stat
from quickstudy.pages.profile.spans import Family, Item, Profile, Spans


def _values(*means, noise=0.01):
    """Six seeds around each mean, the same noise for all, its mean 0."""
    around = noise * np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    return [mean + around for mean in means]


def test_pairs_apart_are_those_with_disjoint_intervals():
    assert stat.pairs_apart(_values(0.1, 0.2, 0.2001)) == (2, 3)
    assert stat.pairs_apart([np.array([0.5])]) == (0, 0)


def test_halves_agree_where_learners_differ_by_more_than_their_seeds():
    ordered = _values(0.1, 0.4, 0.8)
    assert stat.split_half(ordered) > 0.99
    assert stat.retest(ordered) == 1.0
    assert stat.split_half(ordered[:2]) is None
    rng = np.random.default_rng(0)
    noise = [stat.retest([rng.normal(size=6) for _ in range(13)]) for _ in range(40)]
    assert abs(np.mean(noise)) < 0.2


def test_reliability_by_hand():
    """Means 0, 0.5 and 1 have a variance of 1/4; that of a mean of six seeds is 0.06 / 6."""
    seeds = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    values = [mean + np.sqrt(0.06 * 5 / 6) * seeds for mean in (0.0, 0.5, 1.0)]
    assert stat.reliability(values) == pytest.approx((0.25 - 0.01) / 0.25)


def test_two_learners_far_from_the_rest_are_left_out():
    values = _values(0.5, 0.5, 0.5, 0.5, 0.0, 1.0, noise=0.1)
    assert stat.reliability(values) > 0.95
    assert not stat.trimmed(values)


def test_eigenvalues_by_hand():
    """Items that differ in one of three unrelated parts and share a fourth, of eight times its
    variance.
    """
    parts = np.array(
        [[1.0, -1, 1, -1, 1, -1, 1, -1], [1, 1, -1, -1, 1, 1, -1, -1], [1, 1, 1, 1, -1, -1, -1, -1]]
    )
    shared = np.sqrt(8) * parts[0] * parts[1]
    alone, mixed = (
        [[np.array([value]) for value in row] for row in rows] for rows in (parts, parts + shared)
    )
    assert stat.eigenvalue_ratio(alone) == pytest.approx(1.0)
    r = 8 / 9  # the eigenvalues are 1 + 2 r and 1 - r
    assert stat.eigenvalue_ratio(mixed) == pytest.approx((1 + 2 * r) / (1 - r))
    assert stat.eigenvalue_ratio(mixed[:2]) is None


def _item(name, spans, least=0, end=8.0):
    task = SimpleNamespace(least=least, grid=(1, 2, 4, 8), marks=lambda: {"rote": 3.0})
    cost = {"learn_seconds": 2.0, "answer_seconds": 1.0}
    return Item(
        name, name, "language", task, {}, Spans(spans, end), cost=cost, seeds=range(len(spans))
    )


def _profiles(*by_item):
    """Learners of one family; by_item: for every item the spans of each learner."""
    found = []
    for spans in zip(*by_item, strict=True):
        items = [_item(f"item{place}", own) for place, own in enumerate(spans)]
        found.append(
            SimpleNamespace(learner="x", families=[Family("language", items)], items=items)
        )
    return found


def test_floors_ceilings_and_baselines_of_an_item():
    floor, middle, top = [0.0, 0.1, 0.0], [3.0, 3.1, 3.2], [8.0, 8.0, 8.0]
    profiles = _profiles([floor, middle, top])
    items = [one.items[0] for one in profiles]
    anchors = {
        "rote": 3.0,
        "best_control": {"name": "by-bag", "span": 2.5},
        "untrained": {"span": 0.5},
    }
    found = stat.item_statistics(items, profiles, anchors)
    assert (found["floor"], found["ceiling"], found["learners"]) == (1, 1, 3)
    assert (found["rote"], found["best_control"], found["second"]) == (3.0, 2.5, 2)
    assert found["learned"] == pytest.approx(2 / 3)
    assert found["seconds"] == {"median": 3.0, "most": 3.0}
    assert found["item_rest"] is None
    assert {*found["fails"]} == {"best_control"}, "the rote memoriser is on the sheet"
    marked = {**anchors, "best_control": {"name": "rote", "span": 2.5}}
    assert not stat.item_statistics(items, profiles, marked)["fails"]


def test_demands_are_named():
    same = [[1.0, 1.2, 1.1]] * 3
    found = stat.family_statistics([one.families[0] for one in _profiles(same, same)])
    assert (found["pairs"], found["of"], found["items"]) == (0, 3, 2)
    assert {*found["fails"]} == {"pairs", "items"}
    floor = [[0.0, 0.0, 0.1]] * 2 + [[4.0, 4.1, 4.2]]
    rows = _profiles(floor)
    item = stat.item_statistics([one.items[0] for one in rows], rows, {})
    assert item["fails"]["floor_share"] == "at most a third of the learners at the floor"
    assert item["rote"] is item["learned"] is None


def _learner(name, **spans):
    """A learner with these spans by item; a text is a reason."""
    items = [
        replace(_item(one, ()), why=own) if isinstance(own, str) else _item(one, own)
        for one, own in spans.items()
    ]
    return Profile(name, "", [Family("language", items)])


def _battery(*gallery):
    """A request with two seeds, of which `copy` is a quick item and `select` is not."""
    study = SimpleNamespace(settings={"gallery": gallery, "quick": "profile-quick"})
    return SimpleNamespace(seeds=2, study=study)


def test_an_item_is_measured_once_the_whole_gallery_has_all_its_runs():
    whole, cannot = (
        _learner("whole", copy=[1.0, 2.0], select=[1.0, 2.0]),
        _learner("cannot", copy=[1.0, 2.0], select="not-applicable: it reads numbers"),
    )
    short, not_run = (
        _learner("short", copy=[1.0, 2.0], select=[1.0]),
        _learner("not-run", copy=[1.0, 2.0], select="not run yet"),
    )
    both, quick = {"copy", "select"}, {"copy"}
    for found, names in (
        ((whole, cannot), both),
        ((whole, short), quick),
        ((whole, not_run), quick),
    ):
        request = _battery(*(one.learner for one in found))
        assert battery.measured_items(request, found) & both == names
    request = _battery("whole", "cannot")
    (_, _, third) = battery.references(request, [whole, cannot, short])
    assert [item.why for item in third.items] == ["", "1 of 2 runs"]


def test_a_family_has_the_number_of_its_quick_items_and_the_eigenvalues_of_all():
    """Two quick items, and a third one that goes along with both."""
    found = [
        _learner(name, copy=[low, low], lookup=[low, high], select=[high, high])
        for name, low, high in (("a", 0.5, 0.6), ("b", 2.0, 2.1), ("c", 4.0, 4.1))
    ]
    facts = battery.facts_of(_battery("a", "b", "c"), found, {})
    own, standard = facts["families"]["language"], facts["standard"]["families"]["language"]
    assert own["items"] == standard["items"] == 3
    assert own["eigenvalues"] == standard["eigenvalues"] > 2
    assert [*facts["items"]] == ["copy", "lookup", "select"]
    share = found[0].families[0].shares.mean()
    quick = battery.part_of(found[0], {"copy", "lookup"})
    assert quick.families[0].shares.mean() < share
