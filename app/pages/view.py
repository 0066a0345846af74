"""How a page is answered: one template, strict headers, and the two files that pages may load, named by content."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.pages import words
from app.pages.cookies import is_loopback_http
from app.pages.visitor import Visitor, is_operator
from app.settings import Settings

router = APIRouter()

_CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_CSP_SCRIPT = f"{_CSP}; script-src 'self'; connect-src 'self'"
HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "X-Robots-Tag": "noindex",
}
HSTS = "max-age=31536000"
THEN = re.compile(r"/(?:me|status)(?:/[A-Za-z0-9_-]{1,100}){0,3}")  # our own pages, and nothing that leads elsewhere
STATIC_TYPES = {"style.css": "text/css", "scout.js": "text/javascript", "icon.svg": "image/svg+xml"}
STATIC_KEPT = "public, max-age=31536000, immutable"  # the name changes with the content


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    url: str


@cache
def asset(name: str) -> Asset:
    content = files("app").joinpath("pages", "static", name).read_bytes()
    return Asset(content, f"/static/{hashlib.sha256(content).hexdigest()[:12]}/{name}")


@router.get("/static/{version}/{name}", include_in_schema=False)
async def static(version: str, name: str) -> Response:  # noqa: ARG001 - the version is for caches
    if name not in STATIC_TYPES:
        return Response("not found", status_code=404, media_type="text/plain")
    return Response(asset(name).content, media_type=STATIC_TYPES[name], headers={"Cache-Control": STATIC_KEPT})


def page(request: Request, template: str, *, status: int = 200, script: bool = False, **facts: Any) -> HTMLResponse:
    """The template as an answer. `script` lets our own file run; a page that spends a link has none."""
    settings: Settings = request.app.state.settings
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    told = {
        "css": asset("style.css").url,
        "icon": asset("icon.svg").url,
        "js": asset("scout.js").url if script else "",
        "path": request.url.path,
        "visitor": visitor,
        "is_operator": visitor is not None and is_operator(visitor, settings),
        **facts,
    }
    html = environment().get_template(template).render(told)
    headers = {"Content-Security-Policy": _CSP_SCRIPT} if script else {}
    return HTMLResponse(html, status_code=status, headers=headers)


def part(template: str, **facts: Any) -> HTMLResponse:
    """A piece of a page, for the script to put in its place."""
    return HTMLResponse(environment().get_template(template).render(facts))


def go(url: str) -> RedirectResponse:
    """On to a page of ours, by GET."""
    return RedirectResponse(url, status_code=303)


def checked_then(typed: str, default: str = "/me") -> str:
    """A page of ours to go on to; anything else is the default."""
    return typed if THEN.fullmatch(typed) else default


@cache
def environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: files("app").joinpath("pages", "templates", name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= words.FILTERS
    return made


class PageHeaders:
    """What every answer carries unless its page says otherwise; what is kept by caches is no page of anybody's."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        given = HEADERS | ({"Strict-Transport-Security": HSTS} if settings.base_url.startswith("https://") else {})
        self._headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                had = {name.lower() for name, _ in message.get("headers", [])}
                more = [(name, value) for name, value in self._headers if name not in had]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        await self._app(scope, receive, sent if scope["type"] == "http" else send)


def can_sign_in(settings: Settings) -> bool:
    """A session needs https, or a trial on loopback."""
    return settings.base_url.startswith("https://") or is_loopback_http(settings.base_url)
