"""Links that came by mail: GET shows what one would do and spends nothing, POST spends it, once."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.pages.cookies import browser_id, know_browser
from app.pages.form import refuse_other_sites
from app.pages.view import page
from app.pages.visitor import parts_of
from ledger import sign_in
from ledger.sign_in import TOKEN_MAX_CHARS, Link, Purpose, Refusal

SAID = {
    Refusal.UNKNOWN: "It is no longer known here, or not whole: copy all of it from the mail.",
    Refusal.TOO_OLD: "It is too old: links work for 15 minutes.",
    Refusal.SPENT: "It was used already: each link works once.",
}


async def shown(request: Request, token: str, purposes: Sequence[Purpose], template: str) -> Response:
    """The page with its button. Scanners may come here as often as they like. Raises StoreError."""
    parts = parts_of(request)
    found: Link | Refusal = Refusal.UNKNOWN
    if len(token) <= TOKEN_MAX_CHARS:
        found = await sign_in.look(parts.store, token, purposes, browser=browser_id(request), now=parts.clock())
    if isinstance(found, Refusal):
        return await _refused(request, token, purposes, found)
    answer = page(request, template, address=found.address, token=token)
    know_browser(request, answer)
    return answer


async def spent(request: Request, token: str, purposes: Sequence[Purpose]) -> Link | HTMLResponse:
    """The link, which works for nobody after this; or the page that says why not. Raises Refused, StoreError."""
    refuse_other_sites(request)
    parts = parts_of(request)
    found: Link | Refusal = Refusal.UNKNOWN
    if len(token) <= TOKEN_MAX_CHARS:
        found = await sign_in.spend(parts.store, token, purposes, browser=browser_id(request), now=parts.clock())
    return await _refused(request, token, purposes, found) if isinstance(found, Refusal) else found


async def _refused(request: Request, token: str, purposes: Sequence[Purpose], why: Refusal) -> HTMLResponse:
    """A page of its own that says what to do; a new link leads where the old one would have."""
    held = await sign_in.read(parts_of(request).store, sign_in.link_key(token)) if why is not Refusal.UNKNOWN else None
    then = held.record.then if held is not None else ""
    is_change = Purpose.SIGN_IN not in purposes
    return page(request, "refused.html", status=410, why=SAID[why], is_change=is_change, then=then, typed="", error="")
