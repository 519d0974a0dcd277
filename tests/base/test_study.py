"""Studies are data: they are read, cut down, and refused when something is missing."""

from __future__ import annotations

import pathlib

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.study import Published, find_study, study_names

MINI = """
version = 1
title = "Two cells"
source = "nowhere"
kind = "table"
score = "wade"
seeds = 100
[learners]
A = "esn:units={size}"
B = "majority"
[[rows]]
task = "language/qa"
label = "5 qa"
size = 20
published = {A = [0.5, 0.1], human = 1.0}
[[rows]]
task = "language/periodic"
label = "1 periodic"
size = 30
"""


def test_entries_of_a_row_go_into_its_learners(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mini.toml").write_text(MINI)
    study = find_study(str(tmp_path / "mini.toml"))
    assert study.id == "mini"
    assert study.columns == ("A", "B", "human")
    assert [dict(row.learners) for row in study.rows] == [
        {"A": "esn:units=20", "B": "majority"},
        {"A": "esn:units=30", "B": "majority"},
    ]
    assert study.rows[0].published == {"A": Published(0.5, 0.1), "human": Published(1.0, None)}
    assert [row.label for row in study.only(["*/qa"]).rows] == ["5 qa"]
    with pytest.raises(UsageError, match="language/qa, language/periodic"):
        study.only(["grammar/*"])


@pytest.mark.parametrize("word", ["version", "title", "kind", "score", "seeds", "task", "label"])
def test_what_a_study_lacks_is_named(tmp_path: pathlib.Path, word: str) -> None:
    lines = [line for line in MINI.splitlines() if not line.startswith(f"{word} =")]
    (tmp_path / "mini.toml").write_text("\n".join(lines))
    with pytest.raises(UsageError, match=word):
        find_study(str(tmp_path / "mini.toml"))


def test_the_published_tables_are_whole() -> None:
    assert {"wade-table4", "wade-table5", "wade-figure3"} <= set(study_names())
    table = find_study("wade-table4")
    assert len(table.rows) == 10
    numbers = [row.published[column] for row in table.rows for column in ("ReCA", "ESN", "RNN", "LSTM", "Transformer")]
    assert len(numbers) == 50
    assert all(0 < number.value < 1 and number.spread is not None for number in numbers)
    assert table.rows[4].published["ESN"] == Published(0.2636, 0.03)
    assert find_study("wade-table5").rows[9].published["Transformer"] == Published(0.57, 0.04)


def test_an_unknown_study_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='did you mean "wade-table4"'):
        find_study("wade-tabel4")
