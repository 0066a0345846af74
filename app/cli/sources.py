"""`scout sources`: how the boards are."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from app.parts import Parts
from app.settings import load
from app.shown import console, minute, show_json, table
from app.wiring import wired
from ledger.records import SourceState
from ledger.sources import every_state

NEVER = "never polled"
GONE = "not configured"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def sources(as_json: bool) -> None:
    """List the sources: health, polls, failures.

    \b
    Examples:
      scout sources
      scout sources --json | jq '.[] | select(.failures > 0)'
    """
    found, unreadable = asyncio.run(_found())
    if as_json:
        show_json(found)
    else:
        heads = ("source", "health", "last success (UTC)", "next poll (UTC)", "failures", "reason")
        console().print(table(heads, [_row(source) for source in found]))
    for reason in unreadable:
        click.echo(f"scout: {reason}", err=True)


async def _found() -> tuple[list[dict[str, Any]], list[str]]:
    async with wired(load()) as parts:
        states, bad = await every_state(parts.store)
    known = {state.name: state for state in states}
    names = [*parts.sources, *sorted(known.keys() - parts.sources.keys())]
    return [_as_json(name, known.get(name), parts) for name in names], [str(error) for error in bad]


def _as_json(name: str, state: SourceState | None, parts: Parts) -> dict[str, Any]:
    is_configured = name in parts.sources
    health = state.health.value if state is not None and state.health is not None else None
    return {
        "name": name,
        "board": parts.sources[name].platform if is_configured else None,
        "configured": is_configured,
        "health": health,
        "reason": state.reason if state is not None else "",
        "failures": state.failures if state is not None else 0,
        "polled_at": _iso(state.polled_at if state is not None else None),
        "ok_at": _iso(state.ok_at if state is not None else None),
        "next_poll_at": _iso(state.next_poll_at if state is not None else None),
    }


def _iso(at: Any) -> str | None:
    return at.isoformat() if at is not None else None


def _row(source: dict[str, Any]) -> tuple[object, ...]:
    health = source["health"] or NEVER
    ok_at, next_at = source["ok_at"], source["next_poll_at"]
    return (
        source["name"],
        health if source["configured"] else GONE,
        minute(ok_at) if ok_at else None,
        minute(next_at) if next_at else ("at the next run" if source["configured"] else None),
        source["failures"],
        source["reason"],
    )
