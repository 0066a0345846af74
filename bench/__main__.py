"""`python -m bench [NAME ...]`: run the measurements, print each line, exit 1 if one is over its bound."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench
from bench import Line


def main(names: list[str]) -> int:
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such measurement: {', '.join(unknown)}; there are {', '.join(known)}\n")
        return 2
    lines: list[Line] = []
    for name in names or known:
        sys.stdout.write(f"\n{name}\n")
        for line in importlib.import_module(f"bench.{name}").run():
            lines.append(line)
            sys.stdout.write(f"  {line}\n")
            sys.stdout.flush()
    return 0 if all(line.ok for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
