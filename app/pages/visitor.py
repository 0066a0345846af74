"""Who is looking: the session of the cookie, and the user behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import Request

from app.pages.cookies import session_key
from app.parts import Parts
from app.settings import Settings
from ledger import sessions, users
from ledger.ids import BadAddress, canonical_address
from ledger.records import User


class SignInFirst(Exception):
    """The page needs a session; `then` is where to go on afterwards. `lost`: a form came, and changed nothing."""

    def __init__(self, then: str, *, lost: bool = False) -> None:
        super().__init__("not signed in")
        self.then, self.lost = then, lost


@dataclass(frozen=True, slots=True)
class Visitor:
    user: User
    now: datetime  # one instant for the whole page

    @property
    def uid(self) -> str:
        return self.user.uid


async def visitor_of(request: Request) -> Visitor | None:
    """The signed-in person, or None. Raises StoreError, BadRecord."""
    parts = parts_of(request)
    now = parts.clock()
    key = session_key(request)
    session = await sessions.find(parts.store, key, now=now) if key else None
    if session is None:
        return None
    found = await users.read(parts.store, session.uid)
    if found is None or not found.record.address:
        return None
    visitor = Visitor(found.record, now)
    request.state.visitor = visitor
    return visitor


async def signed_in(request: Request, *, form: str = "/me") -> Visitor:
    """The signed-in person; `form` is the page that a form came from. Raises SignInFirst, StoreError, BadRecord."""
    visitor = await visitor_of(request)
    if visitor is None:
        is_form = request.method == "POST"
        raise SignInFirst(form if is_form else request.url.path, lost=is_form)
    return visitor


def is_operator(visitor: Visitor, settings: Settings) -> bool:
    if settings.operator is None:
        return False
    try:
        return canonical_address(visitor.user.address) == canonical_address(settings.operator)
    except BadAddress:
        return False


def parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts
