"""Items of boards to postings: clean text, absolute links, what is stated exactly. Pure.

Nothing here raises for what a board sends: an item is a posting or a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.records import Client
from scan.dates import parse_date
from scan.fingerprint import BESIDE
from scan.links import absolute
from scan.posting import ITEMS_MAX, Posting, Skipped
from scan.sources.entries import Reading
from scan.sources.item import Item
from scan.text import one_line, plain, squeezed, title

ID_MAX_CHARS = 300
SHORT_MAX_CHARS = 120
TAG_MAX_CHARS = 60
TAGS_MAX = 30
WHAT_MAX_CHARS = 80
AMOUNT_MAX = 1e12


@dataclass(frozen=True, slots=True)
class Amounts:
    """Pay in numbers as a board states it; what is not positive is unknown. Currency and period in its own words."""

    low: float | None
    high: float | None
    currency: str = ""
    period: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if value is not None and not 0 < value < AMOUNT_MAX:
                object.__setattr__(self, name, None)


def reading(items: Sequence[Any], read: Callable[[Item], Posting | str | None], *, names: bool = True) -> Reading:
    """Every item as a posting or with a reason; None is an item that is no listing at all, and not counted.

    A job that is listed twice is taken once. Without `names` a skipped item is called by its place only.
    """
    postings: dict[str, Posting] = {}
    skipped: list[Skipped] = []
    for position, values in enumerate(items, start=1):
        if position > ITEMS_MAX:
            skipped.append(Skipped(f"item {position}", f"more than {ITEMS_MAX} items in one answer"))
            break
        item = Item(values)
        found = read(item) if item else "not an object"
        if isinstance(found, Posting):
            postings.setdefault(f"{found.platform}\n{found.native_id}", found)
        elif found is not None:
            named = one_line(item.text("title", "jobTitle", "position", "name", "text"), max_chars=WHAT_MAX_CHARS)
            skipped.append(Skipped((named if names else "") or f"item {position}", found))
    return Reading(tuple(postings.values()), tuple(skipped))


def posting(
    platform: str,
    native_id: str,
    *,
    name: str,
    link: str,
    markup: str,
    now: datetime,
    company: str = "",
    place: str | Iterable[str] = "",
    pay: str = "",
    tags: Iterable[str] = (),
    dates: Iterable[object] = (),
    aliases: tuple[str, ...] = (),
    is_html: bool = True,
    amounts: Amounts | None = None,
    countries: Iterable[str] = (),
    contract: str = "",
    client: Client | None = None,
    language: str = "",
) -> Posting | str:
    """A posting of clean text and absolute links, or why there is none. What is stated exactly stays in the
    board's own words."""
    id_ = "".join(c for c in native_id if c.isprintable()).strip()
    role = title(name)
    if not id_ or len(id_) > ID_MAX_CHARS:
        return "no id"
    if not role:
        return "no title"
    places = (place,) if isinstance(place, str) else tuple(place)
    found = (parse_date(value, now) for value in dates)
    stated = amounts or Amounts(None, None)
    return Posting(
        platform=platform,
        native_id=id_,
        title=role,
        link=absolute(link),
        text=plain(markup) if is_html else squeezed(markup),
        company=short(company),
        place=short(", ".join(dict.fromkeys(text for raw in places if (text := title(raw))))),
        pay=short(pay),
        tags=labels(tags),
        pay_min=stated.low,
        pay_max=stated.high,
        currency=stated.currency,
        period=stated.period,
        countries=tuple(map(short, countries)),  # all of them: half a list would shut out the other half
        contract=short(contract),
        client=client,
        language=short(language),
        published_at=next((date for date in found if date is not None), None),
        aliases=aliases,
    )


def with_skills(text: str, skills: Iterable[str]) -> str:
    """A text that ends with the skills that its board lists beside it: people look for them as for words."""
    listed = ", ".join(labels(skills))
    return f"{text.rstrip()}{BESIDE}{listed}".lstrip() if listed else text.rstrip()


def short(raw: str) -> str:
    """A company, a place, a pay: one line."""
    return title(raw, max_chars=SHORT_MAX_CHARS)


def labels(raw: Iterable[str]) -> tuple[str, ...]:
    found = dict.fromkeys(text for tag in raw if (text := one_line(title(tag), max_chars=TAG_MAX_CHARS)))
    return tuple(found)[:TAGS_MAX]
