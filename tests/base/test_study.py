"""Studies are data: they are read, cut down, and refused when something is missing."""

from __future__ import annotations

import math
import pathlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert [row.label for row in study.only(["qa"]).rows] == ["5 qa"]
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
    numbers = [
        row.published[column]
        for row in table.rows
        for column in ("ReCA", "ESN", "RNN", "LSTM", "Transformer")
    ]
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
    assert (
        row.learner("A 0", "written") == row.learner("A 0", "published") == "esn:units=20,leak=0.0"
    )
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


def test_like_shares_runs_and_learners_and_the_published_numbers_of_the_same_score(
    tmp_path: pathlib.Path,
) -> None:
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
        (
            "seeds = 100",
            'seeds = 100\nnote = "x"',
            'mine: key "note" is unknown; did you mean "notes"?',
        ),
        (
            "seeds = 100",
            "seeds = 100\nsettings = 3",
            "mine: settings must be a table of names and values, got 3",
        ),
        ('score = "wade"', "score = []", "mine: score must name at least one score, got none"),
        ('score = "wade"', "score = 3", "mine: score must be a list of names, got 3"),
        ('"1 periodic"', '"5 qa"', 'mine: two rows have the label "5 qa"; give each its own'),
        (
            "size = 30",
            "",
            (
                'mine: row "1 periodic", A: "esn:units={size}" asks for size, which the row does'
                " not have"
            ),
        ),
        (
            "size = 30",
            "size = 30\nnote = 1",
            'mine: row "1 periodic": no learner asks for the entry "note"; known',
        ),
        (
            "size = 30",
            'size = 30\ncolumns = ["C"]',
            'mine: row "1 periodic": columns: no learner "C"; known: A, B',
        ),
        (
            "size = 30",
            'size = 30\ncolumns = "A"',
            "mine: row \"1 periodic\": columns must be a list of names, got 'A'",
        ),
        ("{size}", "{size", "mine: learners: expected '}' before end of string"),
        ("{size}", "{size}{}", 'mine: row "5 qa", A: "esn:units={size}{}" cannot be read'),
        (
            '"majority"',
            "3",
            'mine: learners: B must be a learner\'s name, such as "esn:units=200", got 3',
        ),
        (
            '"majority"',
            '{publishd = "majority"}',
            'mine: learners: B: no convention "publishd"; did you mean "published"?',
        ),
        (
            "[0.5, 0.1]",
            "[0.55, 0.05, 3]",
            "published A must be a number or [number, spread], got [0.55, 0.05, 3]",
        ),
        ("[0.5, 0.1]", '["a"]', "published A must be a number or [number, spread], got ['a']"),
        (
            "[0.5, 0.1]",
            "[0.5, -0.1]",
            "published A must be a number or [number, spread], got [0.5, -0.1]",
        ),
        ("[0.5, 0.1]", "nan", "published A must be a number or [number, spread], got nan"),
        (
            "A = [0.5, 0.1]",
            "C = 1",
            'published numbers of a column that is not a learner: "C"; known: A, B, human',
        ),
        (
            "seeds = 100",
            'seeds = 100\nlike = "wade-table4"',
            'mine: row "5 qa": entry "task" is unknown',
        ),
        ("seeds = 100", 'seeds = 100\nlike = "FILE"', "the study is like itself"),
    ],
)
def test_a_mistake_is_refused_in_one_line(
    tmp_path: pathlib.Path, before: str, after: str, words: str
) -> None:
    assert before in MINI
    text = MINI.replace(before, after, 1).replace("FILE", str(tmp_path / "mine.toml"))
    if "itself" in words:
        text = text[: text.index("[learners]")]
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_beside_the_learners_must_be_announced(tmp_path: pathlib.Path) -> None:
    text = MINI.replace("human = 1.0", "monkeys = 0.1").replace(
        "seeds = 100", 'seeds = 100\nbeside = ["monkeys"]'
    )
    assert read(tmp_path, text).columns == ("A", "B", "monkeys")
    with pytest.raises(UsageError, match='not a learner: "monkeys"'):
        read(tmp_path, text.replace("beside", "# beside"))


