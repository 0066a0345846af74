"""`scout doctor`: is everything in place? Each line says what is so, and how to mend what is not.

Nothing is sent and no source is asked: their health is what the last runs saw. One document is written to the store
and removed again, because a store that only reads is no store.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.domain import Level, Line, Txt, is_reserved, records
from app.health import newest_incomplete, why_stale
from app.hopeless import not_configured
from app.parts import Parts
from app.settings import Settings
from ledger import ids, runs, sources
from ledger import users as people
from ledger.collections import LOCKS
from ledger.records import Health, SourceState
from ledger.store import StoreError
from mail import envelope
from mail.transports.port import Check, Checkable

TRIAL_ID = "~doctor"
ASK_MAX_S = 10.0
SKEW_MAX_S = 60.0
EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)  # a clock before this program was written is wrong
WELL = frozenset({Health.OK, Health.NOT_MODIFIED})


async def examine(parts: Parts, *, txt: Txt) -> AsyncIterator[Line]:
    """Line by line, as they come in."""
    for line in of_settings(parts.settings):
        yield line
    store_lines = [line async for line in _store(parts)]
    for line in store_lines:
        yield line
    check = await _mail_check(parts)
    for line in _clock(parts, check):
        yield line
    if all(line.level is not Level.FAIL for line in store_lines):
        async for line in _history(parts):
            yield line
        async for line in _sources(parts):
            yield line
    yield _mail(parts, check)
    for line in await _domain(parts, txt):
        yield line


def of_settings(settings: Settings) -> Iterator[Line]:
    """What the settings allow, and somebody will regret."""
    yield Line(Level.OK, "settings", "all can be read")
    if settings.cron_secret is None:
        mend = "SCOUT_CRON_SECRET=$(python3 -c 'import secrets; print(secrets.token_hex(24))'), or make serve"
        yield Line(Level.WARN, "secret", "none: scout serve does not start; scout cron does", mend)
    else:
        yield Line(Level.OK, "secret", "set")
    if settings.allow_query_secret:
        mend = "send it in a header and unset SCOUT_ALLOW_QUERY_SECRET"
        yield Line(Level.WARN, "secret", "it is taken from the query too, where logs keep it", mend)
    yield _base_url(settings)
    if settings.allow_loopback:
        yield Line(Level.WARN, "sources", "loopback and file: are fetched", "unset SCOUT_ALLOW_LOOPBACK but for trials")
    if settings.operator is None:
        yield Line(Level.WARN, "operator", "nobody is told of trouble", "set SCOUT_OPERATOR to your address")
    else:
        yield Line(Level.OK, "operator", settings.operator)


def _base_url(settings: Settings) -> Line:
    parts = urlsplit(settings.base_url)
    if parts.hostname in ("127.0.0.1", "localhost", "::1"):
        mend = "set SCOUT_BASE_URL to the public address"
        return Line(Level.WARN, "base url", f"{settings.base_url}: links in letters open on this machine only", mend)
    if parts.scheme != "https":
        mend = "serve it by https: one-click unsubscribing and the session's cookie need that"
        return Line(Level.WARN, "base url", f"{settings.base_url} is not https", mend)
    return Line(Level.OK, "base url", settings.base_url)


async def _store(parts: Parts) -> AsyncIterator[Line]:
    kind = parts.settings.store.partition(":")[0]
    try:
        await parts.store.ping()
        await parts.store.put(LOCKS, {TRIAL_ID: {"nonce": ids.new_nonce()}})
        await parts.store.delete(LOCKS, [TRIAL_ID])
    except StoreError as error:
        mend = "is the path right, and may this user write there?"
        if kind != "sqlite":
            mend = "are project, database and credentials right?"
        yield Line(Level.FAIL, "store", f"{kind} cannot be used: {error}", mend)
        return
    yield Line(Level.OK, "store", f"{kind} reads and writes")


def _clock(parts: Parts, check: Check | None) -> Iterator[Line]:
    now = parts.clock()
    if now < EARLIEST:
        yield Line(Level.FAIL, "clock", f"this machine says {now:%Y-%m-%d %H:%M} UTC", "set it, or start NTP")
        return
    if check is not None and check.server_time_s is not None:
        skew_s = time.time() - check.server_time_s
        if abs(skew_s) > SKEW_MAX_S:
            yield Line(Level.FAIL, "clock", f"{skew_s:+.0f} s off the mail provider's", "start NTP")
            return
    try:
        ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        yield Line(Level.FAIL, "clock", "no time zones are known here", "install the package tzdata")
        return
    yield Line(Level.OK, "clock", f"{now:%Y-%m-%d %H:%M} UTC")


async def _history(parts: Parts) -> AsyncIterator[Line]:
    """Whether somebody calls."""
    last = await runs.last_complete_at(parts.store)
    now = parts.clock()
    if last is None:
        yield Line(Level.WARN, "runs", "no complete run yet", "scout cron, then have somebody call /cron")
    elif last > now + timedelta(seconds=SKEW_MAX_S):
        yield Line(Level.FAIL, "clock", f"the last run ended in the future, at {last:%Y-%m-%d %H:%M} UTC", "start NTP")
    else:
        what = f"the last complete one ended at {last:%Y-%m-%d %H:%M} UTC"
        is_stale = now - last > timedelta(seconds=parts.settings.stale_after_s)
        why = why_stale(await newest_incomplete(parts, last, now=now)) if is_stale else ""
        yield Line(Level.FAIL, "runs", what, why) if is_stale else Line(Level.OK, "runs", what)


async def _sources(parts: Parts) -> AsyncIterator[Line]:
    if not parts.sources:
        yield Line(Level.FAIL, "sources", "none is configured", "scout sources add URL, or unset SCOUT_SOURCES")
    states, bad = await sources.every_state(parts.store)
    for error in bad:
        yield Line(Level.FAIL, "sources", str(error), "remove the document; the source then begins anew")
    known = {state.name: state for state in states}
    for name in parts.sources:
        yield _source(name, known.get(name))
    async for line in _searches(parts):
        yield line


async def _searches(parts: Parts) -> AsyncIterator[Line]:
    """People whose searches name sources that are not there any more: they wait for what never comes."""
    who: list[str] = []
    gone: set[str] = set()
    async for user in people.everyone(parts.store, _left_to_verify):
        names = [n for search in user.searches.values() for n in not_configured(search, parts.sources.values())]
        if names and user.active:
            who.append(user.address)
            gone.update(names)
    if who:
        more = f" and {len(who) - 1} more" if len(who) > 1 else ""
        what = f"not configured, and asked for by {who[0]}{more}: {', '.join(sorted(gone))}"
        yield Line(Level.WARN, "searches", what, "scout users add ADDRESS --sources ..., or configure them again")


def _left_to_verify(_uid: str, _error: Exception) -> None:
    """A document that cannot be read is `scout verify`'s to tell."""


