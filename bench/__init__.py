"""Measurements as ratios inside one run, so that a slow machine does not make them lie.

Each module here has `run() -> list[Line]`; `python -m bench [NAME ...]` runs them and prints every line.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    def ok(self) -> bool:
        low = self.at_least is None or self.figure >= self.at_least
        return low and (self.at_most is None or self.figure <= self.at_most)

    def __str__(self) -> str:
        bounds = [f"{word} {_number(bound)}" for word, bound in self._bounds() if bound is not None]
        verdict = ("ok" if self.ok else "OVER") if bounds else "told"
        note = f"  ({self.note})" if self.note else ""
        return f"{verdict:<5}{self.name}: {_number(self.figure)} {self.unit} {', '.join(bounds)}".rstrip() + note

    def _bounds(self) -> tuple[tuple[str, float | None], ...]:
        return ("at most", self.at_most), ("at least", self.at_least)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
