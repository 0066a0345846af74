"""A job that a feed lists under moving ids is one job, whoever stores it first and however slow the other is."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger import ids
from ledger.collections import JOBS
from ledger.jobs import Admitted, Candidate, admit
from ledger.records import Job, JobState
from ledger.store import Store, every

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
LINK = ids.alias_id("feed:x", "https://jobs.example.com/1\npython developer")


def item(guid: str) -> Candidate:
    id_ = ids.job_id("feed:x", guid)
    job = Job(
        id=id_, platform="feed:x", source="x", title="Python developer", link="https://jobs.example.com/1", text="",
        first_seen=NOW, state=JobState.OPEN, key=id_,
    )  # fmt: skip
    return Candidate(job, aliases=(ids.alias_id("feed:x", guid), LINK))


async def stored(store: Store) -> list[str]:
    return [snapshot.id async for snapshot in every(store, JOBS, {})]


class Held:
    """A store that lets another run do all of its work just before a write of this one."""

    def __init__(self, store: Store, collection: str, other: Any) -> None:
        self._store, self._collection, self._other = store, collection, other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def create(self, collection: str, docs: Any) -> dict[str, str]:
        if collection == self._collection and self._other is not None:
            other, self._other = self._other, None
            await other()
        return await self._store.create(collection, docs)


async def test_an_item_under_a_new_guid_is_the_job_that_is_stored(store: Store) -> None:
    first = await admit(store, [item("monday")], now=NOW)
    second = await admit(store, [item("tuesday")], now=NOW + timedelta(hours=1))
    third = await admit(store, [item("wednesday")], now=NOW + timedelta(hours=2))
    assert [len(each.new) for each in (first, second, third)] == [1, 0, 0]
    assert await stored(store) == [item("monday").job.id]


async def test_a_run_suspended_between_its_aliases_and_its_job_does_not_make_a_second_job(store: Store) -> None:
    later: list[Admitted] = []

    async def other() -> None:
        later.append(await admit(store, [item("tuesday")], now=NOW))

    slow = await admit(Held(store, JOBS, other), [item("monday")], now=NOW)  # type: ignore[arg-type]
    assert [job.id for job in later[0].new] == [item("monday").job.id]
    assert slow.new == ()
    assert await stored(store) == [item("monday").job.id]


async def test_a_run_overtaken_before_its_aliases_takes_the_id_that_they_name(store: Store) -> None:
    async def other() -> None:
        await admit(store, [item("tuesday")], now=NOW)

    slow = await admit(Held(store, "aliases", other), [item("monday")], now=NOW)  # type: ignore[arg-type]
    assert slow.new == ()
    assert await stored(store) == [item("tuesday").job.id]


async def test_an_alias_of_a_run_that_died_hides_nothing(store: Store) -> None:
    """Its job never came to be: the next poll stores it, once, under whatever guid."""

    class Dies(Exception):
        pass

    async def dies() -> None:
        raise Dies

    with contextlib.suppress(Dies):
        await admit(Held(store, JOBS, dies), [item("monday")], now=NOW)  # type: ignore[arg-type]
    assert await stored(store) == []
    assert len((await admit(store, [item("tuesday")], now=NOW)).new) == 1
    assert len((await admit(store, [item("monday")], now=NOW)).new) == 0


async def test_two_items_of_one_answer_never_become_one_by_an_alias_left_behind(store: Store) -> None:
    lone = replace(item("monday"), aliases=(LINK,))
    other = replace(item("tuesday"), aliases=(LINK,))
    admitted = await admit(store, [lone, other], now=NOW)
    assert {job.id for job in admitted.new} == {lone.job.id, other.job.id}
