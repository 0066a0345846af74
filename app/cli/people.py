"""How a person is shown: a row, a page, JSON. Never the token, which opens the unsubscribe page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console

from app.account import Account
from app.profile import DEFAULT_SEARCH, facts, state
from app.shown import counted, pairs, table
from ledger.records import Mode, Search, User
from scan.keywords import join_keywords

LETTERS_SHOWN = 10
DELETED = "(deleted)"  # a mark that a bounce or a complaint left


def as_row(user: User, *, now: datetime) -> tuple[object, ...]:
    search = user.searches.get(DEFAULT_SEARCH, Search())
    hour = "" if user.mode is Mode.INSTANT else f", {user.at} {user.zone}" if user.at else ", default hour"
    keywords = join_keywords((*search.keywords, *search.must))
    excluded = f", not: {join_keywords(search.exclude)}" if search.exclude else ""
    return user.address or DELETED, user.mode + hour, state(user, now=now), keywords + excluded


def as_json(user: User, *, now: datetime, account: Account | None = None) -> dict[str, Any]:
    """For scripts; instants as ISO 8601 in UTC."""
    shown: dict[str, Any] = {
        "address": user.address,
        "state": state(user, now=now),
        "active": user.active,
        "stopped": user.stopped,
        "paused_until": _iso(user.paused_until),
        "mode": user.mode.value,
        "at": user.at,
        "zone": user.zone,
        "ai": user.ai,
        "about": user.about,
        "ai_threshold": user.ai_threshold,
        "created_at": _iso(user.created_at),
        "catch_up_waits": user.catch_up is not None,
        "searches": {name: asdict(search) for name, search in user.searches.items()},
    }
    if account is not None:
        shown["deliveries"] = account.rows
        shown["waiting_until"] = _iso(account.waiting_until)
        shown["letters"] = [asdict(letter) | {"at": _iso(letter.at)} for letter in account.letters[:LETTERS_SHOWN]]
        shown["unreadable"] = account.unreadable
    return shown


def show_one(console: Console, user: User, account: Account, *, gone: Collection[str], now: datetime) -> None:
    """`gone` are the names among the sources of their search that are not configured."""
    rows = ", ".join(f"{count} {name}" for name, count in account.rows.items()) or "none yet"
    known = facts(user, now=now)
    if gone:
        names = user.searches[DEFAULT_SEARCH].sources
        known["sources"] = ", ".join(f"{name} (not configured)" if name in gone else name for name in names)
    told: list[tuple[str, object]] = [("address", user.address or DELETED), *known.items()]
    told += [("since", user.created_at), ("deliveries", rows)]
    if user.catch_up is not None:
        told.append(("catch-up", "waits for the next run"))
    if account.waiting_until is not None:
        told.append(("next due", account.waiting_until))
    if account.unreadable:
        told.append(("note", f"{counted(account.unreadable, 'document')} cannot be read"))
    console.print(pairs(told))
    if account.letters:
        console.print()
        last = [(letter.at, letter.kind, letter.jobs, letter.best) for letter in account.letters[:LETTERS_SHOWN]]
        console.print(table(("last letters (UTC)", "kind", "jobs", "the best"), last))


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