def test_a_file_that_is_no_text(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine.toml").write_bytes(MINI.encode().replace(b"nowhere", b"M\xfcnchen"))
    with pytest.raises(
        UsageError, match=r"mine.toml is not UTF-8 text \(byte \d+\); save it as UTF-8"
    ):
        find_study(str(tmp_path / "mine.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        find_study(str(tmp_path / "folder.toml"))


def test_every_study_of_the_package_can_be_read() -> None:
    assert all(find_study(name).rows for name in study_names())


GRID = """
version = 1
title = "A grid"
source = "nowhere"
kind = "table"
score = ["wade", "final-accuracy"]
seeds = 2
protocol = {sequences = 100, schedule = "every"}
[each]
units = [100, 20]
leak = [0.5, 1.0]
verbs = [1, 2]
rule = 2
[together]
ESN = ["esn *"]
[learners]
"esn {units} {leak}" = "esn:units={units},leak={leak}"
"reca {rule}" = "reca:rule={rule}"
one = "lstm:units={verbs}{size}"
[[rows]]
task = "language/qa:verbs={verbs}"
label = "qa {verbs}"
size = 8
protocol = {share = 0.5, sequences = "{verbs}0"}
[rows.published."qa 2"]
ESN = "<1"
[rows.also.final-accuracy."qa 1"]
one = 0.5
[[rows]]
task = "language/periodic"
label = "1 periodic"
columns = ["reca {rule}"]
"""


def test_each_takes_all_combinations_of_columns_and_multiplies_rows(tmp_path: pathlib.Path) -> None:
    first, second, last = read(tmp_path, GRID).rows
    assert [(row.label, row.task) for row in (first, second)] == [
        ("qa 1", "language/qa:verbs=1"),
        ("qa 2", "language/qa:verbs=2"),
    ]
    assert dict(second.learners) == {
        "esn 100 0.5": "esn:units=100,leak=0.5",
        "esn 100 1.0": "esn:units=100,leak=1.0",
        "esn 20 0.5": "esn:units=20,leak=0.5",
        "esn 20 1.0": "esn:units=20,leak=1.0",
        "reca 0": "reca:rule=0",
        "reca 1": "reca:rule=1",
        "one": "lstm:units=28",
    }
    assert list(last.learners) == ["reca 0", "reca 1"]


def test_a_row_that_stands_for_several_has_published_numbers_by_label(
    tmp_path: pathlib.Path,
) -> None:
    first, second, _ = read(tmp_path, GRID).rows
    assert (first.published, second.published) == ({}, {"ESN": Published("<1")})
    assert (first.also["final-accuracy"], second.also["final-accuracy"]) == (
        {"one": Published(0.5)},
        {},
    )
    with pytest.raises(
        UsageError,
        match='stands for several; published numbers of no label: "ESN"; known: qa 1, qa 2',
    ):
        read(tmp_path, GRID.replace('[rows.published."qa 2"]', "[rows.published]"))


def test_the_protocol_of_a_row_stands_over_that_of_the_study(tmp_path: pathlib.Path) -> None:
    first, second, last = (row.protocol for row in read(tmp_path, GRID).rows)
    assert first == {"sequences": "10", "schedule": "every", "share": 0.5}
    assert second == {"sequences": "20", "schedule": "every", "share": 0.5}
    assert last == {"sequences": 100, "schedule": "every"}


def test_a_model_stands_in_the_place_of_its_columns(tmp_path: pathlib.Path) -> None:
    study = read(tmp_path, GRID)
    assert study.together == {"ESN": ("esn 100 0.5", "esn 100 1.0", "esn 20 0.5", "esn 20 1.0")}
    assert study.models == ("ESN", "reca 0", "reca 1", "one")
    assert set(study.together["ESN"]) < set(study.columns)
    plain = read(tmp_path, MINI)
    assert plain.models == plain.columns


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("[100, 20]", "[]", "mine: each: units must have at least one number or text, got []"),
        (
            "[100, 20]",
            "[[1]]",
            "mine: each: units must have at least one number or text, got [[1]]",
        ),
        ("[100, 20]", "[1, 1]", "mine: each: units has a value twice, got [1, 1]"),
        (
            "[100, 20]",
            "0",
            "mine: each: units must be a whole number from 1 on or a list of values, got 0",
        ),
        (
            "rule = 2",
            "rule = 2\nrul = 2",
            "mine: each: {rul} is in no column's name and no row's label",
        ),
        (
            '"reca {rule}" =',
            '"reca {rule} {verbs}" =',
            "{verbs} is in a column's name and in a row's label",
        ),
        (
            'label = "qa {verbs}"',
            'label = "qa"',
            "mine: each: {verbs} is in no column's name and no row's label",
        ),
        ('label = "1 periodic"', 'label = "qa 2"', 'mine: two rows have the label "qa 2"'),
        (
            '"language/periodic"',
            '"language/{rule}"',
            'row "1 periodic" asks for {rule}, which its label does not hold',
        ),
        ("size = 8", "size = 8\nverbs = 3", "verbs is a name of [each] already"),
        (
            'one = "lstm:units={verbs}{size}"',
            'one = "lstm:units={units}{size}"',
            "asks for units, which the row does not have",
        ),
        ('["esn *"]', '["ens *"]', 'mine: together: ESN: no column fits "ens *"'),
        ('["esn *"]', "[]", "mine: together: ESN must name at least one column, got []"),
        ('["esn *"]', '"esn *"', "mine: together: ESN must be a list of names, got 'esn *'"),
        (
            'ESN = ["esn *"]',
            'one = ["esn *"]\nESN = ["esn *"]',
            "mine: together: one is the name of a column already",
        ),
        (
            "seeds = 2",
            'seeds = 2\nconvention = "publshed"',
            'no convention "publshed"; did you mean "published"?',
        ),
        (
            "seeds = 2",
            'seeds = 2\nmeasures = "wade"',
            "mine: measures must be a list of names, got 'wade'",
        ),
        (
            "seeds = 2",
            'seeds = 2\nquantities = {a = "b"}',
            "mine: a study has learners, or quantities of its tasks alone",
        ),
        ('"<1"', '"0.5"', "published ESN must be a number or [number, spread], got '0.5'"),
        ('"<1"', '["<1", 2]', "published ESN must be a number or [number, spread], got ['<1', 2]"),
        ('"<1"', '" "', "published ESN must be a number or [number, spread], got ' '"),
    ],
)
def test_a_mistake_in_what_is_multiplied_is_one_line(
    tmp_path: pathlib.Path, before: str, after: str, words: str
) -> None:
    assert before in GRID
    with pytest.raises(UsageError) as caught:
        read(tmp_path, GRID.replace(before, after, 1))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_in_a_task_or_protocol_must_be_in_the_label(tmp_path: pathlib.Path) -> None:
    text = GRID.replace('label = "qa {verbs}"', 'label = "qa"').replace("one =", '"one {verbs}" =')
    with pytest.raises(
        UsageError, match=r'row "qa" asks for \{verbs\}, which its label does not hold'
    ):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("units={size}", "units={label:>3000000000}", "a width in it is above 100"),
        ("units={size}", "units={label:>{size}}", "a width in it is above 100"),
        ("size = 20", 'size = "' + "x" * 2000 + '"', "2,010 letters, at most 1,000"),
        (
            'B = "majority"',
            '"B {n}" = "majority"\n[each]\nn = 100000000',
            "are 200,000,002 cells; a study has at most",
        ),
        (
            'B = "majority"',
            '"B {n}" = "majority"\n[each]\nn = 4611686018427387904',
            "a study has at most 100,000",
        ),
        ("size = 30", "size = " + "9" * 5000, "mine: a number in it has too many digits"),
        ("seeds = 100", "seeds = 0x" + "9" * 5000, "mine: a number in it has too many digits"),
        (
            "seeds = 100",
            "seeds = 100\nsettings = {a = " + "[" * 3000 + "]" * 3000 + "}",
            "mine: it is nested more than 20",
        ),
        (
            "[learners]",
            "[settings." + ".".join("a" * 500) + "]\n[learners]",
            "mine: it is nested more than 20 deep",
        ),
        (
            "seeds = 100",
            "seeds = " + str(list(range(5000))),
            "seeds must be a whole number from 1 on, got [0, 1, 2",
        ),
        ("seeds = 100", "seeds = 2026-01-01", "a study has no dates, got 2026-01-01"),
    ],
)
def test_a_small_file_cannot_fill_the_memory(
    tmp_path: pathlib.Path, before: str, after: str, words: str
) -> None:
    began = time.process_time()
    with pytest.raises(UsageError) as caught:
        read(tmp_path, MINI.replace(before, after, 1))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert time.process_time() - began < 1


