"""Every state, every outcome, both ways out: what a row becomes, held against the table of the contract."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from ledger import deliveries, ids
from ledger.collections import DELIVERIES
from ledger.deliveries import claim, offered, row_id, settle
from ledger.documents import Stored, decode, encode
from ledger.lifecycle import (
    ALERT_AFTER,
    ALERT_RETRY,
    DIGEST_AFTER,
    FINAL,
    TRIES_MAX,
    After,
    Attempt,
    Outcome,
    State,
    Via,
)
from ledger.records import Delivery, Job, JobState
from ledger.schedule import Hour, zone_of
from ledger.store import Store

NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
HOUR = Hour(time(8), zone_of("UTC"))
LEASE_S = 600.0
UID = ids.uid_of("ann@example.com")


def job(key: str = "a") -> Job:
    id_ = ids.job_id("board", key)
    return Job(
        id=id_, platform="board", source="board", title="Python", link="https://jobs.example.com/a", text="",
        first_seen=NOW, state=JobState.OPEN, key=id_,
    )  # fmt: skip


def row(key: str = "a") -> Delivery:
    return offered(UID, job(key), score=1, reason="python", now=NOW)


async def stored(store: Store, id_: str) -> Delivery:
    return decode(Delivery, (await store.get(DELIVERIES, [id_]))[id_])


def test_the_table_is_total() -> None:
    assert set(ALERT_AFTER) == set(DIGEST_AFTER) == set(Outcome)


def test_an_alert_waits_again_only_where_it_was_provably_not_taken() -> None:
    again = {outcome for outcome, after in ALERT_AFTER.items() if after.state is State.QUEUED}
    assert again == {Outcome.DEFERRED, Outcome.PAUSED}
    assert ALERT_AFTER[Outcome.UNCLEAR] == After(State.UNCLEAR)


def test_a_digest_ends_only_where_it_was_accepted_or_never_will_be() -> None:
    ended = {outcome: after.state for outcome, after in DIGEST_AFTER.items() if after.state is not State.QUEUED}
    assert ended == {Outcome.ACCEPTED: State.SENT, Outcome.REJECTED: State.FAILED}


def test_an_account_at_fault_uses_no_try() -> None:
    assert not ALERT_AFTER[Outcome.PAUSED].uses_try
    assert not DIGEST_AFTER[Outcome.PAUSED].uses_try


@pytest.mark.parametrize("outcome", Outcome)
async def test_a_claimed_row_settles_by_the_table(store: Store, outcome: Outcome) -> None:
    won = await claim(store, [row()], [], nonce="n1", now=NOW, lease_s=LEASE_S)
    settled = await settle(store, won, Attempt(outcome, "why"), hour=HOUR, now=NOW)
    after = await stored(store, row_id(row()))
    assert after.state is ALERT_AFTER[outcome].state
    assert settled.rows == (after,)
    assert settled.refused == 0
    assert after.via is Via.ALERT
    if after.state in FINAL:
        assert after.wake_at is None
        assert after.final_at == NOW
        assert after.expire_at == NOW + timedelta(days=90)
    else:
        assert after.expire_at is None
        assert after.wake_at == NOW + (ALERT_RETRY[0] if outcome is Outcome.DEFERRED else timedelta(0))
        assert after.tries == (1 if outcome is Outcome.DEFERRED else 0)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("via", Via)
async def test_only_a_row_that_waits_can_be_claimed_again(store: Store, state: State, via: Via) -> None:
    """A fresh claim never wins a row that exists, whatever its state; not even one that waits for its digest."""
    there = replace(row(), state=state, via=via, nonce="other")
    await store.create(DELIVERIES, {row_id(there): encode(there)})
    assert await claim(store, [row()], [], nonce="n1", now=NOW, lease_s=LEASE_S) == []
    assert await stored(store, row_id(there)) == there


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("state", sorted(set(State) - {State.CLAIMED}))
async def test_a_row_that_left_its_claim_is_not_settled(store: Store, state: State, outcome: Outcome) -> None:
    """A late answer of a run that was given up changes nothing and is counted."""
    won = await claim(store, [row()], [], nonce="n1", now=NOW, lease_s=LEASE_S)
    moved = replace(won[0].record, state=state, why="moved by another run")
    await store.swap(DELIVERIES, {row_id(moved): (won[0].version, encode(moved))})
    settled = await settle(store, won, Attempt(outcome), hour=HOUR, now=NOW)
    same_end = ALERT_AFTER[outcome].state is state  # then there is nothing to change, and nothing lost
    assert settled.refused == (0 if same_end else 1)
    assert await stored(store, row_id(moved)) == moved


async def test_a_row_claimed_by_another_nonce_is_not_settled(store: Store) -> None:
    won = await claim(store, [row()], [], nonce="n1", now=NOW, lease_s=LEASE_S)
    other = replace(won[0].record, nonce="n2")
    await store.swap(DELIVERIES, {row_id(other): (won[0].version, encode(other))})
    settled = await settle(store, won, Attempt(Outcome.ACCEPTED), hour=HOUR, now=NOW)
    assert settled.refused == 1
    assert (await stored(store, row_id(other))).state is State.CLAIMED


async def test_two_claims_share_no_row(store: Store) -> None:
    first = await claim(store, [row("a"), row("b")], [], nonce="n1", now=NOW, lease_s=LEASE_S)
    second = await claim(store, [row("b"), row("c")], [], nonce="n2", now=NOW, lease_s=LEASE_S)
    keys = [[won.record.key for won in each] for each in (first, second)]
    assert sorted(map(len, keys)) == [1, 2]
    assert not set(keys[0]) & set(keys[1])


async def test_a_waiting_row_is_won_once(store: Store) -> None:
    waiting = replace(row(), wake_at=NOW)
    versions = await store.create(DELIVERIES, {row_id(waiting): encode(waiting)})
    held = Stored(waiting, versions[row_id(waiting)])
    assert len(await claim(store, [], [held], nonce="n1", now=NOW, lease_s=LEASE_S)) == 1
    assert await claim(store, [], [held], nonce="n2", now=NOW, lease_s=LEASE_S) == []


async def test_after_its_tries_an_alert_waits_for_the_digest_and_never_returns(store: Store) -> None:
    now = NOW
    won = await claim(store, [row()], [], nonce="n0", now=now, lease_s=LEASE_S)
    for number in range(1, TRIES_MAX + 1):
        (after,) = (await settle(store, won, Attempt(Outcome.DEFERRED, "451"), hour=HOUR, now=now)).rows
        assert after.tries == number
        if number < TRIES_MAX:
            assert after.wake_at is not None
            now = after.wake_at
            found = await deliveries.read(store, [row_id(after)])
            won = await claim(store, [], list(found.values()), nonce=f"n{number}", now=now, lease_s=LEASE_S)
    assert after.via is Via.DIGEST
    assert after.wake_at == NOW.replace(hour=8)
    assert after.nonce is None


async def test_a_day_after_the_job_came_a_deferred_alert_waits_for_the_digest(store: Store) -> None:
    won = await claim(store, [row()], [], nonce="n1", now=NOW, lease_s=LEASE_S)
    later = NOW + timedelta(hours=24)
    (after,) = (await settle(store, won, Attempt(Outcome.DEFERRED), hour=HOUR, now=later)).rows
    assert after.via is Via.DIGEST


async def test_the_provider_may_ask_for_a_longer_wait_but_not_for_days(store: Store) -> None:
    for key, asked_s, expected in (("a", 3600.0, timedelta(hours=1)), ("b", 1e9, timedelta(hours=24))):
        won = await claim(store, [row(key)], [], nonce=key, now=NOW, lease_s=LEASE_S)
        attempt = Attempt(Outcome.DEFERRED, retry_after_s=asked_s)
        (after,) = (await settle(store, won, attempt, hour=HOUR, now=NOW)).rows
        assert after.wake_at == NOW + expected


def test_a_dead_claim_is_unclear_and_says_why() -> None:
    dead = deliveries.abandoned(replace(row(), state=State.CLAIMED, nonce="n1", wake_at=NOW), now=NOW)
    assert dead.state is State.UNCLEAR
    assert dead.wake_at is None
    assert "died" in dead.why
