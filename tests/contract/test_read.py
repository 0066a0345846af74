"""What every store owes: get, find, find_range and their pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest

from ledger.store import Page, Store, every

T0 = datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def ids(page: Page) -> list[str]:
    return [item.id for item in page.items]


async def pages_of_range(store: Store, limit: int, **bounds: Any) -> list[list[str]]:
    pages: list[list[str]] = []
    after = None
    while True:
        page = await store.find_range("jobs", "wake_at", after=after, limit=limit, **bounds)
        pages.append(ids(page))
        if (after := page.after) is None:
            return pages


async def test_get_leaves_out_what_is_absent(store: Store) -> None:
    await store.create("users", {"a": {"n": 1}, "b": {"n": 2}})
    found = await store.get("users", ["a", "nobody", "b", "a"])
    assert {id_: s.data for id_, s in found.items()} == {"a": {"n": 1}, "b": {"n": 2}}
    assert all(id_ == s.id for id_, s in found.items())
    assert await store.get("users", []) == {}


async def test_find_matches_all_equalities_in_the_order_of_ids(store: Store) -> None:
    await store.create(
        "deliveries",
        {
            "c": {"uid": "u1", "state": "queued"},
            "a": {"uid": "u1", "state": "queued"},
            "b": {"uid": "u1", "state": "sent"},
            "d": {"uid": "u2", "state": "queued"},
            "e": {"state": "queued"},
        },
    )
    assert ids(await store.find("deliveries", {"uid": "u1"})) == ["a", "b", "c"]
    assert ids(await store.find("deliveries", {"uid": "u1", "state": "queued"})) == ["a", "c"]
    assert ids(await store.find("deliveries", {"uid": "nobody"})) == []
    assert ids(await store.find("deliveries", {})) == ["a", "b", "c", "d", "e"]


async def test_a_user_whose_id_begins_another_id_gets_only_its_own(store: Store) -> None:
    await store.create("deliveries", {"abc_j1": {"uid": "abc"}, "abc_def_j1": {"uid": "abc_def"}})
    assert ids(await store.find("deliveries", {"uid": "abc"})) == ["abc_j1"]


async def test_true_one_and_the_text_of_one_are_three_values(store: Store) -> None:
    await store.create("users", {"b": {"v": True}, "i": {"v": 1}, "s": {"v": "1"}, "t": {"v": "true"}})
    found = [ids(await store.find("users", {"v": value})) for value in (True, 1, "1", "true", False, 0, "")]
    assert found == [["b"], ["i"], ["s"], ["t"], [], [], []]


@pytest.mark.parametrize(
    "text", ["", "ü 🎉", 'say "hi"', "back\\slash", "it's", "line\nbreak", "\u2028", "2026-11-30T08:00:00Z"]
)
async def test_any_text_can_be_searched_for(store: Store, text: str) -> None:
    await store.create("users", {"a": {"token": text}, "b": {"token": "other"}})
    assert ids(await store.find("users", {"token": text})) == ["a"]


async def test_a_field_name_with_dots_dashes_or_back_ticks_is_one_name(store: Store) -> None:
    names = ["a.b@example.com", "remote-ok", "a`b", "1st"]
    await store.create("sources", {f"d{i}": {name: "x", "a": {"b@example": "y"}} for i, name in enumerate(names)})
    assert [ids(await store.find("sources", {name: "x"})) for name in names] == [["d0"], ["d1"], ["d2"], ["d3"]]


async def test_find_pages_hold_each_document_once(store: Store) -> None:
    await store.create("jobs", {f"j{i}": {"state": "open"} for i in range(7)} | {"x": {"state": "seen"}})
    first = await store.find("jobs", {"state": "open"}, limit=3)
    second = await store.find("jobs", {"state": "open"}, limit=3, after=first.after)
    third = await store.find("jobs", {"state": "open"}, limit=3, after=second.after)
    assert [ids(first), ids(second), ids(third)] == [["j0", "j1", "j2"], ["j3", "j4", "j5"], ["j6"]]
    assert third.after is None


async def test_a_page_is_continued_past_a_document_that_has_gone(store: Store) -> None:
    await store.create("jobs", {f"j{i}": {"state": "open"} for i in range(4)})
    page = await store.find("jobs", {"state": "open"}, limit=2)
    await store.delete("jobs", ["j1"])
    assert ids(await store.find("jobs", {"state": "open"}, after=page.after)) == ["j2", "j3"]


async def test_every_walks_all_pages(store: Store) -> None:
    await store.create("jobs", {f"j{i:04d}": {"state": "open"} for i in range(1001)})
    assert [s.id async for s in every(store, "jobs", {"state": "open"})] == [f"j{i:04d}" for i in range(1001)]


async def test_both_bounds_of_a_range_are_included_to_the_microsecond(store: Store) -> None:
    at = {"a": T0 - MICROSECOND, "b": T0, "c": T0 + MICROSECOND, "d": T0 + 2 * MICROSECOND}
    await store.create("jobs", {id_: {"wake_at": t} for id_, t in at.items()})
    assert ids(await store.find_range("jobs", "wake_at", at_least=T0, at_most=T0 + MICROSECOND)) == ["b", "c"]
    assert ids(await store.find_range("jobs", "wake_at", at_most=T0)) == ["a", "b"]
    assert ids(await store.find_range("jobs", "wake_at", at_least=T0)) == ["b", "c", "d"]
    assert ids(await store.find_range("jobs", "wake_at", at_least=T0 + MICROSECOND, at_most=T0)) == []


async def test_a_bound_in_another_zone_is_the_same_instant(store: Store) -> None:
    await store.create("jobs", {"a": {"wake_at": T0}})
    elsewhere = T0.astimezone(datetime.strptime("+0530", "%z").tzinfo)
    assert ids(await store.find_range("jobs", "wake_at", at_least=elsewhere, at_most=elsewhere)) == ["a"]


async def test_a_naive_bound_is_a_mistake_that_is_told(store: Store) -> None:
    with pytest.raises(ValueError, match="without a zone"):
        await store.find_range("jobs", "wake_at", at_most=T0.replace(tzinfo=None))


async def test_only_documents_whose_field_is_a_time_are_in_a_range(store: Store) -> None:
    await store.create(
        "jobs",
        {
            "none": {"n": 1},
            "text": {"wake_at": "2026-11-30T08:00:00+00:00"},
            "number": {"wake_at": 1_795_939_200},
            "deep": {"in": {"wake_at": T0}},
            "time": {"wake_at": T0},
            "old": {"wake_at": datetime(1, 1, 1, tzinfo=UTC)},
        },
    )
    assert await pages_of_range(store, 10) == [["old", "time"]]
    assert await pages_of_range(store, 10, newest_first=True) == [["time", "old"]]
    assert await pages_of_range(store, 10, at_most=T0) == [["old", "time"]]


@pytest.mark.parametrize("newest_first", [False, True])
async def test_pages_of_a_range_hold_each_document_once_even_where_times_are_equal(
    store: Store, newest_first: bool
) -> None:
    at = {f"j{i}": T0 + timedelta(seconds=i // 4) for i in range(11)}
    await store.create("jobs", {id_: {"wake_at": t} for id_, t in at.items()})
    expected = sorted(at, key=lambda id_: (at[id_], id_), reverse=newest_first)
    pages = await pages_of_range(store, 3, newest_first=newest_first)
    assert list(chain.from_iterable(pages)) == expected
    assert [len(page) for page in pages] == [3, 3, 3, 2]
    bounded = await pages_of_range(store, 3, newest_first=newest_first, at_least=T0, at_most=T0 + timedelta(seconds=1))
    assert list(chain.from_iterable(bounded)) == [id_ for id_ in expected if at[id_] < T0 + timedelta(seconds=2)]


async def test_one_field_name_of_odd_letters_can_be_a_range(store: Store) -> None:
    await store.create("sources", {"a": {"next-poll.at": T0}})
    assert ids(await store.find_range("sources", "next-poll.at", at_most=T0)) == ["a"]


@pytest.mark.parametrize("limit", [0, -1, 501])
async def test_a_page_larger_than_promised_is_a_mistake_that_is_told(store: Store, limit: int) -> None:
    with pytest.raises(ValueError, match="a page has 1 to 500"):
        await store.find("jobs", {}, limit=limit)
    with pytest.raises(ValueError, match="a page has 1 to 500"):
        await store.find_range("jobs", "wake_at", limit=limit)


async def test_a_collection_nobody_wrote_to_is_empty(store: Store) -> None:
    assert await store.find("quotas", {}) == Page((), None)
    assert await store.find_range("quotas", "at") == Page((), None)
    assert await store.get("quotas", ["a"]) == {}
