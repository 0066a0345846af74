"""`scout users`: people and what they look for."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

import click

from app import pause as pausing
from app import profile, typed
from app.account import read_account
from app.cli.errors import Mistake, OneLine
from app.cli.gates import gate_options
from app.cli.people import as_json, as_row, show_one
from app.hopeless import not_configured, ruled_out
from app.parts import utc_now
from app.profile import Changes, Told
from app.settings import load
from app.shown import console, counted, show_json, table
from app.wiring import wired
from ledger import ids
from ledger import users as people
from ledger.addresses import home
from ledger.records import Mode, Search, User


@click.group(cls=OneLine)
def users() -> None:
    """Add, list, show, pause and delete people."""


@users.command()
@click.argument("email")
@click.option("--keywords", metavar="LIST", help="Any one is enough. Commas between; quotes keep a comma.")
@click.option("--must", metavar="LIST", help="All of these are needed.")
@click.option("--not", "exclude", metavar="LIST", help="Any of these rules a job out.")
@click.option("--max-age-h", type=click.IntRange(0, typed.MAX_AGE_MAX_H), metavar="N", help="Hours; 0: any age.")
@click.option("--sources", metavar="LIST", help="Only these sources or boards; '' for all.")
@gate_options
@click.option(
    "--mode", type=click.Choice([mode.value for mode in Mode]), help="When letters come. New people: instant."
)
@click.option("--at", metavar="HH:MM", help="The hour of the digest, in their zone.")
@click.option("--zone", metavar="ZONE", help="An IANA name such as Europe/Berlin.")
@click.option("--ai/--no-ai", default=None, help="A model judges what passes the keywords.")
@click.option("--about", metavar="TEXT", help="What the model should know of them: work, wishes, what not.")
@click.option("--threshold", type=click.IntRange(0, 100), metavar="N", help="The lowest score that is sent.")
@click.option("--resume", is_flag=True, help="Write again to somebody who had stopped.")
def add(email: str, mode: str | None, resume: bool, max_age_h: int | None, **given: Any) -> None:
    """Add a person, or change one.

    Of one who is there only what is given changes. The next run catches up on the last 24 hours.

    \b
    Examples:
      scout users add ann@example.com --keywords 'python, fastapi, "machine learning"' --not wordpress
      scout users add ben@example.com --keywords go --mode daily --at 07:30 --zone America/New_York
      scout users add ann@example.com --mode weekly
      scout users add ann@example.com --ai --about 'Backend, 10 years. Not: team lead.' --threshold 70
      scout users add ann@example.com --min-hourly '60 EUR' --countries 'Germany, AT' --contract freelance
    """
    asked = Changes(
        keywords=typed.keywords_of(given["keywords"], "--keywords"),
        must=typed.keywords_of(given["must"], "--must"),
        exclude=typed.keywords_of(given["exclude"], "--not"),
        max_age_h=max_age_h,
        gates=typed.gates_of(given),
        mode=Mode(mode) if mode else None,
        at=typed.at_of(given["at"]),
        zone=typed.zone_named(given["zone"]),
        ai=given["ai"],
        about=typed.about_of(given["about"]),
        ai_threshold=given["threshold"],
        resume=resume,
    )
    told = asyncio.run(_save(email, asked, given["sources"]))
    what = "Added" if told.created else "Changed" if told.changed else "Nothing differs for"
    click.echo(f"{what} {told.user.address}")
    for line in told.changed:
        click.echo(f"  {line}")
    click.echo("The next run catches up on the last 24 hours: scout cron")
    if told.user.ai and load().anthropic_api_key is None:
        click.echo("scout: verdicts are not available here (ANTHROPIC_API_KEY is not set): keywords decide", err=True)
    for warning in filter(None, (told.warning, *ruled_out(told.user.searches[profile.DEFAULT_SEARCH]))):
        click.echo(f"scout: {warning}", err=True)


async def _save(email: str, asked: Changes, sources: str | None) -> Told:
    settings = load()
    async with wired(settings) as parts:
        boards = {name for source in parts.sources.values() for name in (source.name, source.platform)}
        named = typed.sources_of(sources, boards)
        address = typed.address_of(email, smtputf8=parts.transport.smtputf8)
        changes = replace(asked, sources=named)
        return await profile.save(parts.store, address, changes, default_at=settings.digest_at, now=parts.clock())


@users.command("list")
@click.option("--json", "json_", is_flag=True, help="Print them as JSON.")
def list_(json_: bool) -> None:
    """List everybody, with what they look for."""
    found, unreadable = asyncio.run(_everyone())
    if json_:
        show_json([as_json(user, now=utc_now()) for user in found])
    elif found:
        console().print(table(("address", "letters", "state", "keywords"), [as_row(u, now=utc_now()) for u in found]))
    else:
        click.echo("Nobody yet. Add somebody: scout users add ann@example.com --keywords 'python, fastapi'")
    if unreadable:
        click.echo(f"scout: {counted(unreadable, 'user document')} cannot be read", err=True)


async def _everyone() -> tuple[list[User], int]:
    bad: list[str] = []
    async with wired(load()) as parts:
        found = [user async for user in people.everyone(parts.store, lambda uid, _error: bad.append(uid))]
    return sorted(found, key=lambda user: user.address), len(bad)


@users.command()
@click.argument("email")
@click.option("--json", "json_", is_flag=True, help="Print it as JSON.")
def show(email: str, json_: bool) -> None:
    """Show one person: the profile, what was sent, what waits.

    \b
    Example:
      scout users show ann@example.com
    """
    asyncio.run(_show(email, json_=json_))


async def _show(email: str, *, json_: bool) -> None:
    _check(email)
    async with wired(load()) as parts:
        uid, found = await home(parts.store, email)
        if found is None:
            raise _nobody(email)
        account = await read_account(parts.store, uid)
        search = found.record.searches.get(profile.DEFAULT_SEARCH, Search())
        gone = not_configured(search, parts.sources.values())
    if json_:
        show_json(as_json(found.record, now=utc_now(), account=account))
    else:
        show_one(console(), found.record, account, gone=gone, now=utc_now())
        for warning in ruled_out(search):
            click.echo(f"scout: {warning}", err=True)


@users.command()
@click.argument("email")
@click.option("--until", metavar="DATE", help="The first day that letters come again, in their zone: YYYY-MM-DD.")
@click.option("--days", type=click.IntRange(1, pausing.DAYS_MAX), metavar="N", help="From now.")
@click.option("--resume", is_flag=True, help="End the pause now.")
def pause(email: str, until: str | None, days: int | None, resume: bool) -> None:
    """Send nothing to a person for a while.

    At the end they get what waited already, and the fitting jobs of the last 24 hours.

    \b
    Examples:
      scout users pause ann@example.com --until 2027-01-07
      scout users pause ann@example.com --days 14
      scout users pause ann@example.com --resume
    """
    if sum((until is not None, days is not None, resume)) != 1:
        raise Mistake("give one of --until DATE, --days N and --resume")
    asyncio.run(_pause(email, until, days))


async def _pause(email: str, until: str | None, days: int | None) -> None:
    _check(email)
    async with wired(load()) as parts:
        uid, found = await home(parts.store, email)
        if found is None:
            raise _nobody(email)
        now = parts.clock()
        end = now + timedelta(days=days) if days else pausing.first_day(until, found.record, now=now) if until else None
        user = await pausing.pause(parts.store, uid, until=end, now=now)
        if user is None:
            raise _nobody(email)
    click.echo(f"{user.address}: {profile.state(user, now=now)}")


@users.command()
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(email: str, yes: bool) -> None:
    """Remove a person and what was kept of them.

    For 48 hours bare ids of the last jobs stay, so that coming back repeats nothing; after a bounce or a complaint a
    mark stays, so that the address is not mailed by mistake.

    \b
    Example:
      scout users delete ann@example.com --yes
    """
    _check(email)
    if not yes:
        if not sys.stdin.isatty():
            raise Mistake("deleting asks first, and nobody is here to answer; add --yes")
        click.confirm(f"Delete {email.strip()} and everything kept of them?", abort=True)
    removed = asyncio.run(_delete(email))
    if removed is None:
        raise _nobody(email)
    click.echo(f"Deleted {email.strip()}: the profile and {counted(removed, 'delivery', 'deliveries')}")


async def _delete(email: str) -> int | None:
    async with wired(load()) as parts:
        uid = (await home(parts.store, email)).uid
        return await people.delete(parts.store, uid, now=parts.clock())


def _check(email: str) -> None:
    try:
        ids.uid_of(email)
    except ids.BadAddress as error:
        raise Mistake(str(error)) from error


def _nobody(email: str) -> Mistake:
    return Mistake(f"no such person: {email.strip()[:80]}; see: scout users list")
