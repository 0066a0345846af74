"""The drill's report as a page for people: the figures, and the timeline of each violation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from app.drill.count import Verdict, Violation

BEFORE, AFTER = 12, 6  # lines of the timeline that are shown around a violation
VIOLATIONS_MAX = 50


def page(verdicts: Sequence[Verdict], *, seed: int, again: str, made_at: datetime) -> str:
    """One self-contained HTML page. `again` is the command that repeats the drill."""
    shown = [(verdict, [(v, around(verdict, v)) for v in verdict.violations[:VIOLATIONS_MAX]]) for verdict in verdicts]
    return _template().render(
        shown=shown, seed=seed, again=again, made_at=made_at, kept=all(v.is_kept for v in verdicts)
    )


def around(verdict: Verdict, violation: Violation) -> list[tuple[float, str]]:
    """The part of the timeline that a violation falls into: where its job appeared, else the end."""
    if violation.job is None:
        return verdict.timeline[-(BEFORE + AFTER) :]
    appeared, seen = 0, 0
    for number, (_, what) in enumerate(verdict.timeline):
        if what.endswith("jobs appear"):
            seen += int(what.split()[0])
            if seen > violation.job:
                appeared = number
                break
    return verdict.timeline[max(0, appeared - AFTER) : appeared + BEFORE]


@cache
def _template() -> Template:
    loader = PackageLoader("app.drill", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html")
