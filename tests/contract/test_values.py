"""What every store owes: a document comes back as it went in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ledger.store import Refused, Store
from tests.shared import shared

T0 = datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)

DOC: dict[str, Any] = {
    "text": "Überschrift 求 🎉 \u0000 \u2028 \"quoted\" 'single' \\ back",
    "empty": "",
    "long": "x" * 20_000,
    "small": -1,
    "large": 2**63 - 1,
    "least": -(2**63),
    "real": 0.1,
    "whole": 3.0,
    "tiny": 5e-324,
    "yes": True,
    "no": False,
    "zero": 0,
    "at": T0,
    "early": datetime(1, 1, 1, tzinfo=UTC),
    "late": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "before_1970": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "map": {"a": {"b": {"c": [1, "two", 3.5, True, {"d": "e"}]}}},
    "empty_map": {},
    "empty_list": [],
    "list_of_maps": [{"a": 1}, {"b": T0}],
    "list_with_none": [1, None],
    "times": {"in_a_map": T0, "in_a_list": [T0, "2026-11-30T08:00:00+00:00"]},
}


async def back(store: Store, doc: dict[str, Any]) -> dict[str, Any]:
    await store.create("runs", {"a": doc})
    return (await store.get("runs", ["a"]))["a"].data


async def test_every_kind_of_value_comes_back_as_it_went_in(store: Store) -> None:
    read = await back(store, DOC)
    assert read == DOC
    assert {k: type(v) for k, v in read.items()} == {k: type(v) for k, v in DOC.items()}
    assert read["at"].tzinfo is UTC
    assert read["times"]["in_a_list"][0].tzinfo is UTC


async def test_find_and_find_range_read_the_same_document_as_get(store: Store) -> None:
    read = await back(store, DOC)
    assert (await store.find("runs", {"yes": True})).items[0].data == read
    assert (await store.find_range("runs", "at")).items[0].data == read


async def test_a_text_that_looks_like_a_stored_time_stays_a_text(store: Store) -> None:
    doc = {
        "iso": "2026-11-30T08:00:00.000000+00:00",
        "deep": {"iso": ["2026-11-30T08:00:00.000000+00:00"]},
        "@t": "2026-11-30T08:00:00.000000+00:00",
        "map": {"@t": "2026-11-30T08:00:00.000000+00:00", "@@t": "x", "@": "y", "t": "@t"},
        "times": {"@t": T0},
        "mark": "@t",
    }
    assert await back(store, doc) == doc


async def test_a_field_that_is_none_is_not_stored(store: Store) -> None:
    assert await back(store, {"a": None, "b": {"c": None, "d": 1}, "e": None}) == {"b": {"d": 1}}


async def test_a_time_of_any_zone_comes_back_as_the_same_instant_in_utc(store: Store) -> None:
    there = T0.astimezone(timezone(timedelta(hours=-7)))
    read = await back(store, {"at": there, "deep": [there]})
    assert (read["at"], read["at"].utcoffset()) == (T0, timedelta(0))
    assert read["deep"][0].utcoffset() == timedelta(0)


async def test_tuples_come_back_as_lists(store: Store) -> None:
    assert await back(store, {"a": (1, {"b": (2,)})}) == {"a": [1, {"b": [2]}]}


async def test_field_names_with_dots_dashes_and_back_ticks_are_plain_keys(store: Store) -> None:
    names = json.loads(shared("cases/B61_keys.json").read_text())
    doc: dict[str, Any] = {name: nth for nth, name in enumerate(names)}
    doc["counts"] = dict(doc)
    read = await back(store, doc)
    assert read == doc
    bumped = {**doc, "counts": {name: nth + 1 for nth, name in enumerate(names)}}
    version = (await store.get("runs", ["a"]))["a"].version
    await store.swap("runs", {"a": (version, bumped)})
    assert (await store.get("runs", ["a"]))["a"].data == bumped


@pytest.mark.parametrize(
    ("doc", "says"),
    [
        ({"at": T0.replace(tzinfo=None)}, "a time without a zone in at"),
        ({"a": {"at": T0.replace(tzinfo=None)}}, "a time without a zone in a.at"),
        ({"a": [[1]]}, "a list directly inside a list in a"),
        ({"a": 2**63}, "more than 64 bits in a"),
        ({"a": float("nan")}, "JSON does not know in a"),
        ({"a": b"bytes"}, "bytes cannot be stored, in a"),
        ({"a": {1}}, "set cannot be stored, in a"),
        ({"": 1}, "not a field's name"),
        ({"__a__": 1}, "not a field's name"),
    ],
)
async def test_what_one_store_could_not_keep_is_refused_by_both(store: Store, doc: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        await store.create("runs", {"good": {"n": 1}, "bad": doc})
    assert await store.get("runs", ["good", "bad"]) == {}


async def test_too_many_levels_are_a_mistake_that_is_told(store: Store) -> None:
    doc: dict[str, Any] = {"n": 1}
    for _ in range(20):
        doc = {"in": doc}
    with pytest.raises(ValueError, match="more than 20 levels"):
        await store.put("runs", {"a": doc})


async def test_a_document_over_one_mebibyte_is_refused(store: Store) -> None:
    with pytest.raises(Refused, match="more than 1048576"):
        await store.put("jobs", {"a": {"text": "x" * 1_048_577}})
    await store.put("jobs", {"a": {"text": "x" * 1_000_000}})


async def test_text_that_is_not_unicode_is_refused_without_showing_it(store: Store) -> None:
    with pytest.raises(Refused, match="not Unicode") as refused:
        await store.put("jobs", {"a": {"text": "secret \ud800"}})
    assert "secret" not in str(refused.value)


async def test_the_caller_and_the_store_share_no_mutable_value(store: Store) -> None:
    doc = {"list": [1], "map": {"a": 1}}
    first = await back(store, doc)
    doc["list"].append(2)  # type: ignore[attr-defined]
    first["map"]["a"] = 9
    assert (await store.get("runs", ["a"]))["a"].data == {"list": [1], "map": {"a": 1}}
