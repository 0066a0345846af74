"""Two cookies: one says who is signed in, one tells two clicks of one browser from two browsers.

`__Host-` pins a cookie to this very host, https only; plain names without Secure are for trials on loopback.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from urllib.parse import urlsplit

from fastapi import Request, Response

from app.settings import Settings
from ledger.sessions import AGE_MAX
from ledger.sign_in import LINK_VALID

SESSION, BROWSER = "scout", "scout-browser"
BROWSER_BYTES = 16


def is_loopback_http(base_url: str) -> bool:
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    return parts.scheme == "http" and is_loopback


def session_key(request: Request) -> str:
    """The key of the session, empty without one."""
    return request.cookies.get(_name(request, SESSION), "")


def set_session(request: Request, response: Response, key: str) -> None:
    _set(request, response, SESSION, key, max_age_s=int(AGE_MAX.total_seconds()))


def clear_session(request: Request, response: Response) -> None:
    _set(request, response, SESSION, "", max_age_s=0)


def browser_id(request: Request) -> str:
    """A hash of this browser's cookie, empty without one."""
    value = request.cookies.get(_name(request, BROWSER), "")
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest() if value else ""


def know_browser(request: Request, response: Response) -> None:
    """Give the browser its cookie, unless it has one."""
    if not browser_id(request):
        lives_s = int(LINK_VALID.total_seconds())
        _set(request, response, BROWSER, secrets.token_urlsafe(BROWSER_BYTES), max_age_s=lives_s)


def _set(request: Request, response: Response, name: str, value: str, *, max_age_s: int) -> None:
    is_secure = not _is_plain(request)
    response.set_cookie(
        _name(request, name), value, max_age=max_age_s, path="/", secure=is_secure, httponly=True, samesite="lax"
    )


def _name(request: Request, name: str) -> str:
    return name if _is_plain(request) else f"__Host-{name}"


def _is_plain(request: Request) -> bool:
    settings: Settings = request.app.state.settings
    return is_loopback_http(settings.base_url)
