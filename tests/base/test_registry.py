from __future__ import annotations

import pathlib
import pydoc
import sys

import pytest

import quickstudy as qs
from quickstudy.base import registry as registry_module
from quickstudy.base.errors import UsageError
from quickstudy.base.registry import Registry, include, installed_sources, package_sources

BELL = '''
from quickstudy_test_bells import sound


@sound("bell", version=1, metal="bronze")
class Bell:
    """Rings.

    And rings.
    """


@sound("bell", version=2)
class LouderBell:
    """Rings louder."""
'''


@pytest.fixture
def sounds(tmp_path, monkeypatch):
    """A registry `sound` over a package of its own, found on the path and not imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "quickstudy_test_bells"
    package.mkdir()
    made = Registry("sound", lambda: package_sources("quickstudy_test_bells"))
    (package / "__init__.py").write_text("sound = None\n")
    (package / "bell.py").write_text(BELL)
    yield made
    for name in [name for name in sys.modules if name.startswith("quickstudy_test_bells")]:
        del sys.modules[name]


def connect(sounds):
    """Let the package's files find the registry under test."""
    import quickstudy_test_bells

    quickstudy_test_bells.sound = sounds


def test_the_decorator_gives_the_component_its_name_and_facts():
    made = Registry("sound", lambda: iter(()))

    @made("drum", version=3, skin="goat")
    class Drum:
        """Beats."""

    assert (Drum.id, Drum.version, Drum.skin) == ("drum", 3, "goat")
    assert made.get("drum") is Drum
    (entry,) = made.entries()
    assert (entry.id, entry.version, entry.summary, entry.origin) == ("drum", 3, "Beats.", __file__)
    assert "drum" in made
    assert "drum@3" in made
    assert "trumpet" not in made


def test_listing_imports_nothing_and_getting_imports_one_file(sounds):
    connect(sounds)
    assert sounds.names() == ["bell"]
    assert [(entry.version, entry.summary) for entry in sounds.entries()] == [(2, "Rings louder.")]
    assert sounds.find("bell@1").summary == "Rings."
    assert sounds.find("bell").origin.endswith("bell.py")
    assert "quickstudy_test_bells.bell" not in sys.modules
    assert sounds.get("bell").__name__ == "LouderBell"
    assert "quickstudy_test_bells.bell" in sys.modules


def test_versions(sounds):
    connect(sounds)
    assert sounds.get("bell@1").metal == "bronze"
    assert sounds.get("bell@2") is sounds.get("bell")
    for name in ("bell@3", "bell@new"):
        with pytest.raises(UsageError, match=r'sound "bell" has no version ".*"; versions: 1, 2'):
            sounds.find(name)


def test_near_misses(sounds):
    with pytest.raises(UsageError, match=r'^no sound "bel"; did you mean "bell"\?$'):
        sounds.get("bel")
    with pytest.raises(UsageError, match=r'^no sound "trumpet"; known: bell$'):
        sounds.get("trumpet")
    with pytest.raises(UsageError, match=r'^no sound "x"; none is known$'):
        Registry("sound", lambda: iter(())).get("x")


def test_the_same_name_from_elsewhere_is_an_error(sounds):
    connect(sounds)
    sounds.get("bell")

    class Other:
        """Clangs."""

    with pytest.raises(
        UsageError,
        match=r'sound "bell" version 1 is registered twice: .*bell\.py and .*test_registry',
    ):
        sounds("bell", version=1)(Other)
    assert sounds("bell", version=3)(Other) is Other


def test_the_same_name_is_an_error_whoever_comes_first(sounds):
    """A file that is included before anything was looked up must not take a name away."""

    class Other:
        """Clangs."""

    sounds("bell", version=1)(Other)
    for _ in range(2):
        with pytest.raises(UsageError, match="registered twice"):
            sounds.names()


def test_registering_again_from_the_same_file_replaces(sounds):
    def make(summary):
        class Horn:
            pass

        Horn.__doc__ = summary
        return Horn

    sounds("horn", version=1)(make("Blows."))
    again = sounds("horn", version=1)(make("Blows."))
    assert sounds.get("horn") is again


