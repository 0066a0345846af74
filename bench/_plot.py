"""A curve as SVG on two logarithmic axes: few lines, one colour a series, readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from bench import Curve, Series, number

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 210, 44, 52
LABEL_GAP = 17  # pixels between the names at the ends of two lines
SMALL_STEPS = (1, 2, 5)  # marks within a decade, where there are few decades
FEW_DECADES = 1.3

# Okabe and Ito's colours tell apart to most eyes; the darker ones are lightened on dark pages.
STYLE = """
svg { color-scheme: light dark; background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #24292f; } .grid { stroke: #d8dee4; } .frame { stroke: #8c959f; fill: none; }
.s0 { --c: #b35900; } .s1 { --c: #0067ab; } .s2 { --c: #007f5c; } .s3 { --c: #a8447d; }
.line { stroke: var(--c); fill: none; stroke-width: 2.2; } .dot { fill: var(--c); } .name { fill: var(--c); }
.scaled { stroke-dasharray: 6 4; } .title { font-size: 15px; font-weight: 600; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; } text { fill: #e6edf3; } .grid { stroke: #30363d; } .frame { stroke: #768390; }
.s0 { --c: #f0a04b; } .s1 { --c: #6cb6ff; } .s2 { --c: #4fd1a5; } .s3 { --c: #e39ac6; }
}
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis from `low` to `high` on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def marks(self) -> list[float]:
        """Powers of ten within; with 2 and 5 between them where that leaves room."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        is_short = math.log10(self.high / self.low) < FEW_DECADES * 2
        found = [step * 10.0**n for n in decades for step in (SMALL_STEPS if is_short else (1,))]
        slack = 1 + 1e-9
        return [mark for mark in found if self.low / slack <= mark <= self.high * slack]


def drawn(curve: Curve) -> str:
    """The whole file. Raises ValueError for a curve without points, or with one that is not above 0."""
    points = [point for series in curve.series for point in series.points]
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError(f"{curve.file}: only what is above 0 has a place on a logarithmic axis")
    across = _axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = _axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    body = [*_frame(curve, across, up), *_lines(curve.series, across, up)]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join((head, f"<title>{escape(curve.title)}</title>", f"<style>{STYLE}</style>", *body, "</svg>", ""))


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    low, high = min(values), max(values)
    if low == high:
        low, high = low / 2, high * 2
    margin = (high / low) ** 0.04
    return Axis(low / margin, high * margin, start, end)


def _frame(curve: Curve, across: Axis, up: Axis) -> Iterator[str]:
    yield f'<text class="title" x="{LEFT}" y="24">{escape(curve.title)}</text>'
    for mark in across.marks():
        x = across.at(mark)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{number(mark)}</text>'
    for mark in up.marks():
        y = up.at(mark)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(mark)}</text>'
    yield (
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - RIGHT - LEFT}" height="{HEIGHT - BOTTOM - TOP}"/>'
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(curve.across)}</text>'
    height = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<text transform="translate(18 {height}) rotate(-90)" text-anchor="middle">{escape(curve.up)}</text>'


def _lines(series: Sequence[Series], across: Axis, up: Axis) -> Iterator[str]:
    names = _apart([up.at(s.points[-1][1]) for s in series])
    for n, (one, name_y) in enumerate(zip(series, names, strict=True)):
        places = [(across.at(x), up.at(y)) for x, y in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<g class="s{n}"><polyline class="line{" scaled" if one.is_scaled else ""}" points="{path}"/>'
        yield from (f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in places)
        said = one.name + (" (scaled)" if one.is_scaled else "")
        yield f'<text class="name" x="{WIDTH - RIGHT + 10}" y="{name_y + 4:.1f}">{escape(said)}</text></g>'


def _apart(heights: Sequence[float]) -> list[float]:
    """The heights of names, in the same order and near where they belong, but never on top of each other."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = list(heights)
    for before, this in pairwise(order):
        placed[this] = max(placed[this], placed[before] + LABEL_GAP)
    return placed
