"""The account: its address, where it is signed in, everything that is kept of it, and the way out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from app.pages import mailed
from app.pages.asking import may_ask, send_note
from app.pages.cookies import clear_session, session_key
from app.pages.form import Refused, read_form, refuse_other_sites, told_wrong
from app.pages.schema import form_of
from app.pages.view import go, page
from app.pages.visitor import Visitor, parts_of, signed_in
from app.parts import Parts
from app.profile import BadProfile
from app.typed import address_of
from ledger import addresses, ids, sessions, sign_in, users
from ledger.collections import DELIVERIES, DIGESTS, FEEDBACK, MATCHES, SESSIONS
from ledger.documents import encode
from ledger.sign_in import Purpose
from ledger.store import every
from mail import notes

router = APIRouter(default_response_class=HTMLResponse)

CONFIRM = (Purpose.OLD_ADDRESS, Purpose.NEW_ADDRESS)
EXPORTED = (DELIVERIES, DIGESTS, MATCHES, FEEDBACK, SESSIONS)
SESSION_ID = re.compile("[0-9a-f]{64}")
TOO_MANY = "Too many mails were asked for. Try again in an hour."
NOT_SENT = "The two mails could not both be sent. Check the address, or try again in a few minutes."


@router.get("/me/account")
async def account(request: Request) -> Response:
    visitor = await signed_in(request)
    return await _shown(request, visitor)


@router.post("/me/address", openapi_extra=form_of("email"))
async def change_address(request: Request) -> Response:
    """Ask both mailboxes. The answer does not tell whether the new one is known here."""
    visitor = await signed_in(request, form="/me/account")
    form = await read_form(request)
    parts = parts_of(request)
    typed = form.text("email")
    try:
        new = address_of(typed, smtputf8=parts.transport.smtputf8)
    except BadProfile as error:
        return await _shown(request, visitor, status=400, typed=typed, error=told_wrong(str(error)))
    if new == visitor.user.address:
        return await _shown(request, visitor, status=400, typed=typed, error="That is your address already.")
    if ids.uid_of(new) == ids.uid_of(visitor.user.address):  # the same mailbox, spelled otherwise
        await addresses.move(parts.store, visitor.uid, new, now=visitor.now)
        return go("/me/account?spelled=1")
    if not await may_ask(request, parts, ids.uid_of(new), now=visitor.now):
        return await _shown(request, visitor, status=429, typed=typed, error=TOO_MANY)
    if not await _ask_both(parts, visitor, new):
        return await _shown(request, visitor, status=503, typed=typed, error=NOT_SENT)
    return await _shown(request, visitor, asked=new)


async def _ask_both(parts: Parts, visitor: Visitor, new: str) -> bool:
    now, site = visitor.now, parts.site
    old_token, old_link = sign_in.new_link(Purpose.OLD_ADDRESS, visitor.uid, new, now=now)
    new_token, new_link = sign_in.new_link(Purpose.NEW_ADDRESS, visitor.uid, new, now=now)
    old_link = replace(old_link, other=sign_in.link_key(new_token))
    new_link = replace(new_link, other=sign_in.link_key(old_token))
    await sign_in.keep(parts.store, {old_token: old_link, new_token: new_link})
    asks_old = notes.leave_old_address(
        visitor.user.address, new=new, url=f"{site.base_url}/confirm/{old_token}",
        outside_id=ids.outside_id(old_link.nonce), at=now, site=site,
    )  # fmt: skip
    asks_new = notes.confirm_new_address(
        new, url=f"{site.base_url}/confirm/{new_token}", outside_id=ids.outside_id(new_link.nonce), at=now, site=site
    )
    return await send_note(parts, asks_old, now=now) and await send_note(parts, asks_new, now=now)


@router.get("/confirm/{token}")
@router.head("/confirm/{token}", include_in_schema=False)
async def confirm_page(request: Request, token: str) -> Response:
    """What is going to change, and a button."""
    return await mailed.shown(request, token, CONFIRM, "confirm.html")


@router.post("/confirm/{token}")
async def confirm(request: Request, token: str) -> Response:
    """One of two mailboxes agrees; whoever comes second makes the change."""
    link = await mailed.spent(request, token, CONFIRM)
    if isinstance(link, Response):
        return link
    parts = parts_of(request)
    other = await sign_in.read(parts.store, link.other)
    if other is None or other.record.spent_at is None:
        waits = "new" if link.purpose is Purpose.OLD_ADDRESS else "old"
        return page(request, "confirmed.html", address=link.address, waits=waits)
    if not await addresses.move(parts.store, link.uid, link.address, now=parts.clock()):
        reason = "This address has a page of its own here, so it cannot be taken. Delete that page first."
        raise Refused(409, reason)
    await sign_in.forget(parts.store, link.uid, but=(sign_in.link_key(token), link.other))
    return page(request, "confirmed.html", address=link.address, waits="")


@router.post("/me/sign-out-there", openapi_extra=form_of("session"))
async def sign_out_there(request: Request) -> Response:
    """End one session of theirs; the one that asks goes on."""
    visitor = await signed_in(request, form="/me/account")
    form = await read_form(request)
    if SESSION_ID.fullmatch(id_ := form.text("session")):
        await sessions.end_one(parts_of(request).store, visitor.uid, id_)
    return go("/me/account?ended=1")


@router.post("/me/sign-out-everywhere")
async def sign_out_everywhere(request: Request) -> Response:
    refuse_other_sites(request)
    visitor = await signed_in(request, form="/me/account")
    store = parts_of(request).store
    await sign_in.forget(store, visitor.uid)
    await sessions.end_all(store, visitor.uid)
    answer = go("/")
    clear_session(request, answer)
    return answer


@router.get("/me/export.json")
async def export(request: Request) -> Response:
    """Everything that is kept of the person, but for what opens doors."""
    visitor = await signed_in(request)
    store = parts_of(request).store
    kept: dict[str, Any] = {"exported_at": visitor.now.isoformat(), "user": _plain(encode(visitor.user), "token")}
    for name in EXPORTED:
        kept[name] = [_plain(snapshot.data, "nonce") async for snapshot in every(store, name, {"uid": visitor.uid})]
    disposition = {"Content-Disposition": 'attachment; filename="scout-export.json"'}
    return JSONResponse(kept, headers=disposition)


@router.get("/me/delete")
async def delete_page(request: Request) -> Response:
    await signed_in(request)
    return page(request, "delete.html")


@router.post("/me/delete")
async def delete(request: Request) -> Response:
    """Remove the person and all that is kept of them, then say goodbye once."""
    refuse_other_sites(request)
    visitor = await signed_in(request, form="/me/account")
    parts = parts_of(request)
    await users.delete(parts.store, visitor.uid, now=visitor.now)
    letter = notes.goodbye(
        visitor.user.address, outside_id=ids.outside_id(ids.new_nonce()), at=visitor.now, site=parts.site
    )
    await send_note(parts, letter, now=visitor.now)
    request.state.visitor = None
    answer = page(request, "deleted.html")
    clear_session(request, answer)
    return answer


async def _shown(
    request: Request, visitor: Visitor, *, status: int = 200, typed: str = "", error: str = "", asked: str = ""
) -> Response:
    signed = await sessions.of(parts_of(request).store, visitor.uid, now=visitor.now)
    return page(
        request, "account.html", status=status, user=visitor.user, typed=typed, error=error, asked=asked,
        spelled="spelled" in request.query_params,
        sessions=sorted(signed.items(), key=lambda pair: pair[1].created_at, reverse=True),
        this_one=sessions.session_id(session_key(request)), ended="ended" in request.query_params, now=visitor.now,
    )  # fmt: skip


def _plain(value: Any, *without: str) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in without}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
