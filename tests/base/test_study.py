"""Studies are data: they are read, cut down, and refused when something is missing."""

from __future__ import annotations

import pathlib

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.study import Published, Study, find_study, study_names

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
    assert [row.label for row in study.only(["1 *"]).rows] == ["1 periodic"]
    with pytest.raises(UsageError, match=r"language/qa \(5 qa\), language/periodic"):
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


WHOLE = """
version = 1
title = "Everything a study may have"
source = "nowhere"
kind = "table"
score = ["final-accuracy", "wade"]
seeds = 10
settings = {unit = "examples", limit = 3}
each = {shift = 3}
[learners]
"A {shift}" = "esn:units={size},leak=0.{shift}"
B = {published = "majority", corrected = "polarity:seed={size}"}
[[rows]]
task = "language/qa"
label = "5 qa"
size = 20
published = {B = 0.5}
"""


def read(folder: pathlib.Path, text: str) -> Study:
    (folder / "mine.toml").write_text(text)
    return find_study(str(folder / "mine.toml"))


def test_the_first_of_several_scores_is_the_main_one(tmp_path: pathlib.Path) -> None:
    study = read(tmp_path, WHOLE)
    assert study.scores == ("final-accuracy", "wade")
    assert study.score == "final-accuracy"
    assert study.settings == {"unit": "examples", "limit": 3}
    assert study.runs == "mine"
    assert read(tmp_path, MINI).scores == ("wade",)


def test_each_makes_a_column_for_every_value(tmp_path: pathlib.Path) -> None:
    (row,) = read(tmp_path, WHOLE).rows
    assert list(row.learners) == ["A 0", "A 1", "A 2", "B"]
    assert row.learners["A 2"] == "esn:units=20,leak=0.2"


def test_a_column_may_have_a_learner_for_each_convention(tmp_path: pathlib.Path) -> None:
    (row,) = read(tmp_path, WHOLE).rows
    assert row.learner("B", "published") == "majority"
    assert row.learner("B", "corrected") == "polarity:seed=20"
    assert row.learner("B", "written") is None
    assert row.learner("A 0", "written") == row.learner("A 0", "published") == "esn:units=20,leak=0.0"
    assert row.learner("human", "published") is None


LIKE = """
version = 1
title = "Another look"
source = "nowhere"
like = "wade-table4"
kind = "curves"
score = "SCORE"
seeds = 5
"""


def test_like_shares_runs_and_learners_and_the_published_numbers_of_the_same_score(tmp_path: pathlib.Path) -> None:
    model, same = find_study("wade-table4"), read(tmp_path, LIKE.replace("SCORE", "wade"))
    assert (same.id, same.runs, same.seeds) == ("mine", "wade-table4", 5)
    assert same.rows == model.rows
    assert same.columns == model.columns
    other = read(tmp_path, LIKE.replace("SCORE", "final-accuracy"))
    assert [row.learners for row in other.rows] == [row.learners for row in model.rows]
    assert all(not row.published for row in other.rows)
    assert "human" not in other.columns


def test_rows_given_with_like_have_published_numbers_of_their_own(tmp_path: pathlib.Path) -> None:
    own = "[[rows]]\nlabel = 'LABEL'\npublished = {ESN = [0.5, 0.1]}\n"
    study = read(tmp_path, LIKE.replace("SCORE", "wade") + own.replace("LABEL", "5 qa"))
    assert study.rows[4].published == {"ESN": Published(0.5, 0.1)}
    assert study.rows[0].published == find_study("wade-table4").rows[0].published
    with pytest.raises(UsageError, match='wade-table4 has no row "11 nothing"'):
        read(tmp_path, LIKE.replace("SCORE", "wade") + own.replace("LABEL", "11 nothing"))


def test_the_figure_has_the_numbers_of_its_table() -> None:
    for name in ("wade-figure3", "wade-grid"):
        study = find_study(name)
        assert study.runs == "wade-table4"
        assert study.rows[4].published["ESN"] == Published(0.2636, 0.03)
    assert find_study("wade-table5").rows[4].published["ESN"] == Published(0.73, 0.03)


