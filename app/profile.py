"""What is asked for a person: applied to the user, and told back in words.

The command line edits the search `default`; other searches are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from typing import Any

from app import gates
from ledger import addresses, next_digest, users
from ledger.records import Mode, Search, Stop, User
from ledger.schedule import hour_of
from ledger.store import Store
from ledger.users import Saved
from scan.keywords import join_keywords
from scan.match import usable_keywords
from scan.reasons import plain_line

DEFAULT_SEARCH = "default"
ABOUT_SHOWN_CHARS = 200


class BadProfile(ValueError):
    """What was given cannot be kept; one line that names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What was given; None was not. `max_age_h` 0 and `sources` () take the limit away.

    `gates` are fields of the search as app.gates reads them.
    """

    keywords: tuple[str, ...] | None = None
    must: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    max_age_h: int | None = None
    sources: tuple[str, ...] | None = None
    gates: Mapping[str, Any] = field(default_factory=dict)
    mode: Mode | None = None
    at: str | None = None
    zone: str | None = None
    ai: bool | None = None
    about: str | None = None
    ai_threshold: int | None = None
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a save came to: the user, whether new, what changed (of a new one: all), what the operator should know."""

    user: User
    created: bool
    changed: tuple[str, ...]
    warning: str = ""


async def save(store: Store, address: str, changes: Changes, *, default_at: time, now: datetime) -> Told:
    """Create or edit; the next run catches up. Raises BadProfile, ids.BadAddress, users.Contended, StoreError."""
    before: list[User] = []

    def edit(user: User) -> User:
        before.append(user)
        return applied(user, changes, default_at=default_at)

    uid, found = await addresses.home(store, address)
    if found is None:
        saved = await users.save_profile(store, address, edit, now=now)
    else:
        again = _with_catch_up(_revived(edit, address, now=now), now=now)
        known = await change(store, uid, again, default_at=default_at, now=now)
        if known is None:
            raise users.Contended("the user was deleted at this moment; try again")
        saved = Saved(known, created=False)
    was = before[-1]
    warning = ""
    if was.stopped in (Stop.BOUNCED, Stop.COMPLAINED):
        warning = f"this address had {was.stopped}{_because(was)}; mail to it may harm your name as a sender"
    changed = told(was, saved.user, now=now) if not saved.created else described(saved.user, now=now)
    return Told(saved.user, saved.created, changed, warning)


async def change(
    store: Store, uid: str, edit: Callable[[User], User], *, default_at: time, now: datetime
) -> User | None:
    """Change when somebody's letters come; jobs that already wait for a digest go to the new hour with it.

    None: no such user. Raises what `edit` raises, users.Contended, BadRecord, StoreError.
    """
    user = await users.change(store, uid, edit)
    if user is not None:
        user = await next_digest.note_hour(store, user, default_at=default_at, now=now)
    if user is not None:
        await next_digest.follow(store, user, hour=hour_of(user, default_at=default_at), now=now)
    return user


def _with_catch_up(edit: Callable[[User], User], *, now: datetime) -> Callable[[User], User]:
    return lambda user: users.with_catch_up(edit(user), now=now)


def _revived(edit: Callable[[User], User], address: str, *, now: datetime) -> Callable[[User], User]:
    """A deleted person who had bounced or complained left a bare mark: coming back, they get address and token anew."""

    def whole(user: User) -> User:
        after = edit(user)
        if after.address:
            return after
        fresh = users.new_user(address, now=now)
        return replace(after, address=fresh.address, token=fresh.token, created_at=now)

    return whole


def applied(user: User, changes: Changes, *, default_at: time) -> User:
    """The user with the changes. Raises BadProfile. An hour that follows a zone alone is the operator's default."""
    if user.stopped is not None or not user.active:
        if not changes.resume:
            raise BadProfile(f"nothing is sent to them: {user.stopped or 'inactive'}{_because(user)}; to write again, "
                             "add --resume")  # fmt: skip
        user = replace(user, active=True, stopped=None, stopped_at=None, stop_detail="", rejected_streak=0)
    search = user.searches.get(DEFAULT_SEARCH, Search())
    search = replace(
        search,
        keywords=search.keywords if changes.keywords is None else changes.keywords,
        must=search.must if changes.must is None else changes.must,
        exclude=search.exclude if changes.exclude is None else changes.exclude,
        sources=search.sources if changes.sources is None else changes.sources,
        max_age_h=search.max_age_h if changes.max_age_h is None else changes.max_age_h or None,
        **changes.gates,
    )
    if not usable_keywords(search) and not any(map(usable_keywords, user.searches.values())):
        raise BadProfile("without a keyword no job ever fits; give --keywords, such as --keywords 'python, fastapi'")
    at, zone = changes.at or user.at, changes.zone or user.zone
    if changes.zone is not None and at is None:
        at = default_at.isoformat("minutes")
    searches = {**user.searches, DEFAULT_SEARCH: search}
    return replace(
        user,
        searches=searches,
        mode=changes.mode or user.mode,
        at=at,
        zone=zone,
        ai=user.ai if changes.ai is None else changes.ai,
        about=user.about if changes.about is None else changes.about,
        ai_threshold=user.ai_threshold if changes.ai_threshold is None else changes.ai_threshold,
    )


def described(user: User, *, now: datetime) -> tuple[str, ...]:
    """Every fact, one line each."""
    return tuple(f"{name}: {value}" for name, value in facts(user, now=now).items())


def told(before: User, after: User, *, now: datetime) -> tuple[str, ...]:
    """What differs, one line each: `keywords: python, go (was: python)`."""
    old, new = facts(before, now=now), facts(after, now=now)
    pairs = {name: (new.get(name, "-"), old.get(name, "-")) for name in {**new, **old}}
    return tuple(f"{name}: {now_} (was: {was})" for name, (now_, was) in pairs.items() if now_ != was)


def facts(user: User, *, now: datetime) -> dict[str, str]:
    """A profile in words, by its parts; `-` for what was not chosen, and only those gates that ask something."""
    search = user.searches.get(DEFAULT_SEARCH, Search())
    return {
        "keywords": join_keywords(search.keywords) or "-",
        "must": join_keywords(search.must) or "-",
        "not": join_keywords(search.exclude) or "-",
        "max age": f"{search.max_age_h} h" if search.max_age_h else "-",
        "sources": ", ".join(search.sources) or "all",
        **gates.told(search),
        "mode": user.mode.value,
        "digest at": f"{user.at} {user.zone}" if user.at else "the default hour, in UTC",
        **_verdicts(user),
        "state": state(user, now=now),
    }


def _verdicts(user: User) -> dict[str, str]:
    """Only of those who want them."""
    if not user.ai:
        return {}
    about = plain_line(user.about)
    shown = about if len(about) <= ABOUT_SHOWN_CHARS else about[: ABOUT_SHOWN_CHARS - 1] + "…"
    return {"verdicts": f"from {user.ai_threshold} of 100", "about": shown or "-"}


def state(user: User, *, now: datetime) -> str:
    """`active`, or why nothing comes."""
    if user.stopped is not None or not user.active:
        return f"{user.stopped or 'inactive'}{_because(user)}"
    if user.paused_until is not None and user.paused_until > now:
        return f"paused until {user.paused_until:%Y-%m-%d %H:%M} UTC"
    return "active"


def _because(user: User) -> str:
    when = f" on {user.stopped_at:%Y-%m-%d}" if user.stopped_at else ""
    return when + (f" ({user.stop_detail})" if user.stop_detail else "")
