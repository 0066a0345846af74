"""`python -m bench [NAME ...]`: run the measurements, print each finding, exit 1 if a line is over its bound.

Without names all are run, and `bench/report.md` and its curves are written.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import bench
from bench import Finding, Line
from bench._machine import Machine
from bench._report import write

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such measurement: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    machine = Machine.now()
    found: dict[str, list[Finding]] = {}
    for name in names or known:
        sys.stdout.write(f"\n{name}\n")
        found[name] = []
        for finding in importlib.import_module(f"bench.{name}").run():
            found[name].append(finding)
            sys.stdout.write(f"  {finding}\n")
            sys.stdout.flush()
    if not names:
        write(HERE, found, machine)
    return 0 if all(f.ok for findings in found.values() for f in findings if isinstance(f, Line)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