def test_a_row_may_have_only_some_of_the_columns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mini.toml").write_text(MINI.replace("size = 20", 'size = 20\ncolumns = ["A"]'))
    study = find_study(str(tmp_path / "mini.toml"))
    assert [list(row.learners) for row in study.rows] == [["A"], ["A", "B"]]
    assert study.columns == ("A", "B", "human")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("seeds = 100", "seeds = -2", "mine: seeds must be a whole number from 1 on, got -2"),
        ("seeds = 100", "seeds = true", "mine: seeds must be a whole number from 1 on, got True"),
        ("version = 1", 'version = "x"', "mine: version must be a whole number from 1 on, got 'x'"),
        ("seeds = 100", 'seeds = 100\nnote = "x"', 'mine: key "note" is unknown; did you mean "notes"?'),
        ("seeds = 100", "seeds = 100\nsettings = 3", "mine: settings must be a table of names and values, got 3"),
        ('score = "wade"', "score = []", "mine: score must name at least one score, got none"),
        ('score = "wade"', "score = 3", "mine: score must be a list of names, got 3"),
        ('"1 periodic"', '"5 qa"', 'mine: two rows have the label "5 qa"; give each its own'),
        ("size = 30", "", 'mine: row "1 periodic", A: "esn:units={size}" asks for size, of which the row says nothing'),
        ("size = 30", "size = 30\nnote = 1", 'mine: row "1 periodic": no learner asks for the entry "note"; known'),
        ("size = 30", 'size = 30\ncolumns = ["C"]', 'mine: row "1 periodic": columns: no learner "C"; known: A, B'),
        ("size = 30", 'size = 30\ncolumns = "A"', "mine: row \"1 periodic\": columns must be a list of names, got 'A'"),
        ("{size}", "{size", "mine: learners: expected '}' before end of string"),
        ("{size}", "{size}{}", 'mine: row "5 qa", A: "esn:units={size}{}" cannot be read'),
        ('"majority"', "3", 'mine: learners: B must be a learner\'s name, such as "esn:units=200", got 3'),
        (
            '"majority"',
            '{publishd = "majority"}',
            'mine: learners: B: no convention "publishd"; did you mean "published"?',
        ),
        ("[0.5, 0.1]", "[0.55, 0.05, 3]", "published A must be a number or [number, spread], got [0.55, 0.05, 3]"),
        ("[0.5, 0.1]", '["a"]', "published A must be a number or [number, spread], got ['a']"),
        ("[0.5, 0.1]", "[0.5, -0.1]", "published A must be a number or [number, spread], got [0.5, -0.1]"),
        ("[0.5, 0.1]", "nan", "published A must be a number or [number, spread], got nan"),
        ("A = [0.5, 0.1]", "C = 1", 'published numbers of a column that is no learner: "C"; known: A, B, human'),
        ("seeds = 100", 'seeds = 100\nlike = "wade-table4"', 'mine: row "5 qa": entry "task" is unknown'),
        ("seeds = 100", 'seeds = 100\nlike = "FILE"', "the study is like itself"),
    ],
)
def test_a_mistake_is_refused_in_one_line(tmp_path: pathlib.Path, before: str, after: str, words: str) -> None:
    assert before in MINI
    text = MINI.replace(before, after, 1).replace("FILE", str(tmp_path / "mine.toml"))
    if "itself" in words:
        text = text[: text.index("[learners]")]
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_beside_the_learners_must_be_announced(tmp_path: pathlib.Path) -> None:
    text = MINI.replace("human = 1.0", "monkeys = 0.1").replace("seeds = 100", 'seeds = 100\nbeside = ["monkeys"]')
    assert read(tmp_path, text).columns == ("A", "B", "monkeys")
    with pytest.raises(UsageError, match='no learner: "monkeys"'):
        read(tmp_path, text.replace("beside", "# beside"))


def test_a_file_that_is_no_text(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine.toml").write_bytes(MINI.encode().replace(b"nowhere", b"M\xfcnchen"))
    with pytest.raises(UsageError, match=r"mine.toml is not UTF-8 text \(byte \d+\); save it as UTF-8"):
        find_study(str(tmp_path / "mine.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        find_study(str(tmp_path / "folder.toml"))


def test_every_study_of_the_package_can_be_read() -> None:
    assert all(find_study(name).rows for name in study_names())