def test_what_is_announced_must_be_there(sounds, tmp_path):
    connect(sounds)
    (tmp_path / "quickstudy_test_bells" / "lie.py").write_text(
        'text = """\n@sound("lie", version=1)\nclass Lie:\n    \'\'\'x"""\n"""Nothing."""\n'
    )
    assert "lie" in sounds
    with pytest.raises(
        UsageError, match=r'sound "lie" is announced in .*lie\.py but not registered there'
    ):
        sounds.get("lie")


def test_sources_of_a_module_a_folder_and_nothing(sounds, tmp_path):
    (tmp_path / "quickstudy_test_bells" / "deep").mkdir()
    (tmp_path / "quickstudy_test_bells" / "deep" / "gong.py").write_text("")
    found = dict(package_sources("quickstudy_test_bells"))
    assert set(found) == {
        "quickstudy_test_bells",
        "quickstudy_test_bells.bell",
        "quickstudy_test_bells.deep.gong",
    }
    assert dict(package_sources("quickstudy_test_bells.bell")) == {
        "quickstudy_test_bells.bell": tmp_path / "quickstudy_test_bells" / "bell.py"
    }
    (tmp_path / "quickstudy_test_single.py").write_text("")
    assert dict(package_sources("quickstudy_test_single")) == {
        "quickstudy_test_single": tmp_path / "quickstudy_test_single.py"
    }
    assert list(package_sources("quickstudy_test_absent")) == []


def test_installed_packages_announce_themselves(sounds, tmp_path):
    """An entry point in the group `quickstudy` is enough; nothing of the package is imported to
    list it.
    """
    information = tmp_path / "bells-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: bells\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[quickstudy]\nbells = quickstudy_test_bells.bell\n"
    )
    connect(sounds)
    assert "quickstudy_test_bells.bell" in dict(installed_sources())
    installed = Registry("sound", installed_sources)
    assert installed.names() == ["bell"]
    assert "quickstudy_test_bells.bell" not in sys.modules
    assert registry_module.ENTRY_POINT_GROUP == "quickstudy"
    import quickstudy_test_bells

    quickstudy_test_bells.sound = installed
    assert installed.get("bell").__name__ == "LouderBell"


def test_including_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("count = 1\n")
    module = include(file)
    assert module.count == 1
    assert include(str(file)) is module
    assert module.__name__ in sys.modules
    assert pathlib.Path(module.__file__) == file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", r"broken\.py cannot be imported: SyntaxError"),
        ("import quickstudy_no_such_module\n", r"cannot be imported: ModuleNotFoundError"),
        ("1 / 0\n", r"cannot be imported: ZeroDivisionError: division by zero"),
        (
            (
                "from quickstudy.base.errors import UsageError\nraise UsageError('units must be at"
                " least 1')\n"
            ),
            "^units must be at least 1$",
        ),
    ],
)
def test_a_file_that_cannot_be_included(tmp_path, text, message):
    file = tmp_path / "broken.py"
    file.write_text(text)
    for _ in range(2):
        with pytest.raises(UsageError, match=message):
            include(file)
    file.write_text("fine = True\n")
    assert include(file).fine


def test_no_file_to_include(tmp_path):
    with pytest.raises(UsageError, match=r"no file .* to include"):
        include(tmp_path / "absent.py")
    with pytest.raises(UsageError, match=r"no file .* to include"):
        include(tmp_path)
    text = tmp_path / "mine.txt"
    text.write_text("")
    with pytest.raises(UsageError, match=r"mine\.txt is not a Python file"):
        include(text)


@pytest.mark.parametrize(
    "kind", ["task", "control", "core", "training", "learner", "protocol", "measure", "quantity"]
)
def test_help_shows_how_a_decorator_is_used(kind):
    """And not the class of registries, nor all that is registered."""
    text = pydoc.plain(pydoc.render_doc(getattr(qs, kind)))
    assert f'@{kind}("' in text or f"@{kind}(\n" in text
    assert "version=1" in text
    assert "add(self" not in text
    assert "Entry(" not in text
    assert len(text.splitlines()) < 25


def test_a_version_that_is_not_there_is_not_in_it():
    from quickstudy.base import registries

    assert "language/qa" in registries.task
    assert "language/qa@1" in registries.task
    assert "language/qa@99" not in registries.task
    assert "language/qa@one" not in registries.task
