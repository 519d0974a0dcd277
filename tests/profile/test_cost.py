"""What a card says of the cost of running a learner."""

from types import SimpleNamespace

import pytest

import quickstudy as qs
from quickstudy.pages.profile import cost
from quickstudy.pages.profile.index import INDEX, read_index
from quickstudy.pages.profile.norms import ItemNorms
from quickstudy.pages.profile.spans import Family, Item, Profile, Spans


def profile_with(**items):
    """A profile of items by name, each with its costs and what was not measured."""
    found = []
    for name, (costs, unmeasured) in items.items():
        task = SimpleNamespace(grid=(1, 2, 4, 8), unit="symbols")
        spans = Spans([3.0, 3.0], 8.0)
        item = Item(name, name, "language", task, {}, spans, cost=costs, unmeasured=unmeasured)
        found.append(item)
    return Profile("mine", "as given", [Family("language", found)])


def test_missing_costs_are_listed_with_items_and_reasons():
    reason = "a learner in plain Python: what it computes cannot be seen"
    found = profile_with(
        copy=({"state_bytes": 64.0}, {"macs": reason}),
        lookup=({"state_bytes": 64.0}, {"macs": reason}),
        count=({"macs": 12.0}, {"state_bytes": "no state"}),
    )
    assert cost.unmeasured(found) == {
        "macs": f"copy and lookup: {reason}",
        "state_bytes": "count: no state",
    }
    table, terms = cost.running_table(found, "card")
    assert [column.title for column in table.columns] == ["item", "state bytes", "MACs a step"]
    assert terms.items[0][0] == "MACs a step: not known"


def test_a_card_without_measured_costs_has_no_table_and_no_picture():
    found = profile_with(copy=({"examples": 10.0}, {}))
    assert list(cost.running_table(found, "card")) == []
    assert cost.span_by_state(found, None, "card") is None


def test_spans_are_drawn_against_bytes_with_those_reference_learners_whose_state_is_known(
    monkeypatch,
):
    known = {"copy": {"lstm": {"state_bytes": 456.0}, "bag": {"state_bytes": 0.0}}}
    monkeypatch.setattr(cost, "load_costs", lambda: known)
    references = {name: Spans([7.0], 8.0) for name in ("lstm", "bag", "gru")}
    item_norms = ItemNorms(references, {})
    assert cost.state_points("copy", item_norms) == {"lstm": (456.0, pytest.approx(7.0))}
    norms = SimpleNamespace(of=lambda item: item_norms)
    found = profile_with(copy=({"state_bytes": 64.0}, {}))
    plot = cost.span_by_state(found, norms, "card")
    assert plot.data[0] == ("item", "learner", "state_bytes", "span")
    rows = {row[1]: row[2:] for row in plot.data[1:]}
    assert rows.keys() == {"lstm", "mine"}
    assert rows["mine"][0] == 64.0
    low, high = plot.panels[0].x.range
    assert low < 64 < 456 < high


def test_energy_of_earlier_folders_is_of_the_processor(tmp_path):
    facts = '{"study": "s", "version": 1, "ruleset": "as given", "learners": [], "energy": %s}'
    (tmp_path / INDEX).write_text(facts % '{"esn": 12.5, "lstm": {"gpu": 3}, "x": "?"}')
    found = read_index(tmp_path)["energy"]
    assert found == {"esn": {"processor": 12.5}, "lstm": {"gpu": 3.0}}


class Last:
    """Answers what it was last given."""

    def __init__(self, brief, seed):
        self.size = brief.outputs.size

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return inputs % self.size


def test_a_run_measures_when_it_is_asked_to(tmp_path):
    small = {"seeds": 1, "protocol": {"sequences": 16, "tests": 4}, "controls": False, "workers": 0}
    runs = {
        name: qs.run("span/copy", [Last, "esn:units=20"], out=tmp_path / name, **small, **more)
        for name, more in {"plain": {}, "measured": {"measure_cost": True}}.items()
    }
    by_learner = {
        name: {one.labels["learner"].partition(":")[0]: one for one in found.records}
        for name, found in runs.items()
    }
    esn, host = by_learner["measured"]["esn"], by_learner["measured"]["Last"]
    assert esn.cost["state_bytes"] == 20 * 4
    assert 0 < esn.cost["effective_macs"] < esn.cost["macs"]
    assert "state" in host.where["unmeasured"]["state_bytes"]
    plain = by_learner["plain"]["esn"]
    assert plain.key == esn.key
    assert plain.scores == esn.scores
    assert "state_bytes" not in plain.cost
