"""Records come back from every store as they went in; old shapes are read; a bad one names its field."""

from __future__ import annotations

import json
import time as process_time
import traceback
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger.documents import BadRecord, Stored, decode, encode, read_all
from ledger.lifecycle import DigestState, State, Via
from ledger.records import (
    Alias,
    Client,
    Delivery,
    Digest,
    Health,
    Job,
    JobState,
    Lock,
    Mode,
    Search,
    SourceState,
    Stop,
    User,
)
from ledger.store import Snapshot, Store
from tests.shared import shared

T0 = datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)
UID = "dXNlckBleGFtcGxlLmNvbQ"

SMALL: list[Any] = [
    User(uid=UID, address="User@Example.com", created_at=T0, token="t"),
    Job("j1", "upwork", "upwork", "Title", "https://a.example/1", "text", T0, JobState.SEEN, "j1"),
    Alias("j1", T0),
    Delivery(UID, "j1", "j1", State.QUEUED, Via.ALERT, T0, T0, "Title", "", 3, "keyword: python"),
    Digest(UID, "2026-11-30", T0, T0, DigestState.OPEN, ("j1", "j2"), 2, True, "f" * 32),
    Lock(T0, "host", "n", 600.0),
    SourceState("upwork", T0),
]
FULL: list[Any] = [
    User(
        uid=UID,
        address="René <b>@Example.com",
        created_at=T0,
        token="t",
        searches={
            "default": Search(("python", "C++"), ("remote",), ("php",), 24, ("upwork",)),
            "a.b@c": Search(
                (), (), (), 0, (), 48.5, 500.0, "EUR", ("DE",), ("freelance",), ("de",), 4.5, 1e4, 1, True, True
            ),
        },
        mode=Mode.WEEKLY,
        at="07:30",
        zone="Europe/Berlin",
        digests_from=T0,
        quiet_from="22:00",
        quiet_to="07:00",
        paused_until=T0,
        active=False,
        stopped=Stop.BOUNCED,
        stopped_at=T0,
        stop_detail="mailbox full",
        catch_up="c",
        wake_at=T0,
        rejected_streak=2,
        ai=True,
        about="I build data pipelines.",
        ai_threshold=70,
    ),
    Job(
        "j1", "upwork", "upwork", "2026-11-30T08:00:00+00:00", "", "x" * 5000, T0, JobState.OPEN, "j0", "Acme",
        "Berlin", "$50", ("python", "求"), pay_min=37.5, pay_max=50.0, currency="USD", period="hour",
        countries=("DE", "LATAM"), contracts=("freelance",), language="de", client=Client(4.9, 1e6, 3, False),
        link_id="l", published_at=T0, fresh_at=T0, expire_at=T0,
    ),
    Delivery(
        UID, "j1", "j2", State.UNCLEAR, Via.DIGEST, T0, T0, "Title", "https://a.example", 3, "why", "Acme", "Berlin",
        "$50", "upwork", T0, ("https://b.example",), "n", "f" * 32, 2, T0, "2026-W49", 1, 2, "timeout", "r", T0, T0,
        82, "You write Python.", "No pay is stated.", "the day's limit is reached",
    ),
    Digest(
        UID, "2026-W49", T0, T0, DigestState.SENDING, (), 0, False, "f" * 32, "n", 1, 1, T0, "why", "r", T0, ("note",),
        2, 1, ("j7",),
    ),
    SourceState(
        "upwork", T0, T0, T0, T0, Health.SLOW, "slow", 3, 2, True, 1, '"etag"', "Mon", "hash", ("0" * 16,), T0,
        True, True, ("1" * 16,),
    ),
]  # fmt: skip


def snapshot(data: dict[str, Any], id_: str = "a") -> Snapshot:
    return Snapshot(id_, data, "1", 0.0)


async def through(store: Store, record: Any) -> Any:
    await store.put("users", {"a": encode(record)})
    return decode(type(record), (await store.get("users", ["a"]))["a"])


async def test_every_record_comes_back_from_the_store_as_it_went_in(store: Store) -> None:
    for record in (*SMALL, *FULL):
        back = await through(store, record)
        assert back == record
        assert all(type(getattr(back, f.name)) is type(getattr(record, f.name)) for f in fields(record))


