"""What judging has cost: a document a day, and one a day and person, advanced by swap before a call is made.

A run that dies keeps what it had reserved: that much is lost to the day's count, and never spent beyond it. A
person's document is named by a hash, so that deleting them leaves no address behind and starts no new allowance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from ledger import ids
from ledger.collections import SPEND
from ledger.documents import BadRecord, Instant, Stored, decode, encode, tolerant
from ledger.store import Snapshot, Store

KEPT = timedelta(days=30)
TRIES_MAX = 8
DAYS_MAX = 60
UNKNOWN = 2**62  # of a document that cannot be read: nothing more is spent on that day


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of both directions, and money in millionths of a US dollar."""

    tokens: int = 0
    micros: int = 0

    def __add__(self, other: Bill) -> Bill:
        return Bill(self.tokens + other.tokens, self.micros + other.micros)

    def __sub__(self, other: Bill) -> Bill:
        return Bill(self.tokens - other.tokens, self.micros - other.micros)

    def __mul__(self, times: int) -> Bill:
        return Bill(self.tokens * times, self.micros * times)

    def covers(self, other: Bill) -> bool:
        return self.tokens >= other.tokens and self.micros >= other.micros

    def at_most(self, other: Bill) -> Bill:
        return Bill(min(self.tokens, other.tokens), min(self.micros, other.micros))


@tolerant
@dataclass(frozen=True, slots=True)
class Spent:
    """`tokens` and `micros` count what was used and what is reserved; the rest only what was used."""

    day: str  # UTC date
    tokens: int = 0
    micros: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    nonce: str = ""
    expire_at: Instant | None = None

    @property
    def bill(self) -> Bill:
        return Bill(self.tokens, self.micros)


@dataclass(frozen=True, slots=True)
class Settled:
    """At the end of a run: what was reserved and not used, and what was used."""

    back: Bill
    calls: int
    input_tokens: int
    output_tokens: int


def day_id(day: date) -> str:
    return day.isoformat()


def person_id(day: date, uid: str) -> str:
    return f"{day.isoformat()}_{ids.outside_id(uid)}"


async def reserve(store: Store, id_: str, *, need: Bill, want: Bill, most: Bill, now: datetime) -> Bill:
    """Reserve up to `want`, at least `need`, of `most`. An empty bill: there is not as much left. Raises StoreError."""
    for _ in range(TRIES_MAX):
        held = (await _read(store, [id_])).get(id_)
        today = held.record if held is not None else _new(id_, now)
        granted = want.at_most(most - today.bill)
        if not granted.covers(need):
            return Bill()
        used = today.bill + granted
        new = replace(today, tokens=used.tokens, micros=used.micros, nonce=ids.new_nonce())
        if await _write(store, id_, held, new):
            return granted
    return Bill()  # others keep reserving; whoever waits for the next run loses nothing


async def settle(store: Store, ends: Mapping[str, Settled], *, now: datetime) -> None:
    """Give back and note, many documents at once. Raises StoreError."""
    open_ = dict(ends)
    for _ in range(TRIES_MAX):
        if not open_:
            return
        held = await _read(store, list(open_))
        new = {id_: _settled(held[id_].record if id_ in held else _new(id_, now), end) for id_, end in open_.items()}
        swaps = {id_: (held[id_].version, encode(spent)) for id_, spent in new.items() if id_ in held}
        done = set(await store.swap(SPEND, swaps)) if swaps else set()
        absent = {id_: encode(spent) for id_, spent in new.items() if id_ not in held}
        done |= set(await store.create(SPEND, absent)) if absent else set()
        if lost := [id_ for id_ in open_ if id_ not in done]:
            again = await _read(store, lost)
            done |= {id_ for id_, found in again.items() if found.record.nonce == new[id_].nonce}
        open_ = {id_: end for id_, end in open_.items() if id_ not in done}


async def by_day(store: Store, *, last: int, today: date) -> list[Spent]:
    """What each of the last days cost, the newest first; days on which nothing was asked are left out."""
    days = [day_id(today - timedelta(days=back)) for back in range(min(last, DAYS_MAX))]
    found = await _read(store, days)
    return [found[id_].record for id_ in days if id_ in found]


def _new(id_: str, now: datetime) -> Spent:
    return Spent(day=id_[:10], expire_at=now + KEPT)


def _settled(spent: Spent, end: Settled) -> Spent:
    rest = spent.bill - end.back
    return replace(
        spent,
        tokens=max(0, rest.tokens),
        micros=max(0, rest.micros),
        calls=spent.calls + end.calls,
        input_tokens=spent.input_tokens + end.input_tokens,
        output_tokens=spent.output_tokens + end.output_tokens,
        nonce=ids.new_nonce(),
    )


async def _read(store: Store, id_s: list[str]) -> dict[str, Stored[Spent]]:
    return {id_: _stored(snapshot) for id_, snapshot in (await store.get(SPEND, id_s)).items()}


def _stored(snapshot: Snapshot) -> Stored[Spent]:
    try:
        return Stored(decode(Spent, snapshot), snapshot.version)
    except BadRecord:
        return Stored(Spent(day=snapshot.id[:10], tokens=UNKNOWN, micros=UNKNOWN), snapshot.version)


async def _write(store: Store, id_: str, held: Stored[Spent] | None, new: Spent) -> bool:
    if held is None:
        done = await store.create(SPEND, {id_: encode(new)})
    else:
        done = await store.swap(SPEND, {id_: (held.version, encode(new))})
    if done:
        return True
    found = (await _read(store, [id_])).get(id_)  # a lost answer: our nonce in the document says that it is ours
    return found is not None and found.record.nonce == new.nonce
