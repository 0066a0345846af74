"""/unsubscribe/{token}: a GET shows a button, only a POST leaves. Mail programs and scanners open every link.

One-click (RFC 8058): the mailbox provider POSTs by itself, as a form or multipart, without cookie or origin; the answer
is 200, without a redirect, however often. What the body holds does not matter: the token says who, the method what.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, StrictUndefined, Template

from app.parts import Parts
from ledger import users
from ledger.store import StoreError

log = structlog.get_logger()
router = APIRouter()

STYLE = """
:root { color-scheme: light dark; --paper: #f3f2ee; --ink: #1f2428; --quiet: #5a636b; --deed: #17604a; --on-deed: #fff }
@media (prefers-color-scheme: dark) {
:root { --paper: #14171a; --ink: #e6e9ec; --quiet: #a7b0b8; --deed: #8ec5ae; --on-deed: #14171a } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.5 system-ui, sans-serif }
main { max-width: 32rem; margin: 0 auto; padding: 12vh 24px 48px }
.name { margin: 0; color: var(--quiet); font-weight: 600 }
h1 { margin: 8px 0 12px; font-size: 28px; line-height: 1.2 }
button { min-height: 48px; padding: 0 28px; border: 0; border-radius: 8px; background: var(--deed);
color: var(--on-deed); font: inherit; font-weight: 600; cursor: pointer }
a { color: var(--deed) }
button:focus-visible, a:focus-visible { outline: 3px solid var(--quiet); outline-offset: 3px }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@router.get("/unsubscribe/{token}", response_class=HTMLResponse)
@router.head("/unsubscribe/{token}", include_in_schema=False, response_class=HTMLResponse)
async def ask(request: Request, token: str) -> HTMLResponse:
    """A page with a button, whoever asks and however often; it changes nothing. 404: nobody has this token."""
    parts: Parts = request.app.state.parts
    try:
        found = await users.find_by_token(parts.store, token)
    except StoreError:
        return _try_again()
    if found is None:
        return _unknown(parts)
    if found.data.get("stopped") is not None:
        return _done(parts)
    text = "One click, and Scout sends you nothing more: no alerts and no digests."
    return _page(200, "Unsubscribe?", text, asks=True, link=(f"{_me(parts)}/letters", "Get fewer letters instead"))


@router.post("/unsubscribe/{token}", response_class=HTMLResponse)
async def leave(request: Request, token: str) -> HTMLResponse:
    """Nothing more is sent from this moment. 200 also for a repeat; 404: nobody has this token."""
    parts: Parts = request.app.state.parts
    try:
        left = await users.unsubscribe(parts.store, token, now=parts.clock())
    except (StoreError, users.Contended):
        return _try_again()
    log.info("unsubscribed" if left else "unsubscribing with an unknown token")
    return _done(parts) if left else _unknown(parts)


def _done(parts: Parts) -> HTMLResponse:
    text = "Scout sends you nothing more. What was on its way when you clicked may still arrive."
    return _page(200, "You are unsubscribed", text, link=(_me(parts), "Changed your mind? Sign in"))


def _unknown(parts: Parts) -> HTMLResponse:
    text = (
        "This link belongs to nobody here. If you deleted your account, nothing is sent to you any more. Otherwise the "
        "link may have been cut: open it from the letter again, or sign in."
    )
    return _page(404, "Nobody has this link", text, link=(_me(parts), "Sign in"))


def _try_again() -> HTMLResponse:
    return _page(503, "That did not work", "Something of ours did not answer. Please try again in a minute.")


def _me(parts: Parts) -> str:
    return f"{parts.settings.base_url}/me"


def _page(status: int, title: str, text: str, *, asks: bool = False, link: tuple[str, str] = ("", "")) -> HTMLResponse:
    url, said = link
    shown = _template().render(title=title, text=text, asks=asks, url=url, said=said, style=STYLE)
    return HTMLResponse(shown, status_code=status, headers=HEADERS)


@cache
def _template() -> Template:
    source = files("app").joinpath("templates", "unsubscribe.html").read_text("utf-8")
    # The style is ours and holds nothing that escaping would change.
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
