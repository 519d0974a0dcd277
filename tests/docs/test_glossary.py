"""One meaning per word: the glossary, held against the names of classes and modules."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

import quickstudy

PACKAGE = pathlib.Path(quickstudy.__file__).parent
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "glossary.md"


def cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def tables(text: str) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """The words with their meanings, and (word, module) of every second meaning."""
    first, second = text.split("## Words with a second meaning")
    rows = [
        [cells(line) for line in part.splitlines() if line.startswith("| ")][1:]
        for part in (first, second)
    ]
    return {row[0]: row[1] for row in rows[0]}, {(row[0], row[1]) for row in rows[1]}


def classes() -> dict[str, list[str]]:
    """By their names in lower case, the modules that define a class: those with an underscore are
    nobody's word.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(
            ("quickstudy", *path.relative_to(PACKAGE).with_suffix("").parts)
        ).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name.lower(), []).append(module)
    return found


def twice(
    found: dict[str, list[str]], words: dict[str, str], listed: set[tuple[str, str]]
) -> dict[str, list[str]]:
    """Words of the glossary that name a class in more than one module that is not listed with a
    meaning of its own.
    """
    left = {
        word: [module for module in found.get(word, ()) if (word, module) not in listed]
        for word in words
    }
    return {word: modules for word, modules in left.items() if len(modules) > 1}


def test_a_word_names_one_class() -> None:
    assert twice(classes(), *tables(PAGE.read_text(encoding="utf-8"))) == {}


def test_every_second_meaning_is_there() -> None:
    words, listed = tables(PAGE.read_text(encoding="utf-8"))
    found = classes()
    assert {
        (word, module)
        for word, module in listed
        if word not in words or module not in found.get(word, ())
    } == set()


def test_a_second_class_of_a_word_is_found() -> None:
    words, listed = {"lesson": "", "plan": ""}, {("plan", "b")}
    assert twice({"lesson": ["a", "b"], "plan": ["a", "b"]}, words, listed) == {
        "lesson": ["a", "b"]
    }


def test_the_glossary_is_in_order_and_says_something_of_every_word() -> None:
    text = PAGE.read_text(encoding="utf-8")
    words, _ = tables(text)
    assert list(words) == sorted(words)
    assert (
        len(words)
        == len(
            re.findall(
                r"^\| [a-z ]+ \| [^|]+ \|$", text.partition("## Words with")[0], re.MULTILINE
            )
        )
        - 1
    )
    assert all(len(meaning.split()) > 2 for meaning in words.values())


@pytest.mark.parametrize(
    "word", ["lesson", "exam", "pace", "trace", "record", "journal", "plan", "score", "streams"]
)
def test_a_word_that_names_a_class_is_spelled_as_it(word: str) -> None:
    assert word in classes()
    assert word in tables(PAGE.read_text(encoding="utf-8"))[0]