def test_results_of_a_file_without_a_name_would_lie_elsewhere(tmp_path: pathlib.Path) -> None:
    (tmp_path / "...toml").write_text(MINI)
    with pytest.raises(UsageError, match="rename the file"):
        find_study(str(tmp_path / "...toml"))


@given(st.floats(allow_nan=False), st.floats(-1e6, 1e6))
def test_words_that_are_bounds_are_compared(measured: float, bound: float) -> None:
    number = f"{bound:.3f}"
    bound = float(number)
    assert Published(f"<{number}").agrees(measured) is (measured < bound)
    assert Published(f"> {number}").agrees(measured) is (measured > bound)
    assert (
        Published(f"<={number}").agrees(measured)
        is Published(f"≤{number}").agrees(measured)
        is (measured <= bound)
    )
    assert (
        Published(f">={number}").agrees(measured)
        is Published(f"≥{number}").agrees(measured)
        is (measured >= bound)
    )
    assert Published("never").agrees(measured) is math.isinf(measured)
    assert Published("chance").agrees(measured) is None
    assert Published(bound).agrees(measured) is None


def test_nothing_is_compared_with_what_is_no_number() -> None:
    assert Published("<1").agrees(math.nan) is None
    assert Published(0.5, 0.1).agrees(math.nan) is None
    assert Published(">1,000").agrees(1001.0) is True


