"""One search: say what fits, and see what it would have found, before anything is saved."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.pages import fields, words
from app.pages.form import Form, Refused, read_form
from app.pages.preview import Preview, preview
from app.pages.schema import form_of
from app.pages.view import go, page, part
from app.pages.visitor import Visitor, parts_of, signed_in
from app.parts import Parts
from app.profile import BadProfile
from app.typed import keywords_of
from ledger import users
from ledger.records import Search, User, encode
from scan.keywords import BadKeywords, join_keywords, parse_keywords
from scan.match import usable_keywords
from scan.reasons import plain_line

router = APIRouter(default_response_class=HTMLResponse)

SEARCHES_MAX = 20
NAME_MAX_CHARS = 60
LISTS = {"keywords": "Keywords", "must": "All of these", "exclude": "None of these"}
_RESERVED = re.compile(r"__.*__")  # Firestore keeps such names for itself
FIRST_NAME = "My search"


class Moved(Exception):
    """The search is not what it was when the form was shown."""


@dataclass(slots=True)
class Draft:
    """A search as it stands in the form: typed, understood as far as possible, with what is wrong with it."""

    was: str  # its name as kept, empty for a new one
    mark: str  # of the kept search that the form was made from
    name: str
    lists: dict[str, str]
    gates: list[fields.Shown]
    search: Search
    errors: dict[str, str] = field(default_factory=dict)

    def chips(self, key: str) -> tuple[str, ...]:
        """The words of a list one by one, as far as it is understood."""
        return () if key in self.errors else getattr(self.search, key)

    @property
    def asks_more(self) -> bool:
        """Whether it has a condition besides its words, or a mistake in one: then they are shown at once."""
        return any(gate.error for gate in self.gates) or fields.asks(self.search)

    @property
    def is_good(self) -> bool:
        return not self.errors and not any(gate.error for gate in self.gates)


@router.get("/me/search")
async def edit(request: Request) -> Response:
    visitor = await signed_in(request)
    was = request.query_params.get("name", "")
    kept = visitor.user.searches.get(was)
    if was and kept is None:
        raise Refused(404, "There is no search of that name. It may have been renamed or removed.")
    parts = parts_of(request)
    search = kept or Search()
    name = was or _free_name(visitor.user)
    lists = {key: join_keywords(getattr(search, key)) for key in LISTS}
    draft = Draft(was, mark_of(kept), name, lists, fields.shown(search, _sources(parts)), search)
    return await _shown(request, visitor, draft)


@router.post("/me/search", openapi_extra=form_of("was", "mark", "name", *LISTS, "do"))
async def save(request: Request) -> Response:
    """Save, or only try it: the same form, by the name of the button."""
    visitor = await signed_in(request)
    form = await read_form(request)
    if form.has("remove"):
        form = without_word(form, form.text("remove"))
    draft = _draft(form, visitor.user, _sources(parts_of(request)))
    if form.has("remove") or form.text("do") == "preview":
        if request.headers.get("x-scout-part") == "preview":
            return part("_preview.html", tried=await _tried(request, visitor, draft), draft=draft)
        return await _shown(request, visitor, draft)
    if form.text("do") == "delete":
        return await _remove(request, visitor, draft)
    _check_whole(draft, visitor.user)
    if not draft.is_good:
        return await _shown(request, visitor, draft, status=400)
    try:
        user = await users.change(parts_of(request).store, visitor.uid, lambda user: _with(user, draft, visitor))
    except Moved:
        return await _conflict(request, visitor, draft)
    if user is None:
        raise Refused(410, "Your page was deleted meanwhile.")
    return go(f"/me?saved={quote(draft.name)}")


async def _remove(request: Request, visitor: Visitor, draft: Draft) -> Response:
    def without(user: User) -> User:
        if draft.was in user.searches and mark_of(user.searches[draft.was]) != draft.mark:
            raise Moved
        return replace(user, searches={k: v for k, v in user.searches.items() if k != draft.was})

    try:
        await users.change(parts_of(request).store, visitor.uid, without)
    except Moved:
        return await _conflict(request, visitor, draft)
    return go("/me?removed=1")


async def _conflict(request: Request, visitor: Visitor, draft: Draft) -> Response:
    """Somebody else, another tab most likely, was faster: say so, keep what was typed, let them choose."""
    fresh = await users.read(parts_of(request).store, visitor.uid)
    kept = fresh.record.searches.get(draft.was) if fresh is not None else None
    if kept is None and draft.was:
        draft.was, draft.mark = "", mark_of(None)
        now_kept = "It is not there any more. Saving makes it anew."
    else:
        draft.mark = mark_of(kept)
        keywords = join_keywords((*kept.keywords, *kept.must)) if kept else ""
        now_kept = f"Kept now: {keywords or 'no keywords'}. Saving again replaces it by what you see here."
    draft.errors["moved"] = f"This search was changed in another window since you opened it here. {now_kept}"
    return await _shown(request, visitor, draft, status=409)


def _with(user: User, draft: Draft, visitor: Visitor) -> User:
    kept = user.searches.get(draft.was) if draft.was else None
    if mark_of(kept) != draft.mark or (draft.name != draft.was and draft.name in user.searches):
        raise Moved
    searches = {draft.name if name == draft.was else name: search for name, search in user.searches.items()}
    searches[draft.name] = draft.search
    saved = replace(user, searches=searches)
    return users.with_catch_up(saved, now=visitor.now) if user.active else saved


def _draft(form: Form, user: User, sources: list[str]) -> Draft:
    was = form.text("was")
    kept = user.searches.get(was, Search())
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    for key, label in LISTS.items():
        try:
            values[key] = keywords_of(form.text(key), label) or ()
        except BadProfile as error:
            errors[key] = words.sentence(str(error).removeprefix(f"{label}: "))
    gates, gate_values = fields.typed(form, kept, sources)
    search = replace(kept, **values, **gate_values)
    lists = {key: form.text(key) for key in LISTS}
    return Draft(was, form.text("mark"), plain_line(form.text("name")), lists, gates, search, errors)


def _check_whole(draft: Draft, user: User) -> None:
    """What only matters once it is saved."""
    if not draft.name or len(draft.name) > NAME_MAX_CHARS or _RESERVED.fullmatch(draft.name):
        draft.errors["name"] = f"Give it a name of at most {NAME_MAX_CHARS} characters."
    elif draft.name != draft.was and draft.name in user.searches:
        draft.errors["name"] = "Another search of yours has this name."
    if "keywords" not in draft.errors and "must" not in draft.errors and not usable_keywords(draft.search):
        draft.errors["keywords"] = "Without a keyword no job ever fits. Add one, such as: python"
    if draft.was not in user.searches and len(user.searches) >= SEARCHES_MAX:
        draft.errors["name"] = f"You have {SEARCHES_MAX} searches, and that is the most. Remove one first."


async def _shown(request: Request, visitor: Visitor, draft: Draft, *, status: int = 200) -> Response:
    tried = await _tried(request, visitor, draft)
    return page(request, "search.html", status=status, script=True, draft=draft, labels=LISTS, tried=tried)


async def _tried(request: Request, visitor: Visitor, draft: Draft) -> Preview | None:
    """None while there is nothing to look for; the last days are read all the same, so that the first try is quick."""
    parts = parts_of(request)
    week = await request.app.state.week.jobs(parts.store, now=visitor.now)
    if not usable_keywords(draft.search):
        return None
    user = replace(visitor.user, searches={draft.name or FIRST_NAME: draft.search})
    return await asyncio.to_thread(preview, user, week, hour=parts.hour(user))


def without_word(form: Form, chip: str) -> Form:
    """The form after a click on a chip, `keywords:python`: without that word."""
    key, _, word = chip.partition(":")
    with contextlib.suppress(BadKeywords):
        if key in LISTS:
            left = join_keywords(kept for kept in parse_keywords(form.text(key)) if kept != word)
            return Form(form.fields | {key: [left]})
    return form


def mark_of(search: Search | None) -> str:
    """What a form was made from, so that a change by another tab is seen, and one by a run is none."""
    if search is None:
        return "new"
    told = json.dumps(encode(search), sort_keys=True, default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _sources(parts: Parts) -> list[str]:
    return sorted(parts.sources)


def _free_name(user: User) -> str:
    names = [FIRST_NAME, *(f"{FIRST_NAME} {number}" for number in range(2, SEARCHES_MAX + 2))]
    return next(name for name in names if name not in user.searches)
