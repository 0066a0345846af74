"""When letters come, and how picky they are: mode, hour and zone, quiet hours, pause, and the model's part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import available_timezones

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app import pause
from app.pages import words
from app.pages.form import Form, Refused, read_form, told_kept
from app.pages.schema import form_of
from app.pages.view import go, page
from app.pages.visitor import Visitor, parts_of, signed_in
from app.profile import BadProfile, change
from app.typed import at_of, zone_named
from ledger import users
from ledger.records import Mode, User
from ledger.schedule import BadZone, zone_of
from scan.prompt import ABOUT_MAX_CHARS

router = APIRouter(default_response_class=HTMLResponse)

LABELS = {
    "mode": "How often",
    "at": "Hour",
    "zone": "Time zone",
    "quiet_from": "Quiet hours from",
    "quiet_to": "Quiet hours to",
    "pause": "Pause until",
    "ai": "Second look by a model",
    "about": "About me",
    "ai_threshold": "Lowest score",
}
NAMES = tuple(LABELS)
AREAS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


NO_MAIL = (
    "No mail is sent to you at all, so there is nothing to pause. To switch it on: “Send me mail again”, on your "
    "searches. Leave the day as it was to save the rest."
)


class Moved(Exception):
    """The settings are not what they were when the form was shown."""


@dataclass(slots=True)
class Draft:
    """The form as it stands: what is typed, what is wrong with it."""

    typed: dict[str, str]
    mark: str
    errors: dict[str, str] = field(default_factory=dict)


@router.get("/me/letters")
async def letters(request: Request) -> Response:
    visitor = await signed_in(request)
    return _shown(request, visitor, Draft(_kept(visitor.user, visitor.now), mark_of(visitor.user, visitor.now)))


@router.post("/me/letters", openapi_extra=form_of("mark", *NAMES))
async def save(request: Request) -> Response:
    visitor = await signed_in(request, form="/me/letters")
    form = await read_form(request)
    draft = Draft({name: form.text(name) for name in NAMES}, form.text("mark"))
    wanted = _read(form, visitor, draft)
    if draft.errors:
        return _shown(request, visitor, draft, status=400)
    parts = parts_of(request)

    def edit(user: User) -> User:
        if mark_of(user, visitor.now) != draft.mark:
            raise Moved
        saved = replace(
            user, mode=wanted.mode, at=wanted.at, zone=wanted.zone, quiet_from=wanted.quiet_from,
            quiet_to=wanted.quiet_to, ai=wanted.ai, about=wanted.about, ai_threshold=wanted.ai_threshold,
        )  # fmt: skip
        return users.with_catch_up(saved, now=visitor.now) if user.active else saved

    try:
        user = await change(parts.store, visitor.uid, edit, default_at=parts.settings.digest_at, now=visitor.now)
    except Moved:
        return await _conflict(request, visitor, draft)
    if user is None:
        raise Refused(410, "Your page was deleted meanwhile.")
    if wanted.paused_until != _still(user.paused_until, visitor.now):
        try:
            await pause.pause(parts.store, visitor.uid, until=wanted.paused_until, now=visitor.now)
        except BadProfile as error:  # they unsubscribed at this moment
            raise Refused(409, NO_MAIL) from error
    return go("/me?changed=1")


def _read(form: Form, visitor: Visitor, draft: Draft) -> User:
    """The user as the form wants them; what cannot be is in the draft's errors."""
    user, errors, text = visitor.user, draft.errors, draft.typed
    wanted = replace(user, ai=form.has("ai"), about=text["about"].strip())
    try:
        wanted = replace(wanted, mode=Mode(text["mode"]))
    except ValueError:
        errors["mode"] = "Choose when letters come."
    times: dict[str, str | None] = {}
    for name in ("at", "quiet_from", "quiet_to"):
        try:
            times[name] = at_of(text[name].strip() or None)
        except BadProfile:
            errors[name] = "Write hours and minutes, such as 08:00."
    wanted = replace(wanted, at=times.get("at"), quiet_from=times.get("quiet_from"), quiet_to=times.get("quiet_to"))
    if bool(text["quiet_from"].strip()) != bool(text["quiet_to"].strip()):
        errors.setdefault("quiet_from", "Quiet hours need both times, or neither.")
    try:
        wanted = replace(wanted, zone=zone_named(text["zone"].strip() or user.zone) or user.zone)
    except BadProfile:
        errors["zone"] = "Choose a time zone from the list."
    until: datetime | None = None
    try:
        if text["pause"].strip():
            until = pause.first_day(text["pause"], wanted, now=visitor.now)
    except BadProfile:
        errors["pause"] = "Choose a day from tomorrow on, or none."
    if not user.active and until != _still(user.paused_until, visitor.now):
        errors.setdefault("pause", NO_MAIL)
    if len(wanted.about) > ABOUT_MAX_CHARS:
        errors["about"] = f"At most {ABOUT_MAX_CHARS:,} characters; these are {len(wanted.about):,}."
    threshold = text["ai_threshold"].strip() or str(user.ai_threshold)
    if threshold.isascii() and threshold.isdigit() and len(threshold) < 4 and int(threshold) <= 100:
        wanted = replace(wanted, ai_threshold=int(threshold))
    else:
        errors["ai_threshold"] = "A whole number from 0 to 100."
    return replace(wanted, paused_until=until)


