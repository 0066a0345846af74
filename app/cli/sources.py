"""`scout sources`: how the boards are."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import click

from app.cli.errors import Mistake, OneLine
from app.cli.trials import ADD_ONE, add, must_be_there, test
from app.parts import Parts, utc_now
from app.settings import load
from app.shown import console, minute, show_json, table
from app.wiring import wired
from ledger.records import Health, SourceState
from ledger.sources import SILENT_AFTER, every_state, is_failing, resume

NEVER = "never polled"
GONE = "not configured"


@click.group(cls=OneLine, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def sources(ctx: click.Context, as_json: bool) -> None:
    """List the sources: health, polls, failures.

    \b
    Examples:
      scout sources
      scout sources --json | jq '.[] | select(.failures > 0)'
      scout sources add https://example.com/careers
    """
    if ctx.invoked_subcommand is None:
        _list(as_json=as_json)


@sources.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def list_(as_json: bool) -> None:
    """List the sources, as `scout sources` does."""
    _list(as_json=as_json)


sources.add_command(add)
sources.add_command(test)


@sources.command("resume")
@click.argument("name")
def resume_(name: str) -> None:
    """Poll a suspended source again.

    It was suspended because all its items seemed new, twice running; give it another id_rule first. Its next poll is
    a silent baseline.

    \b
    Examples:
      scout sources resume example
    """
    if asyncio.run(_resumed(name)) is None:
        raise Mistake(f"{name!r} is not suspended; see: scout sources")
    click.echo(f"{name} is polled again at the next run, as if for the first time.")


async def _resumed(name: str) -> SourceState | None:
    async with wired(load()) as parts:
        must_be_there(name, parts)
        return await resume(parts.store, name, now=utc_now())


def _list(*, as_json: bool) -> None:
    found, unreadable = asyncio.run(_found())
    if as_json:
        show_json(found)
    elif not found:
        click.echo(f"No source is configured. {ADD_ONE}")
    else:
        heads = ("source", "health", "last success", "next poll (UTC)", "failures", "reason")
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
    seen = state or SourceState(name, None)
    silent = seen.ok_at is not None and is_failing(seen) and utc_now() - seen.ok_at >= SILENT_AFTER
    return {
        "name": name,
        "board": parts.sources[name].platform if is_configured else None,
        "configured": is_configured,
        "health": seen.health.value if seen.health is not None else None,
        "reason": seen.reason,
        "failures": seen.failures,
        "empty": seen.empty_streak,
        "all_new": seen.all_new_streak,
        "silent_since": _iso(seen.ok_at if silent else None),
        "polled_at": _iso(seen.polled_at),
        "ok_at": _iso(seen.ok_at),
        "next_poll_at": _iso(seen.next_poll_at),
    }


def _iso(at: Any) -> str | None:
    return at.isoformat() if at is not None else None


def _row(source: dict[str, Any]) -> tuple[object, ...]:
    health = (source["health"] or NEVER).replace("_", " ")
    ok_at, next_at = source["ok_at"], source["next_poll_at"]
    if source["silent_since"]:
        health += f", silent for {_days(source['silent_since'])}"
    is_waiting = source["configured"] and source["health"] != Health.SUSPENDED.value
    return (
        source["name"],
        health if source["configured"] else GONE,
        minute(ok_at) if ok_at else None,
        minute(next_at) if next_at else ("at the next run" if is_waiting else None),
        source["failures"],
        source["reason"],
    )


def _days(since: str) -> str:
    days = (utc_now() - datetime.fromisoformat(since)) // timedelta(days=1)
    return "a day" if days == 1 else f"{days} days"
