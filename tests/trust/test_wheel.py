"""The wheel is installed alone, and a card is made with it from an empty folder."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def installed(built: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Python of an environment with the wheel, and the libraries of this one after it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (own,) = folder.glob("lib/python*/site-packages")
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(own)
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def run(python: pathlib.Path, folder: pathlib.Path, *arguments: str) -> str:
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=known, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_source_archive_has_what_a_user_may_build_and_test(built: pathlib.Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    assert archive.stat().st_size < 30e6
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.startswith(("tests/", "published/", "docs/"))]


def test_the_wheel_is_used_and_not_the_clone(
    installed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    found = run(installed, tmp_path, "-c", "import quickstudy; print(quickstudy.__file__)")
    assert pathlib.Path(found.strip()).is_relative_to(installed.parents[1])


def test_studies_norms_and_pages_are_inside(
    installed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    assert "wade-table4" in run(installed, tmp_path, "-m", "quickstudy", "ls", "studies")
    command = ("profile", "esn:units=20", "--quick", "--seeds", "1", "--families", "dynamics")
    told = json.loads(run(installed, tmp_path, "-m", "quickstudy", *command, "--json"))
    items = [item for family in told["families"] for item in family["items"]]
    assert {"delay", "ahead"} <= {item["item"] for item in items}
    assert {item["norms"] for item in items} == {"stored"}
    (card,) = (tmp_path / "results" / "profile-quick").glob("card-*.html")
    assert "<svg" in card.read_text(encoding="utf-8")
