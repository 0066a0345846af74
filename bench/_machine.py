"""What a run was made on, and how busy that was: other people's work on the same cores is part of every figure."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    name: str
    cores: int
    python: str
    load: float  # of the last minute, before the first measurement
    began_s: float

    @classmethod
    def now(cls) -> Machine:
        return cls(
            name=_processor(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            python=platform.python_version(),
            load=os.getloadavg()[0],
            began_s=time.monotonic(),
        )

    def __str__(self) -> str:
        took_min = (time.monotonic() - self.began_s) / 60
        return (
            f"{self.name}, {self.cores} cores, {platform.system()}, Python {self.python}. The load of the last minute "
            f"was {self.load:.1f} before the first measurement (0 would be an idle machine) and "
            f"{os.getloadavg()[0]:.1f} after the last, the bench's own part included; all took {took_min:.0f} minutes."
        )


def peak_mib() -> float:
    """The most memory that this process ever held.

    Linux counts what its parent held before the start into `ru_maxrss`, so there the kernel's mark is read instead.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)  # bytes there, else KiB


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor() or platform.machine())