async def _conflict(request: Request, visitor: Visitor, draft: Draft) -> Response:
    fresh = await users.read(parts_of(request).store, visitor.uid)
    if fresh is None:
        raise Refused(410, "Your page was deleted meanwhile.")
    draft.mark = mark_of(fresh.record, visitor.now)
    kept = _kept(fresh.record, visitor.now)
    said = kept | {"mode": words.MODES[fresh.record.mode]}
    differing = {label: said[name] or "none" for name, label in LABELS.items() if kept[name] != draft.typed[name]}
    draft.errors["moved"] = (
        f"These settings were changed in another window since you opened them here. {told_kept(differing)}"
    )
    return _shown(request, visitor, draft, status=409)


def _shown(request: Request, visitor: Visitor, draft: Draft, *, status: int = 200) -> Response:
    parts = parts_of(request)
    return page(
        request, "letters.html", status=status, script=True, draft=draft, modes=words.MODES,
        zones=zones(draft.typed["zone"]), default_at=parts.settings.digest_at.isoformat("minutes"),
        tomorrow=(visitor.now + timedelta(days=1)).date().isoformat(), about_max=ABOUT_MAX_CHARS,
        has_judge=getattr(parts, "judge", None) is not None, is_new=visitor.user.at is None,
    )  # fmt: skip


def _kept(user: User, now: datetime) -> dict[str, str]:
    until = _still(user.paused_until, now)
    return {
        "mode": user.mode.value,
        "at": user.at or "",
        "zone": user.zone,
        "quiet_from": user.quiet_from or "",
        "quiet_to": user.quiet_to or "",
        "pause": _local_day(until, user.zone) if until else "",
        "ai": "yes" if user.ai else "",
        "about": user.about,
        "ai_threshold": str(user.ai_threshold),
    }


def mark_of(user: User, now: datetime) -> str:
    """What the form was made from: a change by another tab is seen, one by a run is none."""
    told = "\n".join(f"{name}={value}" for name, value in _kept(user, now).items())
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _still(until: datetime | None, now: datetime) -> datetime | None:
    return until if until is not None and until > now else None


def _local_day(at: datetime, zone: str) -> str:
    try:
        return at.astimezone(zone_of(zone)).date().isoformat()
    except BadZone:
        return at.date().isoformat()


def zones(chosen: str) -> list[str]:
    """The zones to choose from, and the one that is chosen."""
    known = _zones()
    return [*known] if chosen in known or not chosen else [chosen, *known]


@cache
def _zones() -> tuple[str, ...]:
    return ("UTC", *sorted(name for name in available_timezones() if name.partition("/")[0] in AREAS and "/" in name))
