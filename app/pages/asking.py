"""Asking for a link: the same work and the same answer whether or not anybody knows the address.

Nothing is created but the link. The letter goes out before the answer: there is no worker to hand it to, and
under a serverless host none of our code runs after the answer.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime
from enum import Enum, auto

import structlog
from fastapi import Request

from app.parts import Parts
from ledger import ids, limits, quota, sign_in
from ledger.addresses import home
from ledger.lifecycle import Outcome
from ledger.limits import Limit
from ledger.sign_in import Purpose
from mail import notes
from mail.letter import Letter

log = structlog.get_logger()

PER_ADDRESS = Limit("address", at_most=5)
PER_CALLER = Limit("caller", at_most=100)  # an office behind one address
OVERALL = Limit("overall", at_most=1000, shards=10)
SEND_MAX_S = 10.0


class Asked(Enum):
    """What came of it; no member tells whether the address is known."""

    SENT = auto()
    NOT_SENT = auto()  # the transport would not take it
    TOO_MANY = auto()


async def ask_for_link(request: Request, parts: Parts, address: str, *, then: str, now: datetime) -> Asked:
    """Mail a link that signs in. `address` is checked. Raises StoreError, BadRecord."""
    if not await may_ask(request, parts, ids.uid_of(address), now=now):
        return Asked.TOO_MANY
    found = await home(parts.store, address)
    known = found.user.record.address if found.user is not None else ""
    to = known or address
    token, link = sign_in.new_link(Purpose.SIGN_IN, found.uid, to, then=then, now=now)
    await sign_in.keep(parts.store, {token: link})
    url = f"{parts.site.base_url}/login/{token}"
    letter = notes.sign_in(to, url=url, outside_id=ids.outside_id(link.nonce), at=now, site=parts.site)
    return Asked.SENT if await send_note(parts, letter, now=now) else Asked.NOT_SENT


async def may_ask(request: Request, parts: Parts, uid: str, *, now: datetime) -> bool:
    """Take one from every limit, the narrowest first: a flood on one address spends nobody else's."""
    caller = caller_of(request)
    if not await limits.take(parts.store, PER_ADDRESS, uid, now=now):
        return False
    if caller and not await limits.take(parts.store, PER_CALLER, caller, now=now):
        return False
    return await limits.take(parts.store, OVERALL, "", now=now)


async def send_note(parts: Parts, letter: Letter, *, now: datetime) -> bool:
    """One attempt. True unless it provably was not taken; the day's limit on letters counts it."""
    daily_max = parts.settings.mail_daily_max
    if daily_max is not None:
        taken = await quota.take(parts.store, day=now.date(), want=1, daily_max=daily_max, digests=False)
        if not taken:
            log.warning("letter", kind=letter.kind, outside=letter.outside_id, outcome="none left today")
            return False
    attempt = await parts.transport.send(letter, at_most_s=SEND_MAX_S)
    log.info(
        "letter",
        kind=letter.kind,
        outside=letter.outside_id,
        outcome=attempt.outcome.value,
        reason=attempt.reason,
        receipt=attempt.receipt,
    )
    return attempt.outcome in (Outcome.ACCEPTED, Outcome.UNCLEAR)


def caller_of(request: Request) -> str:
    """The caller's network address, empty if only a proxy of ours is known.

    A peer with a private address is such a proxy, and the last address it added is whom it saw; a caller on the
    open internet cannot choose either. An IPv6 caller has a whole /64.
    """
    peer = request.client.host if request.client is not None else ""
    seen = _ip(peer)
    if seen is not None and seen.is_global:
        return _network(seen)
    forwarded = _ip(request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip())
    return _network(forwarded) if forwarded is not None and forwarded.is_global else ""


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _network(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(ip)