def _source(name: str, state: SourceState | None) -> Line:
    if state is None or state.polled_at is None or state.health is None:
        return Line(Level.OK, f"source {name}", "not asked yet")
    if state.health in WELL:
        return Line(Level.OK, f"source {name}", f"answered at {state.polled_at:%Y-%m-%d %H:%M} UTC")
    what = f"{state.health}, {'once' if state.failures == 1 else f'{state.failures} times in a row'}: {state.reason}"
    return Line(Level.FAIL, f"source {name}", what, "open its URL; scout sources says when it is asked again")


async def _mail_check(parts: Parts) -> Check | None:
    transport = parts.transport
    return await transport.check(at_most_s=ASK_MAX_S) if isinstance(transport, Checkable) else None


def _mail(parts: Parts, check: Check | None) -> Line:
    name = f"mail {parts.transport.name}"
    if check is None or check.ok is None:
        return Line(Level.SKIP, name, check.what if check else "it cannot be tried without sending")
    return Line(Level.OK if check.ok else Level.FAIL, name, check.what, check.mend)


async def _domain(parts: Parts, txt: Txt) -> list[Line]:
    try:
        domain = envelope.sender_address(parts.site.mail_from).rpartition("@")[2]
    except envelope.BadSender as error:
        return [Line(Level.FAIL, "sender", str(error), "set SCOUT_MAIL_FROM, such as Scout <scout@example.com>")]
    if parts.settings.outbox is not None:
        return [Line(Level.SKIP, "sender", f"{domain}; letters stay in the outbox, so DNS is not asked")]
    if is_reserved(domain):
        what = f"{domain} is nobody's: no mailbox takes letters from it"
        return [Line(Level.FAIL, "sender", what, "set SCOUT_MAIL_FROM to an address of a domain of yours")]
    return [Line(Level.OK, "sender", domain), *await records(domain, txt), *_events(parts.settings)]


def _events(settings: Settings) -> Iterator[Line]:
    if settings.mail.startswith("sendgrid:") and settings.sendgrid_webhook_key is None:
        mend = "switch on signed events to /webhooks/sendgrid, and set SCOUT_SENDGRID_WEBHOOK_KEY"
        yield Line(Level.WARN, "events", "bounces and complaints are not heard", mend)
