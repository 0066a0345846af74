"""One log line a request, by the route's template: queries may hold a secret, and paths a token."""

from __future__ import annotations

import logging
import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger()

NO_ROUTE = "(none)"
UNANSWERED = 0  # the status of a request that broke before its answer began


class AccessLog:
    """Outermost, so that it sees what the caller sees."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = UNANSWERED
        began_s = time.monotonic()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            log.log(
                logging.ERROR if status >= 500 or status == UNANSWERED else logging.INFO,
                "request",
                method=scope["method"],
                route=getattr(scope.get("route"), "path", NO_ROUTE),
                status=status,
                took_s=round(time.monotonic() - began_s, 3),
            )
