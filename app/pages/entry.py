"""The front page, signing in by a link, and signing out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.pages import mailed
from app.pages.agents import browser_named
from app.pages.asking import Asked, ask_for_link
from app.pages.cookies import clear_session, session_key, set_session
from app.pages.form import read_form, refuse_other_sites, told_wrong
from app.pages.schema import form_of
from app.pages.view import can_sign_in, checked_then, go, page
from app.pages.visitor import parts_of, visitor_of
from app.profile import BadProfile
from app.settings import Settings
from app.typed import address_of
from ledger import sessions
from ledger.addresses import sign_up
from ledger.sign_in import Purpose

router = APIRouter(default_response_class=HTMLResponse)

SIGN_IN = (Purpose.SIGN_IN,)
HOUR_S = "3600"
TYPED_MAX_CHARS = 320


@router.get("/")
@router.head("/", include_in_schema=False)
async def front(request: Request) -> Response:
    visitor = await visitor_of(request)
    return _front(request, then=request.query_params.get("then", ""), visitor=visitor)


@router.get("/login")
async def login_page(request: Request) -> Response:
    return _front(request, then=request.query_params.get("then", ""), lost="lost" in request.query_params)


@router.post("/login", openapi_extra=form_of("email", "then"))
async def login(request: Request) -> Response:
    """Mail a link. The answer is the same for an address that is known and one that is not."""
    form = await read_form(request)
    parts = parts_of(request)
    typed, then = form.text("email"), form.text("then")
    try:
        address = address_of(typed, smtputf8=parts.transport.smtputf8)
    except BadProfile as error:
        return _front(request, status=400, then=then, typed=typed, error=told_wrong(str(error)))
    goes_on = checked_then(then, default="")
    match await ask_for_link(request, parts, address, then=goes_on, now=parts.clock()):
        case Asked.SENT:
            return page(request, "asked.html", address=address)
        case Asked.NOT_SENT:
            error_ = "The mail could not be sent. Check the address, or try again in a few minutes."
            return _front(request, status=503, then=then, typed=typed, error=error_)
        case Asked.TOO_MANY:
            error_ = "Too many links were asked for. Use the newest one, or try again in an hour."
            answer = _front(request, status=429, then=then, typed=typed, error=error_)
            answer.headers["Retry-After"] = HOUR_S
            return answer


@router.get("/login/{token}")
@router.head("/login/{token}", include_in_schema=False)
async def link_page(request: Request, token: str) -> Response:
    """Whose account it is, and a button."""
    return await mailed.shown(request, token, SIGN_IN, "link.html")


@router.post("/login/{token}")
async def use_link(request: Request, token: str) -> Response:
    """Spend the link and begin a session with a fresh key; whatever key the browser had ends."""
    link = await mailed.spent(request, token, SIGN_IN)
    if isinstance(link, Response):
        return link
    parts = parts_of(request)
    now = parts.clock()
    user = await sign_up(parts.store, link.uid, link.address, now=now)
    if old := session_key(request):
        await sessions.end(parts.store, old)
    browser = browser_named(request.headers.get("user-agent", ""))
    key = await sessions.begin(parts.store, user.uid, browser=browser, now=now)
    answer = go(checked_then(link.then, default="/me" if user.searches else "/me/search"))
    set_session(request, answer, key)
    return answer


@router.post("/logout")
async def logout(request: Request) -> Response:
    refuse_other_sites(request)
    if key := session_key(request):
        await sessions.end(parts_of(request).store, key)
    answer = go("/")
    clear_session(request, answer)
    return answer


def _front(
    request: Request,
    *,
    status: int = 200,
    then: str,
    typed: str = "",
    error: str = "",
    lost: bool = False,
    visitor: object = None,
) -> HTMLResponse:
    settings: Settings = request.app.state.settings
    template = "front.html" if visitor is None else "welcome.html"
    facts: dict[str, Any] = {
        "then": checked_then(then, default=""),
        "typed": typed[:TYPED_MAX_CHARS],
        "error": error,
        "lost": lost,
    }
    return page(request, template, status=status, can_sign_in=can_sign_in(settings), **facts)
