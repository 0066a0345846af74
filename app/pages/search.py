"""One search: say what fits, and see what it would have found, before anything is saved."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.pages.draft import (
    FIRST_NAME,
    LISTS,
    NAME_TAKEN,
    Draft,
    check_whole,
    differing,
    kept_draft,
    mark_of,
    typed_draft,
    without_word,
)
from app.pages.form import Refused, read_form, told_kept
from app.pages.preview import Preview, preview
from app.pages.schema import form_of
from app.pages.view import go, page, part
from app.pages.visitor import Visitor, parts_of, signed_in
from app.parts import Parts
from ledger import users
from ledger.records import Search, User
from scan.match import usable_keywords

router = APIRouter(default_response_class=HTMLResponse)

NO_SEARCH = "There is no search of that name. It may have been renamed or removed."


class Moved(Exception):
    """The search is not what it was when the form was shown."""


@router.get("/me/search")
async def edit(request: Request) -> Response:
    visitor = await signed_in(request)
    was = request.query_params.get("name", "")
    if was and was not in visitor.user.searches:
        raise Refused(404, NO_SEARCH)
    draft = kept_draft(visitor.user, was, _sources(parts_of(request)))
    return await _shown(request, visitor, draft)


@router.post("/me/search", openapi_extra=form_of("was", "mark", "name", *LISTS, "do"))
async def save(request: Request) -> Response:
    """Save, or only try it: the same form, by the name of the button."""
    visitor = await signed_in(request, form="/me/search")
    form = await read_form(request)
    if form.has("remove"):
        form = without_word(form, form.text("remove"))
    draft = typed_draft(form, visitor.user, _sources(parts_of(request)))
    if form.has("remove") or form.text("do") == "preview":
        if request.headers.get("x-scout-part") == "preview":
            return part("_preview.html", tried=await _tried(request, visitor, draft), draft=draft)
        return await _shown(request, visitor, draft)
    check_whole(draft, visitor.user)
    if not draft.is_good:
        return await _shown(request, visitor, draft, status=400)
    try:
        user = await users.change(parts_of(request).store, visitor.uid, lambda user: _with(user, draft, visitor))
    except Moved:
        return await _conflict(request, visitor, draft)
    if user is None:
        raise Refused(410, "Your page was deleted meanwhile.")
    return go(f"/me?saved={quote(draft.name)}")


@router.get("/me/search/remove")
async def remove_page(request: Request) -> Response:
    """What would go, and a button."""
    visitor = await signed_in(request)
    return _removing(request, visitor.user, request.query_params.get("name", ""))


@router.post("/me/search/remove", openapi_extra=form_of("was", "mark"))
async def remove(request: Request) -> Response:
    visitor = await signed_in(request)
    form = await read_form(request)
    was, mark = form.text("was"), form.text("mark")
    store = parts_of(request).store

    def without(user: User) -> User:
        if was in user.searches and mark_of(user.searches[was]) != mark:
            raise Moved
        return replace(user, searches={name: search for name, search in user.searches.items() if name != was})

    try:
        await users.change(store, visitor.uid, without)
    except Moved:
        fresh = await users.read(store, visitor.uid)
        return _removing(request, fresh.record if fresh is not None else visitor.user, was, moved=True)
    return go("/me?removed=1")


def _removing(request: Request, user: User, was: str, *, moved: bool = False) -> Response:
    search = user.searches.get(was)
    if search is None:
        raise Refused(404, NO_SEARCH)
    kept, mark = differing(search, Search()), mark_of(search)
    return page(request, "remove.html", status=409 if moved else 200, was=was, mark=mark, kept=kept, moved=moved)


async def _conflict(request: Request, visitor: Visitor, draft: Draft) -> Response:
    """Somebody else, another tab most likely, was faster: say so, keep what was typed, let them choose."""
    fresh = await users.read(parts_of(request).store, visitor.uid)
    searches = fresh.record.searches if fresh is not None else {}
    kept = searches.get(draft.was)
    if draft.name != draft.was and draft.name in searches:
        draft.errors["name"] = NAME_TAKEN
    if kept is None:
        now_kept = "It is not there any more. Saving makes it anew." if draft.was else ""
        draft.was, draft.mark = "", mark_of(None)
    else:
        draft.mark = mark_of(kept)
        now_kept = told_kept(differing(kept, draft.search))
    draft.errors["moved"] = (
        f"Your searches were changed in another window since you opened this one. {now_kept}".strip()
    )
    return await _shown(request, visitor, draft, status=409)


def _with(user: User, draft: Draft, visitor: Visitor) -> User:
    kept = user.searches.get(draft.was) if draft.was else None
    if mark_of(kept) != draft.mark or (draft.name != draft.was and draft.name in user.searches):
        raise Moved
    searches = {draft.name if name == draft.was else name: search for name, search in user.searches.items()}
    searches[draft.name] = draft.search
    saved = replace(user, searches=searches)
    return users.with_catch_up(saved, now=visitor.now) if user.active else saved


async def _shown(request: Request, visitor: Visitor, draft: Draft, *, status: int = 200) -> Response:
    tried = await _tried(request, visitor, draft)
    return page(request, "search.html", status=status, script=True, draft=draft, tried=tried)


async def _tried(request: Request, visitor: Visitor, draft: Draft) -> Preview | None:
    """None while there is nothing to look for; the last days are read all the same, so that the first try is quick."""
    parts = parts_of(request)
    week = await request.app.state.week.jobs(parts.store, now=visitor.now)
    if not usable_keywords(draft.search):
        return None
    user = replace(visitor.user, searches={draft.name or FIRST_NAME: draft.search})
    cap = parts.settings.digest_cap
    return await asyncio.to_thread(preview, user, week, hour=parts.hour(user), digest_cap=cap)


def _sources(parts: Parts) -> list[str]:
    return sorted(parts.sources)