def test_a_study_says_under_which_convention_it_is_made(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, MINI).convention == "published"
    assert (
        read(
            tmp_path, MINI.replace("seeds = 100", 'seeds = 100\nconvention = "written"')
        ).convention
        == "written"
    )
    wade = [name for name in study_names() if name.startswith("wade-")]
    ours = {name for name in wade if find_study(name).convention == "corrected"}
    named = {"atlas", "audit", "better", "continual", "extra", "figure1", "final", "terms"}
    assert ours == {f"wade-{name}" for name in named}


def test_a_study_that_is_like_another_may_have_another_protocol(tmp_path: pathlib.Path) -> None:
    study = read(tmp_path, LIKE.replace("SCORE", "wade") + "protocol = {sequences = 60}\n")
    assert all(row.protocol == {"sequences": 60} for row in study.rows)
    assert all(row.protocol == {} for row in find_study("wade-table4").rows)


QUANTITIES = """
version = 1
title = "Computed"
source = "nowhere"
kind = "quantities"
[quantities]
bits = "alphabet"
[[rows]]
task = "language/qa"
label = "5 qa"
published = {bits = 3}
"""


def test_a_study_of_quantities_has_no_learners_scores_or_seeds(tmp_path: pathlib.Path) -> None:
    study = read(tmp_path, QUANTITIES)
    assert (study.quantities, study.columns, study.scores) == ({"bits": "alphabet"}, ("bits",), ())
    assert study.rows[0].published == {"bits": Published(3.0)}
    with pytest.raises(UsageError, match="missing required key 'learners'"):
        read(tmp_path, QUANTITIES.replace("[quantities]\nbits", "#").replace("published", "#"))
