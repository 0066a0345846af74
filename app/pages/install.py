"""The pages put into the app: their routes, their headers, and what a refusal looks like."""

from __future__ import annotations

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from app.pages import account, entry, history, letters, me, rescore, search, status, view, why
from app.pages.form import Refused
from app.pages.view import PageHeaders, go, page
from app.pages.visitor import SignInFirst
from ledger.documents import BadRecord
from ledger.store import StoreError
from ledger.users import Contended

log = structlog.get_logger()

ROUTERS = (view, entry, me, search, letters, rescore, history, why, account, status)
TRY_AGAIN = "Scout cannot reach what it remembers at this moment. Nothing was changed; try again in a minute."


def install(app: FastAPI) -> None:
    for module in ROUTERS:
        app.include_router(module.router)
    app.add_exception_handler(SignInFirst, _sign_in_first)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    for error in (StoreError, BadRecord, Contended):
        app.add_exception_handler(error, _trouble)
    app.add_middleware(PageHeaders, settings=app.state.settings)


async def _sign_in_first(_request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInFirst)
    return go(f"/login?then={view.checked_then(error.then)}" + ("&lost=1" if error.lost else ""))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _told(request, error.status, error.reason)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if "text/html" not in request.headers.get("accept", ""):
        body = {"status": "error", "reason": error.detail}
        return JSONResponse(body, status_code=error.status_code, headers=error.headers)
    reason = "There is no page here." if error.status_code == 404 else f"That does not work here: {error.detail}."
    answer = _told(request, error.status_code, reason)
    answer.headers.update(error.headers or {})
    return answer


async def _trouble(request: Request, error: Exception) -> Response:
    log.warning("a page could not be answered", reason=str(error), kind=type(error).__name__)
    return _told(request, 503, TRY_AGAIN)


def _told(request: Request, status: int, reason: str) -> Response:
    return page(request, "error.html", status=status, reason=reason)
