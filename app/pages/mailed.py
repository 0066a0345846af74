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
    Refusal.UNKNOWN: "This link is not one of ours, or not whole. Copy all of it from the mail.",
    Refusal.TOO_OLD: "This link is too old: links work for 15 minutes. Ask for a new one.",
    Refusal.SPENT: "This link was used already: each works once. Ask for a new one.",
}


async def shown(request: Request, token: str, purposes: Sequence[Purpose], template: str) -> Response:
    """The page with its button. Scanners may come here as often as they like. Raises StoreError."""
    parts = parts_of(request)
    found: Link | Refusal = Refusal.UNKNOWN
    if len(token) <= TOKEN_MAX_CHARS:
        found = await sign_in.look(parts.store, token, purposes, browser=browser_id(request), now=parts.clock())
    if isinstance(found, Refusal):
        return _refused(request, found)
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
    return _refused(request, found) if isinstance(found, Refusal) else found


def _refused(request: Request, why: Refusal) -> HTMLResponse:
    return page(request, "front.html", status=410, then="", typed="", error=SAID[why], can_sign_in=True)
