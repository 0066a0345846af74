"""The last runs as small bars: numbers in, rectangles out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BAR_WIDTH, BAR_GAP, HEIGHT = 8, 2, 36
ROW_GAP, LABEL_HEIGHT = 14, 16


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """One measure over the runs, the oldest left; scaled to its own highest value."""

    label: str
    y: float  # of its label
    base: float  # the line that the bars stand on
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    width: float
    height: float
    rows: tuple[Row, ...]
    summary: str


def chart(runs: Sequence[Mapping[str, Any]]) -> Chart | None:
    """`runs` as reports, the newest first. None if there are none."""
    if not runs:
        return None
    old_first = list(reversed(runs))
    measures = {
        "new jobs": [float(run["jobs"]["new"]) for run in old_first],
        "mails": [float(run["mail"]["sent"]) for run in old_first],
        "seconds": [float(run["took_s"]) for run in old_first],
        "reads and writes": [float(run["cost"]["reads"] + run["cost"]["writes"]) for run in old_first],
    }
    rows = tuple(_row(place, label, values) for place, (label, values) in enumerate(measures.items()))
    width = max(len(old_first) * (BAR_WIDTH + BAR_GAP), 240)
    summary = "; ".join(f"{label}: at most {_short(max(values))}" for label, values in measures.items())
    return Chart(width, len(rows) * (LABEL_HEIGHT + HEIGHT + ROW_GAP), rows, f"{len(old_first)} runs. {summary}.")


def _row(place: int, label: str, values: Sequence[float]) -> Row:
    top = place * (LABEL_HEIGHT + HEIGHT + ROW_GAP)
    base = top + LABEL_HEIGHT + HEIGHT
    highest = max(values)
    bars = []
    for number, value in enumerate(values):
        height = round(HEIGHT * value / highest, 1) if highest else 0.0
        if value:
            height = max(height, 1.0)
        bars.append(Bar(number * (BAR_WIDTH + BAR_GAP), round(base - height, 1), height, f"{_short(value)} {label}"))
    return Row(f"{label}, at most {_short(highest)}", top + 11, base, tuple(bars))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.2g}"
