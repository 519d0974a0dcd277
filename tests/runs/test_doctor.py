import importlib.metadata
import pathlib
import platform
import re
import tomllib

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.runs import doctor as doctor_module
from quickstudy.runs import provenance
from quickstudy.runs.doctor import examine_folder, repair
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.provenance import examine_installation

LARGE = ["specimen/large"]


@pytest.fixture
def hurt(lab, tmp_path):
    """A folder with every kind of damage, and the numbers it had before."""
    lab.run(tmp_path, ["good"], 5, tasks=LARGE)
    before = lab.numbers(tmp_path)
    (path,) = (tmp_path / "runs").iterdir()
    lines = path.read_bytes().splitlines()
    keys = list(before)
    (tmp_path / "traces" / f"{keys[1]}.npz").unlink()
    (tmp_path / "traces" / f"{keys[2]}.npz").write_bytes(b"PK not a zip file")
    (tmp_path / "traces" / "stray.npz").write_bytes(b"")
    (tmp_path / "traces" / ".half.npz.host-1-x.tmp").write_bytes(b"half")
    path.write_bytes(b"\n".join([*lines[:4], b"{garbage", lines[4][:99]]))
    return tmp_path, before


def test_every_damage_is_found_and_nothing_is_changed(hurt):
    folder, _ = hurt
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    problems = sorted(
        re.sub(r"traces/\w+", "traces/KEY", damage.problem) for damage in examine_folder(folder)
    )
    assert [problem.partition(" (")[0] for problem in problems] == [
        "cannot be read",
        "last line is cut off",
        "left over from a run that was killed",
        "no record names it",
        "no record names it",
        "not a line of JSON",
        "the file traces/KEY.npz is missing",
    ]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files


def test_repair_keeps_the_good_sets_the_bad_aside_and_the_rest_runs_again(lab, hurt):
    folder, before = hurt
    done = repair(folder)
    assert examine_folder(folder) == []
    reading = read_results(folder)
    assert (len(reading.records), reading.torn, reading.damage) == (2, 0, ())
    kept = b"".join(path.read_bytes() for path in (folder / "damaged").glob("*.jsonl"))
    assert kept.count(b"\n") == 4  # garbage, the torn tail, and two records without their traces
    assert b"{garbage" in kept
    assert any("left over" in line for line in done)
    assert repair(folder) == []
    execution = lab.run(folder, ["good"], 5, tasks=LARGE)
    assert (sum(execution.found.values()), execution.ok) == (2, 3)
    assert lab.numbers(folder) == before


def test_a_second_repair_overwrites_nothing(lab, tmp_path):
    lab.run(tmp_path, ["good"], 2)
    (path,) = (tmp_path / "runs").iterdir()
    for word in (b"{one\n", b"{two\n"):
        path.write_bytes(path.read_bytes() + word)
        repair(tmp_path)
    assert sorted(each.read_bytes() for each in (tmp_path / "damaged").iterdir()) == [
        b"{one\n",
        b"{two\n",
    ]


def test_a_journal_without_anything_good_goes_away(lab, tmp_path):
    prepare_folder(tmp_path)
    (tmp_path / "runs" / "a-1-b.jsonl").write_bytes(b"{torn")
    assert len(repair(tmp_path)) == 1
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_journal_in_use_is_left_alone(lab, tmp_path):
    lab.run(tmp_path, ["good"], 1)
    (record,) = read_results(tmp_path).records.values()
    with Journal(tmp_path) as journal:
        journal.write(record)
        journal._file.write(b"{half a li")
        (done,) = repair(tmp_path)
        assert "left alone" in done
        assert journal.path.read_bytes().endswith(b"{half a li")
    assert len(repair(tmp_path)) == 1
    assert examine_folder(tmp_path) == []


def test_folders_that_hold_no_results_are_not_touched(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            repair(folder)
        with pytest.raises(UsageError):
            examine_folder(folder)


def test_the_installation_says_what_is_there():
    found = examine_installation()
    libraries = {library.name: library for library in found.libraries}
    assert libraries["numpy"].version == importlib.metadata.version("numpy")
    assert libraries["numpy"].extra == ""
    assert libraries["jax"].extra == "learners"
    assert libraries["duckdb"].extra == "report"
    assert libraries["torch"].extra == "torch"
    assert len(libraries) == len(found.libraries)
    assert found.python == platform.python_version()
    assert found.cores >= 1
    assert all(
        libraries[name].version is None for names in found.missing().values() for name in names
    )


def test_every_extra_is_used_and_none_is_forgotten():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    source = "\n".join(path.read_text() for path in (root / "src").rglob("*.py"))
    own = {name: libraries for name, libraries in extras.items() if name not in ("all", "dev")}
    imported_as = {"pyzmq": "zmq", "flash-linear-attention": "fla"}
    for name, libraries in own.items():
        for text in libraries:
            if text.startswith("quickstudy["):  # an extra that needs another one
                assert text.removeprefix("quickstudy[").removesuffix("]") in own, text
                continue
            name = re.split("[<>=]", text)[0]
            library = imported_as.get(name, name.replace("-", "_"))
            used = (
                rf"\b(import|from) {library}\b|import_module\(.{library}\b|= \"{library}\.[a-z]+\""
            )
            assert re.search(used, source), f"{name}: {library}"
    # Adapters to the libraries of other groups: whoever compares with one installs that one.
    for_one_library = ("reservoirpy", "memax", "fla")
    usual = [name for name in own if name not in for_one_library]
    assert extras["all"] == [f"quickstudy[{','.join(usual)}]"]
    for library, extra in re.findall(r'MissingExtra\("?([\w.]+).*?, "(\w+)"\)', source):
        assert extra in own, library


def test_a_broken_marker_is_damage_and_is_made_anew(lab, tmp_path):
    lab.run(tmp_path, ["good"], 1)
    marker = tmp_path / "quickstudy.json"
    whole = marker.read_text()
    for broken in ("{", "[]", '{"format": "one"}'):
        marker.write_text(broken)
        (damage,) = examine_folder(tmp_path)
        assert str(damage).startswith("quickstudy.json: ")
        assert len(repair(tmp_path)) == 1
        assert marker.read_text() == whole
        assert examine_folder(tmp_path) == []


def test_a_journal_that_can_only_be_read_is_no_damage(lab, tmp_path, monkeypatch):
    lab.run(tmp_path, ["good"], 1)

    def only_reading(path, mode, **options):
        if "+" in mode:
            raise PermissionError(13, "Permission denied", str(path))
        return open(path, mode, **options)

    monkeypatch.setattr(doctor_module, "open", only_reading, raising=False)
    assert examine_folder(tmp_path) == []
    assert repair(tmp_path) == []


def test_libraries_that_are_missing_and_graphics_are_told(tmp_path):
    requirements = [
        "no-such-library>=2; extra == 'web'",
        "numpy>=2",
        "quickstudy[web]; extra == 'all'",
    ]
    requirements += ["no-such-library>=2; extra == 'dev'"]
    found = provenance._libraries(requirements)
    assert [(each.name, each.extra, each.version is None) for each in found] == [
        ("no-such-library", "web", True),
        ("numpy", "", False),
    ]
    card = tmp_path / "0000:01:00.0"
    card.mkdir()
    (card / "information").write_text("Model: \t NVIDIA H200\nIRQ: 7\n")
    assert provenance._graphics(tmp_path) == ("NVIDIA H200",)
    assert provenance._graphics(tmp_path / "none") == ()
