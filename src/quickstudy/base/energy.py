"""Energy and memory that a computation has taken, from counters of the processor, GPU and system.

The counters of energy count everything that runs on the machine.
"""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

RAPL = pathlib.Path("/sys/class/powercap")
PROCESSOR, GPU = "processor", "gpu"


@dataclass(frozen=True)
class EnergyReading:
    """counters: joules by counter, such as `processor intel-rapl:0`. ranges: joules at which a
    counter starts again at 0. unknown: by source (`processor`, `gpu`), why it cannot be read.
    """

    counters: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, float] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def read_energy() -> EnergyReading:
    """All counters that can be read now."""
    counters, ranges, unknown = {}, {}, {}
    packages = sorted(one for one in RAPL.glob("intel-rapl:[0-9]*") if one.name.count(":") == 1)
    try:
        for one in packages:
            counters[f"{PROCESSOR} {one.name}"] = int((one / "energy_uj").read_text()) / 1e6
            most = int((one / "max_energy_range_uj").read_text()) / 1e6
            ranges[f"{PROCESSOR} {one.name}"] = most
    except PermissionError:
        unknown[PROCESSOR] = "only root may read its counter (RAPL)"
    except (OSError, ValueError) as error:
        unknown[PROCESSOR] = f"its counter (RAPL) cannot be read: {type(error).__name__}"
    if not packages:
        unknown[PROCESSOR] = "the system has no counter of it (RAPL)"
    if PROCESSOR in unknown:
        counters, ranges = {}, {}
    try:
        counters |= {f"{GPU} {number}": joules for number, joules in enumerate(_gpu_joules())}
    except OSError as error:
        unknown[GPU] = str(error)
    return EnergyReading(counters, ranges, unknown)


def spent(before: EnergyReading, after: EnergyReading) -> dict[str, float]:
    """Joules between two readings, by source. A counter that has started again is taken to have
    done so once.

    >>> spent(
    ...     EnergyReading({"processor a": 90.0}, {"processor a": 100.0}),
    ...     EnergyReading({"processor a": 5.0}, {"processor a": 100.0}),
    ... )
    {'processor': 15.0}
    """
    found: dict[str, float] = {}
    for name in before.counters.keys() & after.counters.keys():
        joules = after.counters[name] - before.counters[name]
        if joules < 0:
            joules += after.ranges.get(name, 0.0)
        if joules >= 0:
            source = name.partition(" ")[0]
            found[source] = found.get(source, 0.0) + joules
    return dict(sorted(found.items()))


@lru_cache
def _nvml() -> Any:
    """The library of NVIDIA's driver, ready to be asked. Raises OSError if there is none."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        raise OSError("no NVIDIA driver") from None
    if library.nvmlInit_v2() != 0:
        raise OSError("the NVIDIA driver does not answer")
    return library


def _gpu_joules() -> list[float]:
    """What every GPU has taken since its driver was loaded."""
    library = _nvml()
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0 or not count.value:
        raise OSError("no GPU")
    found = []
    for number in range(count.value):
        device, energy = ctypes.c_void_p(), ctypes.c_ulonglong()
        fault = library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device))
        fault = fault or library.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(energy))
        if fault:
            raise OSError(f"GPU {number} has no counter of energy (NVML error {fault})")
        found.append(energy.value / 1000)
    return found


def forget_peak_memory() -> bool:
    """Let the system's peak of this process's memory begin again at what it has now. False where
    the system cannot: only Linux can.
    """
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_memory() -> int | None:
    """The most bytes that this process has had in memory since `forget_peak_memory`."""
    try:
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else None
