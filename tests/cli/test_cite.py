"""`quickstudy cite`: BibTeX of the tool and of what a folder was made with."""

import re

import quickstudy as qs
from quickstudy.api.papers import FAMILIES, PAPERS


def entries(text):
    return re.findall(r"^@\w+\{([^,]+),$", text, re.MULTILINE)


def test_without_a_folder_the_families_are_cited(quickstudy):
    answer = quickstudy("cite")
    assert answer.status == 0, answer.err
    wanted = [f"{name}{year}" for name, year in FAMILIES.values()]
    assert entries(answer.out) == ["quickstudy", *wanted]
    assert set(FAMILIES.values()) <= set(PAPERS)


def test_a_folder_is_cited_by_its_sheets(quickstudy, tmp_path):
    """The task and the n-gram name their papers; that of the n-gram has no entry here."""
    qs.run("language/qa", "ngram", seeds=1, protocol={"sequences": 20}, out=tmp_path, workers=0)
    answer = quickstudy("cite", str(tmp_path))
    assert entries(answer.out) == ["quickstudy", "cisneros2022"]
    assert "% Witten 1991" in answer.out
    assert answer.out == qs.cite(tmp_path)
    assert "hill2020" not in answer.out  # nothing that was not used


def test_an_empty_folder_is_refused(quickstudy, tmp_path):
    answer = quickstudy("cite", str(tmp_path))
    assert answer.status == 2
    assert "results" in answer.err


def test_entries_are_whole():
    for (name, year), paper in PAPERS.items():
        assert name == name.lower()
        assert 1950 < year < 2030
        assert all(paper)
        assert paper.authors.split(",")[0].lower().endswith(name)