def test_the_full_examples_leave_no_field_at_its_default() -> None:
    empty = {f"{type(r).__name__}.{f.name}" for r in FULL for f in fields(r) if getattr(r, f.name) is None}
    assert empty == set()


def test_a_document_holds_plain_values_only_and_no_none() -> None:
    for record in (*SMALL, *FULL):
        document = encode(record)
        assert None not in document.values()
        json.dumps(document, default=lambda value: value.isoformat())
        assert {type(v) for v in document.values()} <= {str, int, float, bool, list, dict, datetime}


def test_a_field_that_a_later_version_added_is_ignored_and_a_missing_one_is_its_default() -> None:
    document = {**encode(SMALL[0]), "invented_later": {"a": 1}}
    del document["zone"]
    assert decode(User, snapshot(document)) == SMALL[0]


def test_a_missing_field_without_a_default_is_a_bad_record() -> None:
    document = {**encode(SMALL[0])}
    del document["address"]
    with pytest.raises(BadRecord, match="user document cannot be read: bad field address"):
        decode(User, snapshot(document))


@pytest.fixture
def berlin_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", json.loads(shared("cases/B57_docs.json").read_text())["tz_env"])
    process_time.tzset()
    yield
    monkeypatch.undo()
    process_time.tzset()


def test_old_shapes_of_a_time_are_read_as_utc_whatever_zone_the_host_has(berlin_host: None) -> None:
    case = json.loads(shared("cases/B57_docs.json").read_text())
    lock = encode(SMALL[5])
    eight = datetime(2026, 11, 30, 8, tzinfo=UTC)
    for shape in (case["lock_naive"], case["lock_offset"], "2026-11-30T08:00:00Z", eight.replace(tzinfo=None)):
        read = decode(Lock, snapshot({**lock, "ts": shape}))
        assert read.ts == eight
        assert read.ts.utcoffset() == timedelta(0)
    job = decode(Job, snapshot({**encode(SMALL[1]), "first_seen": case["job_first_seen_epoch_ms"]}))
    assert job.first_seen == datetime.fromtimestamp(case["job_first_seen_epoch_ms"] / 1000, UTC)
    assert decode(Job, snapshot({**encode(SMALL[1]), "first_seen": 1_795_939_200})).first_seen == job.first_seen


def test_a_time_that_is_null_where_one_must_be_is_a_bad_record() -> None:
    with pytest.raises(BadRecord, match="first_seen"):
        decode(Job, snapshot({**encode(SMALL[1]), "first_seen": None}))


async def test_an_old_shape_is_written_back_as_an_aware_time(store: Store) -> None:
    await store.put("locks", {"cron": {**encode(SMALL[5]), "ts": "2026-11-30T09:00:00+01:00"}})
    read = decode(Lock, (await store.get("locks", ["cron"]))["cron"])
    await store.put("locks", {"cron": encode(replace(read, nonce="next"))})
    assert (await store.get("locks", ["cron"]))["cron"].data["ts"] == datetime(2026, 11, 30, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"mode": "secret-mode"}, "mode"),
        ({"created_at": "secret yesterday"}, "created_at"),
        ({"created_at": 1e300}, ""),
        ({"searches": {"default": {"keywords": "secret"}}}, "searches.default.keywords"),
        ({"searches": {"default": "secret"}}, "searches.default"),
        ({"rejected_streak": "secret"}, "rejected_streak"),
        ({"address": 5}, "address"),
    ],
)
def test_a_bad_record_names_the_field_and_never_the_value(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRecord) as raised:
        decode(User, snapshot({**encode(SMALL[0]), **bad}, id_=UID))
    logged = "".join(traceback.format_exception(raised.value))
    assert str(raised.value).startswith("user document cannot be read: bad field")
    assert field in str(raised.value)
    for never in ("secret", "User@Example.com", UID):
        assert never not in logged


def test_one_bad_document_is_told_and_the_others_are_read() -> None:
    told: list[tuple[str, str]] = []
    good = encode(SMALL[0])
    some = [snapshot(dict(good), "a"), snapshot({**good, "mode": "?"}, "b"), snapshot(dict(good), "c")]
    read = read_all(User, some, lambda id_, error: told.append((id_, str(error))))
    assert read == {"a": Stored(SMALL[0], "1"), "c": Stored(SMALL[0], "1")}
    assert told == [("b", "user document cannot be read: bad field mode")]
