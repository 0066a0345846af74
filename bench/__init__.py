"""Measurements as ratios inside one run, so that a slow machine does not make them lie.

Each module here has `run()`, which yields what it found: lines, curves, or why it could not measure. `python -m bench
[NAME ...]` runs them; with no name it runs all and writes `report.md` and the curves beside this file.

BENCH_PART=0.1 measures a tenth of each size, to try the bench itself: its figures are no evidence.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

WHY_MAX_CHARS = 300
PART = float(os.environ.get("BENCH_PART", "1"))


@dataclass(frozen=True, slots=True)
class Line:
    """One figure and what it is held to: `at_most`, `at_least`, both, or neither (told, not held)."""

    name: str
    figure: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def is_held(self) -> bool:
        return self.at_most is not None or self.at_least is not None

    @property
    def ok(self) -> bool:
        low = self.at_least is None or self.figure >= self.at_least
        return low and (self.at_most is None or self.figure <= self.at_most)

    @property
    def verdict(self) -> str:
        return ("ok" if self.ok else "OVER") if self.is_held else "told"

    @property
    def bounds(self) -> str:
        pairs = ("at most", self.at_most), ("at least", self.at_least)
        return ", ".join(f"{word} {number(bound)}" for word, bound in pairs if bound is not None)

    def __str__(self) -> str:
        note = f"  ({self.note})" if self.note else ""
        return f"{self.verdict:<5}{self.name}: {number(self.figure)} {self.unit} {self.bounds}".rstrip() + note


@dataclass(frozen=True, slots=True)
class Series:
    """Points (x, y), both above 0. `is_scaled`: measured on a part, and that is said where it is shown."""

    name: str
    points: tuple[tuple[float, float], ...]
    is_scaled: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """How something grows: drawn on two logarithmic axes, into a file of this name."""

    file: str
    title: str
    across: str
    up: str
    series: tuple[Series, ...]

    def __str__(self) -> str:
        rows = (
            f"       {s.name}: " + ", ".join(f"{number(x)} -> {number(y)}" for x, y in s.points) for s in self.series
        )
        return "\n".join((f"curve {self.title} ({self.across} -> {self.up})", *rows))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A measurement that could not be made here, and why."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"SKIP {self.name}: {self.why}"


@dataclass(frozen=True, slots=True)
class Broken:
    """A measurement that failed on its way: what it would have found is not known."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"BROKEN {self.name}: {self.why[:WHY_MAX_CHARS]}"


Finding = Line | Curve | Skipped | Broken


def sized(full: int, *, least: int = 1) -> int:
    """This size, or the part of it that was asked for."""
    return max(least, round(full * PART))


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
