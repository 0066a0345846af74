"""`bench/report.md` and its curves, from what the measurements found."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import PART, WHY_MAX_CHARS, Broken, Curve, Finding, Line, Skipped, number
from bench._machine import Machine
from bench._plot import drawn

OPENING = """# Measurements

> Read the ratios. Both sides of each were measured in the same run, on the same machine; seconds are that machine's.

Written by `make bench`; how to read it stands in [operating](../docs/operating.md#measuring).

Made on: {machine}
"""
IN_PART = "\n**Not evidence: only a part ({part:g}) of each size was measured.**\n"


def write(folder: Path, found: Mapping[str, Sequence[Finding]], machine: Machine) -> None:
    parts = [OPENING.format(machine=machine)]
    if PART != 1:
        parts.append(IN_PART.format(part=PART))
    parts.append(_bounds([f for findings in found.values() for f in findings if isinstance(f, Line) and f.is_held]))
    parts += [_section(name, findings) for name, findings in found.items()]
    for curve in (f for findings in found.values() for f in findings if isinstance(f, Curve)):
        (folder / f"{curve.file}.svg").write_text(drawn(curve), encoding="utf-8")
    (folder / "report.md").write_text("\n".join(parts), encoding="utf-8")


def _bounds(held: Sequence[Line]) -> str:
    over = [line.name for line in held if not line.ok]
    kept = f"{len(held) - len(over)} of {len(held)} bounds are kept."
    return kept + (f" Over: {'; '.join(over)}.\n" if over else "\n")


def _section(name: str, findings: Sequence[Finding]) -> str:
    about = (importlib.import_module(f"bench.{name}").__doc__ or "").strip()
    rows = [_row(f) for f in findings if isinstance(f, Line)]
    text = [f"## {name}\n", f"{about}\n"]
    if rows:
        text += ["| | figure | bound | |", "|---|---|---|---|", *rows, ""]
    text += [f"**Skipped: {f.name}** ({f.why}).\n" for f in findings if isinstance(f, Skipped)]
    text += [f"**Broken: {f.name}** ({f.why[:WHY_MAX_CHARS]}).\n" for f in findings if isinstance(f, Broken)]
    text += [_figure(f) for f in findings if isinstance(f, Curve)]
    return "\n".join(text)


def _row(line: Line) -> str:
    bound = f"{line.bounds}: {'kept' if line.ok else '**over**'}" if line.is_held else ""
    return f"| {line.name} | {number(line.figure)} {line.unit} | {bound} | {line.note} |"


def _figure(curve: Curve) -> str:
    """The picture, and its points in a table for whoever cannot see it."""
    columns = [dict(series.points) for series in curve.series]
    heads = [curve.across, *(series.name + (" (scaled)" if series.is_scaled else "") for series in curve.series)]
    rows = [
        [number(x), *(number(column[x]) if x in column else "" for column in columns)]
        for x in sorted({x for column in columns for x in column})
    ]
    table = [_cells(heads), "|---" * len(heads) + "|", *map(_cells, rows)]
    picture = f"![{curve.title}: {curve.up} against {curve.across}]({curve.file}.svg)"
    return "\n".join((picture, "", *table, ""))


def _cells(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
