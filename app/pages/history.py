"""What came of every job that fitted, and what its person thinks of it."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.pages.form import Refused, read_form
from app.pages.schema import form_of
from app.pages.view import checked_then, go, page
from app.pages.visitor import parts_of, signed_in
from ledger import feedback, ids
from ledger.collections import DELIVERIES
from ledger.documents import BadRecord, decode
from ledger.feedback import Opinion
from ledger.records import Delivery, User
from ledger.store import Store, every
from ledger.users import GHOST_WHY

router = APIRouter(default_response_class=HTMLResponse)

PAGE_ROWS = 30
READ_MAX_ROWS = 5_000
PAGES_MAX = 10_000
KEY_MAX_CHARS = 100


@router.get("/me/history")
async def history(request: Request) -> Response:
    visitor = await signed_in(request)
    store = parts_of(request).store
    number = _page_number(request.query_params.get("page", "1"))
    rows, unreadable = await rows_of(store, visitor.uid)
    rows.sort(key=lambda row: (row.created_at, row.score), reverse=True)
    first = (number - 1) * PAGE_ROWS
    return page(
        request, "history.html", rows=rows[first : first + PAGE_ROWS], total=len(rows), first=first, number=number,
        has_more=len(rows) > first + PAGE_ROWS, opinions=await feedback.said(store, visitor.uid),
        unreadable=unreadable, now=visitor.now,
    )  # fmt: skip


@router.get("/me/jobs/{key}")
async def job(request: Request, key: str) -> Response:
    """One job, and two buttons; where the links in letters lead. Changes nothing."""
    visitor = await signed_in(request)
    store = parts_of(request).store
    row = await _row(store, visitor.uid, key)
    said = (await feedback.said(store, visitor.uid)).get(key)
    url, label = _search_of(visitor.user, row)
    return page(
        request, "job.html", row=row, said=said, now=visitor.now, search_url=url, search_label=label,
        noted="noted" in request.query_params,
    )  # fmt: skip


@router.post("/me/jobs/{key}", openapi_extra=form_of("opinion", "then"))
async def say(request: Request, key: str) -> Response:
    visitor = await signed_in(request)
    form = await read_form(request)
    store = parts_of(request).store
    await _row(store, visitor.uid, key)
    typed = form.text("opinion")
    if typed and typed not in set(Opinion):
        raise Refused(400, "That is no answer that this page knows.")
    await feedback.say(store, visitor.uid, key, Opinion(typed) if typed else None, now=visitor.now)
    then = checked_then(form.text("then"), default="")
    if then == "/me/history":
        return go(f"/me/history?page={_page_number(form.text('page'))}#{key}")
    return go(f"/me/jobs/{key}?noted=1")


def _search_of(user: User, row: Delivery) -> tuple[str, str]:
    """Where the search is changed that the job fits, and a name for the link."""
    name = row.search or (next(iter(user.searches)) if len(user.searches) == 1 else "")
    if name not in user.searches:  # renamed or removed since, or the person had one then
        return "/me", "To your searches"
    return f"/me/search?{urlencode({'name': name})}", f"Change the search {name}"


async def rows_of(store: Store, uid: str) -> tuple[list[Delivery], int]:
    """Every delivery of one person, but for the bare ids that a deletion left; and how many cannot be read."""
    rows: list[Delivery] = []
    unreadable = 0
    async for snapshot in every(store, DELIVERIES, {"uid": uid}):
        try:
            row = decode(Delivery, snapshot)
        except BadRecord:
            unreadable += 1
            continue
        if row.why != GHOST_WHY:
            rows.append(row)
        if len(rows) >= READ_MAX_ROWS:
            break
    return rows, unreadable


async def _row(store: Store, uid: str, key: str) -> Delivery:
    id_ = ids.pair_id(uid, key)
    is_key = len(key) <= KEY_MAX_CHARS and key.isascii() and key.isalnum()
    snapshot = (await store.get(DELIVERIES, [id_])).get(id_) if is_key else None
    if snapshot is None:
        raise Refused(404, "No job of yours has this address. Rows are kept for 90 days.")
    return decode(Delivery, snapshot)


def _page_number(typed: str) -> int:
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= 5
    return max(1, min(int(typed), PAGES_MAX)) if is_number else 1
