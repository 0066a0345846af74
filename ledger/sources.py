"""What we remember of the sources between polls, and whose turn it is.

Booking the next poll before the request is what keeps two runs from asking twice. One index document holds
the configured names, so that an idle cycle reads two documents however many sources there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ledger.collections import SOURCES
from ledger.documents import BadRecord, Stored, decode, encode
from ledger.records import Health, SourceState
from ledger.store import Store, every

INDEX_ID = "~configured"  # no source can be called that: no name begins with ~

SILENT_AFTER = timedelta(days=1)  # without a readable answer: then those who rely on the source are told

Held = Stored[SourceState]


async def due(store: Store, names: Sequence[str], *, now: datetime) -> tuple[list[Held], list[BadRecord]]:
    """The configured sources whose next poll is due, by name; new ones at once."""
    await _follow_configuration(store, sorted(names), now=now)
    held: list[Held] = []
    bad: list[BadRecord] = []
    after = None
    while True:
        page = await store.find_range(SOURCES, "next_poll_at", at_most=now, after=after)
        for snapshot in page.items:
            try:
                state = decode(SourceState, snapshot)
            except BadRecord as error:
                bad.append(error)
                continue
            if state.name in names:
                held.append(Stored(state, snapshot.version))
        if page.after is None:
            return sorted(held, key=lambda source: source.record.name), bad
        after = page.after


async def _follow_configuration(store: Store, names: list[str], *, now: datetime) -> None:
    index = (await store.get(SOURCES, [INDEX_ID])).get(INDEX_ID)
    before = index.data.get("names", []) if index else []
    if before == names:
        return
    fresh = {name: encode(SourceState(name=name, next_poll_at=now)) for name in names if name not in before}
    created = await store.create(SOURCES, fresh)
    back = [name for name in fresh if name not in created]
    await _set_turn(store, back, now)
    await _set_turn(store, [name for name in before if name not in names], None)
    document = {"names": names, "since": now}
    if index is None:
        await store.create(SOURCES, {INDEX_ID: document})
    else:
        await store.swap(SOURCES, {INDEX_ID: (index.version, document)})


async def _set_turn(store: Store, names: Sequence[str], at: datetime | None) -> None:
    for name, snapshot in (await store.get(SOURCES, names)).items():
        try:
            state = decode(SourceState, snapshot)
        except BadRecord:
            state = SourceState(name=name, next_poll_at=None)
        if state.next_poll_at is None or at is None:
            new = encode(replace(state, next_poll_at=at))
            if new != snapshot.data:
                await store.swap(SOURCES, {name: (snapshot.version, new)})


async def book(store: Store, source: Held, *, next_poll_at: datetime, now: datetime) -> Held | None:
    """Take this poll by moving the next one. None: another run took it."""
    booked = replace(source.record, next_poll_at=next_poll_at, polled_at=now)
    version = (await store.swap(SOURCES, {booked.name: (source.version, encode(booked))})).get(booked.name)
    return Stored(booked, version) if version else None


async def finish(store: Store, booked: Held, after: SourceState) -> bool:
    """Store what the poll taught: after its items, never before. False: the state moved; the next poll asks again."""
    if after == booked.record:
        return True
    return bool(await store.swap(SOURCES, {after.name: (booked.version, encode(after))}))


async def resume(store: Store, name: str, *, now: datetime) -> SourceState | None:
    """Poll a suspended source again, as if for the first time: what it lists by then is no news.

    Returns its new state; None if it is not suspended. Raises StoreError, BadRecord.
    """
    snapshot = (await store.get(SOURCES, [name])).get(name)
    if snapshot is None:
        return None
    state = decode(SourceState, snapshot)
    if state.health is not Health.SUSPENDED:
        return None
    fresh = SourceState(name=name, next_poll_at=now, polled_at=state.polled_at, ok_at=state.ok_at, ids_vetted=True)
    taken = await store.swap(SOURCES, {name: (snapshot.version, encode(fresh))})
    return fresh if taken else None


async def silent(store: Store, names: Sequence[str], *, now: datetime) -> list[SourceState]:
    """Those of the sources that had no readable answer for SILENT_AFTER, though they were polled; by name."""
    found = []
    for snapshot in (await store.get(SOURCES, sorted(names))).values():
        try:
            state = decode(SourceState, snapshot)
        except BadRecord:
            continue  # a run reports it when its turn comes
        since = state.ok_at
        if state.polled_at is not None and since is not None and now - since >= SILENT_AFTER and is_failing(state):
            found.append(state)
    return sorted(found, key=lambda state: state.name)


def is_failing(state: SourceState) -> bool:
    """Whether its last poll had no readable answer, or it is suspended: not merely one whose turn has not come."""
    return state.failures > 0 or state.health is Health.SUSPENDED


async def every_state(store: Store) -> tuple[list[SourceState], list[BadRecord]]:
    """Every source ever configured, for people."""
    states: list[SourceState] = []
    bad: list[BadRecord] = []
    async for snapshot in every(store, SOURCES, {}):
        if snapshot.id.startswith("~"):  # the index, and what is kept for sources besides their state
            continue
        try:
            states.append(decode(SourceState, snapshot))
        except BadRecord as error:
            bad.append(error)
    return states, bad
