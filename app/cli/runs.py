"""`scout runs`: what past runs answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from app.settings import load
from app.shown import console, minute, show_json, table
from app.wiring import wired
from ledger import runs as run_log

LAST_MAX = 500


@click.command()
@click.option("--last", type=click.IntRange(1, LAST_MAX), default=10, show_default=True, metavar="N", help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON, the newest first.")
def runs(last: int, as_json: bool) -> None:
    """List the newest runs and what they did.

    Reports are kept for 30 days.

    \b
    Examples:
      scout runs
      scout runs --last 1 --json
    """
    reports = asyncio.run(_latest(last))
    if as_json:
        show_json(reports)
    elif reports:
        heads = ("started (UTC)", "status", "took", "read", "failed", "new", "fit", "alerts", "digests", "rows, why")
        console().print(table(heads, [_row(report) for report in reports]))
    else:
        click.echo("No run yet. Run one: scout cron")


async def _latest(limit: int) -> list[Mapping[str, Any]]:
    async with wired(load()) as parts:
        return await run_log.latest(parts.store, limit=limit)


def _row(report: Mapping[str, Any]) -> tuple[object, ...]:
    sources, mail = report["sources"], report["mail"]
    return (
        minute(report["started_at"]),
        report["status"],
        f"{report['took_s']:.1f} s",
        sources["ok"] + sources["not_modified"],
        len(sources["failed"]),
        report["jobs"]["new"],
        report["matches"]["fit"],
        mail["alerts"],
        mail["digests"],
        "; ".join(filter(None, (_trouble(mail), report.get("reason")))),
    )


def _trouble(mail: Mapping[str, Any]) -> str:
    """The delivery rows that came to no good end: `rows: 2 deferred, 1 unclear`. Mostly none: no columns."""
    counts = ", ".join(f"{mail[name]} {name}" for name in ("deferred", "failed", "unclear") if mail[name])
    return f"rows: {counts}" if counts else ""
