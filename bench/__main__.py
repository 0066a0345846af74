"""`python -m bench [NAME ...]`: run the measurements, print each finding, exit 1 if a line is over its bound
or a measurement broke.

Without names all are run, and `bench/report.md` and its curves are written.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import bench
from app import logs
from bench import Broken, Finding, Line
from bench._machine import Machine
from bench._report import write

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such measurement: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    logs.set_up("json", stream=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # loggers keep it to the end
    machine = Machine.now()
    found: dict[str, list[Finding]] = {}
    for name in names or known:
        sys.stdout.write(f"\n{name}\n")
        found[name] = []
        for finding in _measured(name):
            found[name].append(finding)
            sys.stdout.write(f"  {finding}\n")
            sys.stdout.flush()
    if not names:
        write(HERE, found, machine)
    return 0 if all(_is_well(f) for findings in found.values() for f in findings) else 1


def _measured(name: str) -> Iterator[Finding]:
    """What it finds; one that fails is told as broken, and the others go on."""
    try:
        yield from importlib.import_module(f"bench.{name}").run()
    except Exception as error:
        traceback.print_exc()
        yield Broken(name, f"{type(error).__name__}: {error}")


def _is_well(finding: Finding) -> bool:
    return not isinstance(finding, Broken) and (not isinstance(finding, Line) or finding.ok)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
