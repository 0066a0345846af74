"""A person's page: whether anything comes, what they look for, and the way to everything else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app import gates
from app.pages import words
from app.pages.form import Refused, refuse_other_sites
from app.pages.preview import Preview, preview
from app.pages.view import go, page
from app.pages.visitor import parts_of, signed_in
from app.pages.week import Told
from app.parts import Parts
from ledger import users
from ledger.next_digest import next_digest
from ledger.records import Mode, Search, User
from scan.match import usable_keywords

router = APIRouter(default_response_class=HTMLResponse)

CHIPS_MAX = 24  # of one list; the rest is counted


@router.get("/me")
async def me(request: Request) -> Response:
    visitor = await signed_in(request)
    parts = parts_of(request)
    user = visitor.user
    week = await request.app.state.week.jobs(parts.store, now=visitor.now)
    found = await asyncio.to_thread(_each, parts, user, week)
    return page(
        request,
        "me.html",
        user=user,
        standing=words.standing(user, visitor.now),
        is_stopped=words.is_stopped(user),
        mode=words.MODES[user.mode],
        next_at=None if user.mode is Mode.INSTANT else await _next_at(parts, user, now=visitor.now),
        found=found,
        has_keywords=any(usable_keywords(search) for search in user.searches.values()),
        chips_max=CHIPS_MAX,
        told=_besides,
        saved=request.query_params.get("saved", ""),
        removed="removed" in request.query_params,
        changed="changed" in request.query_params,
    )


@router.post("/me/resume")
async def resume(request: Request) -> Response:
    """Send again to somebody who had stopped: they are signed in, so their mailbox works."""
    refuse_other_sites(request)
    visitor = await signed_in(request)

    def resumed(user: User) -> User:
        if user.active and user.stopped is None:
            return user
        again = replace(user, active=True, stopped=None, stopped_at=None, stop_detail="", rejected_streak=0)
        return users.with_catch_up(again, now=visitor.now)

    if await users.change(parts_of(request).store, visitor.uid, resumed) is None:
        raise Refused(410, "Your page was deleted meanwhile.")
    return go("/me?changed=1")


async def _next_at(parts: Parts, user: User, *, now: datetime) -> datetime:
    """When the next regular mail is due; a pause may end at that very moment."""
    if user.paused_until is not None:
        now = max(now, user.paused_until - timedelta(microseconds=1))
    return (await next_digest(parts.store, user.uid, parts.hour(user), after=now)).at  # the operator's hour may move


def _besides(search: Search) -> dict[str, str]:
    """What a search asks besides its words."""
    age = {"not older than": f"{search.max_age_h} h"} if search.max_age_h is not None else {}
    return age | gates.told(search) | ({"only from": ", ".join(search.sources)} if search.sources else {})


def _each(parts: Parts, user: User, week: list[Told]) -> dict[str, Preview]:
    """What each search alone would have found."""
    hour, cap = parts.hour(user), parts.settings.digest_cap
    return {
        name: preview(replace(user, searches={name: search}), week, hour=hour, digest_cap=cap)
        for name, search in user.searches.items()
    }
