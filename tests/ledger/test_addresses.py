"""Whose an address is, links, sessions and limits: on both stores, and with several at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger import addresses, ids, limits, sessions, sign_in, users
from ledger.collections import LIMITS, USERS
from ledger.documents import encode
from ledger.limits import Limit
from ledger.records import Stop
from ledger.sign_in import LINK_VALID, SAME_CLICK, Link, Purpose, Refusal
from ledger.store import Store
from tests.conftest import OpenStore

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
ANN, BOB, CY = "ann@example.com", "bob@example.com", "cy@example.com"
SIGN_IN = (Purpose.SIGN_IN,)


async def new(store: Store, address: str) -> str:
    user = users.new_user(address, now=NOW)
    await store.create(USERS, {user.uid: encode(user)})
    return user.uid


async def test_a_moved_address_leads_to_the_same_person_and_the_old_one_still_does(store: Store) -> None:
    uid = await new(store, ANN)
    assert await addresses.move(store, uid, BOB, now=NOW)
    assert await addresses.move(store, uid, BOB, now=NOW)  # a repeat
    for address in (ANN, BOB, "BOB@example.com"):
        found = await addresses.home(store, address)
        assert (found.uid, found.user.record.address if found.user else None) == (uid, BOB)
    assert await addresses.move(store, uid, CY, now=NOW)
    assert await addresses.move(store, uid, ANN, now=NOW)
    assert (await addresses.home(store, CY)).uid == uid
    assert [user.address async for user in users.everyone(store, _raise)] == [ANN]


async def test_another_spelling_of_the_same_mailbox_lifts_no_stop(store: Store) -> None:
    uid = await new(store, ANN)
    await users.stop(store, uid, Stop.BOUNCED, now=NOW)
    assert await addresses.move(store, uid, "Ann@Example.com", now=NOW)
    found = await users.read(store, uid)
    assert found is not None
    assert (found.record.address, found.record.stopped) == ("Ann@Example.com", Stop.BOUNCED)


async def test_after_a_complaint_and_a_deletion_the_mark_stands_under_the_address_it_came_from(store: Store) -> None:
    uid = await new(store, ANN)
    assert await addresses.move(store, uid, BOB, now=NOW)
    await users.stop(store, uid, Stop.COMPLAINED, now=NOW)
    assert await users.delete(store, uid, now=NOW) is not None
    assert await users.delete(store, uid, now=NOW) is None
    assert (await addresses.home(store, ANN)).user is None
    kept = (await store.get(USERS, [ids.uid_of(BOB)]))[ids.uid_of(BOB)].data
    assert (kept["stopped"], kept["address"]) == ("complained", "")


async def test_of_two_who_move_to_one_address_and_one_who_signs_up_with_it_one_has_it(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    one, two = await new(stores[0], ANN), await new(stores[0], BOB)
    moved = await asyncio.gather(
        addresses.move(stores[0], one, CY, now=NOW),
        addresses.move(stores[1], two, CY, now=NOW),
        new(stores[2], CY),
    )
    owner = (await addresses.home(stores[0], CY)).uid
    assert list(moved[:2]) == [owner == one, owner == two]
    assert owner in (one, two, ids.uid_of(CY))


async def test_a_move_ends_a_bounce_and_keeps_a_complaint(store: Store) -> None:
    for address, why in ((ANN, Stop.BOUNCED), (BOB, Stop.COMPLAINED)):
        uid = await new(store, address)
        await users.stop(store, uid, why, now=NOW)
        assert await addresses.move(store, uid, f"new-{address}", now=NOW)
        found = await users.read(store, uid)
        assert found is not None
        assert found.record.active == (why is Stop.BOUNCED)


async def test_deleting_gives_every_address_back(store: Store) -> None:
    uid = await new(store, ANN)
    await addresses.move(store, uid, BOB, now=NOW)
    key = await sessions.begin(store, uid, now=NOW)
    await users.delete(store, uid, now=NOW)
    assert await sessions.find(store, key, now=NOW) is None
    assert await store.get(USERS, [uid, ids.uid_of(BOB)]) == {}
    assert not await addresses.move(store, uid, CY, now=NOW)


async def test_a_link_is_spent_once_for_its_purpose_within_its_time(store: Store) -> None:
    token, link = sign_in.new_link(Purpose.SIGN_IN, "u", ANN, now=NOW)
    await sign_in.keep(store, {token: link})
    late, soon = NOW + LINK_VALID, NOW + LINK_VALID - timedelta(seconds=1)
    other = (Purpose.OLD_ADDRESS, Purpose.NEW_ADDRESS)
    assert await sign_in.look(store, token, SIGN_IN, now=late) is Refusal.TOO_OLD
    assert await sign_in.spend(store, token, SIGN_IN, browser="b", now=late) is Refusal.TOO_OLD
    assert await sign_in.spend(store, token, other, browser="b", now=soon) is Refusal.UNKNOWN
    assert isinstance(await sign_in.look(store, token, SIGN_IN, now=soon), Link)
    assert isinstance(await sign_in.spend(store, token, SIGN_IN, browser="b", now=soon), Link)
    assert await sign_in.spend(store, token, SIGN_IN, browser="c", now=soon) is Refusal.SPENT
    assert await sign_in.spend(store, token, SIGN_IN, browser="", now=soon) is Refusal.SPENT
    assert isinstance(await sign_in.spend(store, token, SIGN_IN, browser="b", now=soon), Link)
    assert await sign_in.spend(store, token, SIGN_IN, browser="b", now=soon + SAME_CLICK) is Refusal.SPENT


async def test_of_many_who_spend_a_link_at_once_one_gets_it(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(4)]
    token, link = sign_in.new_link(Purpose.SIGN_IN, "u", ANN, now=NOW)
    await sign_in.keep(stores[0], {token: link})
    got = await asyncio.gather(
        *(sign_in.spend(stores[n % 4], token, SIGN_IN, browser=f"b{n}", now=NOW) for n in range(12))
    )
    assert sum(isinstance(one, Link) for one in got) == 1


@pytest.mark.parametrize("shards", [1, 4])
async def test_a_limit_is_exact_however_many_take_from_it_at_once(open_store: OpenStore, shards: int) -> None:
    stores = [await open_store() for _ in range(3)]
    limit = Limit("test", at_most=8, shards=shards)
    got = await asyncio.gather(*(limits.take(stores[n % 3], limit, "x", now=NOW) for n in range(40)))
    assert sum(got) == 8
    assert await limits.take(stores[0], limit, "y", now=NOW)
    assert not await limits.take(stores[0], limit, "x", now=NOW + limit.per - timedelta(seconds=1))
    assert await limits.take(stores[0], limit, "x", now=NOW + limit.per)


async def test_no_limit_names_whose_it_is_and_an_unreadable_one_counts_as_over(store: Store) -> None:
    limit = Limit("test", at_most=2)
    assert await limits.take(store, limit, ANN, now=NOW)
    (snapshot,) = (await store.find(LIMITS, {})).items
    assert ANN not in str((snapshot.id, snapshot.data))
    await store.put(LIMITS, {snapshot.id: {"since": "never"}})
    assert [await limits.take(store, limit, ANN, now=NOW) for _ in range(3)] == [True, True, False]


def _raise(_uid: str, error: Any) -> None:
    raise error
