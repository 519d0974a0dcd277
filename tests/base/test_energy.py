"""Counters of energy and memory, on files and libraries made for the test."""

import subprocess
import sys

import pytest

from quickstudy.base import energy


@pytest.fixture
def powercap(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "RAPL", tmp_path)

    def none():
        raise OSError("no NVIDIA driver")

    monkeypatch.setattr(energy, "_gpu_joules", none)

    def write(microjoules, name="intel-rapl:0", most=100_000_000):
        package = tmp_path / name
        package.mkdir(exist_ok=True)
        (package / "energy_uj").write_text(str(microjoules))
        (package / "max_energy_range_uj").write_text(str(most))
        return package

    return write


def test_packages_are_summed_and_a_part_of_one_is_not_counted_twice(powercap):
    for package in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"):
        powercap(1_000_000, package)
    before = energy.read_energy()
    powercap(3_000_000, "intel-rapl:0")
    powercap(2_500_000, "intel-rapl:1")
    powercap(9_000_000, "intel-rapl:0:0")
    assert energy.spent(before, energy.read_energy()) == {"processor": 3.5}
    assert before.unknown == {"gpu": "no NVIDIA driver"}


def test_a_counter_that_starts_again_is_followed(powercap):
    powercap(99_000_000)
    before = energy.read_energy()
    powercap(1_000_000)
    assert energy.spent(before, energy.read_energy()) == {"processor": 2.0}


def test_what_cannot_be_read_has_its_reason(powercap, monkeypatch):
    assert "no counter" in energy.read_energy().unknown["processor"]
    package = powercap(1)

    def denied(self):
        raise PermissionError(self)

    monkeypatch.setattr(type(package), "read_text", denied)
    found = energy.read_energy()
    assert "root" in found.unknown["processor"]
    assert energy.spent(found, found) == {}


PEAKS = """
from quickstudy.base import energy

if energy.forget_peak_memory():
    before = energy.peak_memory()
    held = bytearray(64_000_000)
    during = energy.peak_memory()
    del held
    energy.forget_peak_memory()
    print(during - before, energy.peak_memory() - before)
"""


def test_the_peak_is_of_what_came_after_it_was_forgotten():
    """In a process of its own: of a large one, the system may page out more than is added."""
    done = subprocess.run([sys.executable, "-c", PEAKS], capture_output=True, text=True, check=True)
    if not done.stdout:
        pytest.skip("only Linux can")
    during, after = map(int, done.stdout.split())
    assert during >= 60_000_000
    assert after < 30_000_000
