"""What only SQLite's adapter owes: plans that use an index, shared commits, durability, a private file."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.collections import INDEXES
from ledger.sqlite import SqliteStore
from ledger.sqlite_sql import Args, find_sql, prune_sql, range_sql
from ledger.store import Create, Refused, Swap
from tests.conftest import real_clock

T0 = datetime(2026, 11, 30, 8, tzinfo=UTC)
EQUAL = [(collection, field) for collection, index in INDEXES.items() for field in index.equal]
RANGED = [(collection, field) for collection, index in INDEXES.items() for field in index.ranged]


@pytest.fixture
async def file(sqlite_store: SqliteStore, sqlite_path: Path) -> Path:
    """A file with its tables."""
    await sqlite_store.ping()
    return sqlite_path


@pytest.fixture
def db(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as db:
        yield db


def plan(db: sqlite3.Connection, sql: str, args: Args) -> str:
    return " | ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", args))


@pytest.mark.parametrize(("collection", "field"), EQUAL)
def test_an_equality_is_searched_by_its_index_and_needs_no_sort(
    db: sqlite3.Connection, collection: str, field: str
) -> None:
    used = plan(db, *find_sql(collection, {field: "x"}, after="a", limit=500))
    assert used == f"SEARCH {collection} USING INDEX {collection}.{field} (<expr>=? AND id>?)"


def test_of_several_equalities_the_first_declared_is_searched(db: sqlite3.Connection) -> None:
    sql, args = find_sql("deliveries", {"state": "queued", "via": "alert", "uid": "u"}, after=None, limit=500)
    assert plan(db, sql, args) == "SEARCH deliveries USING INDEX deliveries.uid (<expr>=? AND id>?)"


def test_a_walk_over_all_is_in_the_order_of_the_key(db: sqlite3.Connection) -> None:
    assert "sqlite_autoindex_users_1 (id>?)" in plan(db, *find_sql("users", {}, after="a", limit=500))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(("collection", "field"), RANGED)
def test_a_range_is_searched_by_its_index_and_needs_no_sort(
    db: sqlite3.Connection, collection: str, field: str, newest_first: bool
) -> None:
    index = f"SEARCH {collection} USING INDEX {collection}.{field}"
    for after in (None, (T0, "a")):
        for at_least in (None, T0):
            sql, args = range_sql(
                collection, field, at_least=at_least, at_most=T0, newest_first=newest_first, after=after, limit=500
            )
            assert plan(db, sql, args).startswith(index)
            assert "TEMP B-TREE" not in plan(db, sql, args)


@pytest.mark.parametrize("collection", INDEXES)
def test_prune_finds_what_has_expired_by_an_index(db: sqlite3.Connection, collection: str) -> None:
    used = plan(db, *prune_sql(collection, now=T0, limit=100))
    assert (
        f"USING INDEX {collection}.expire_at (<expr><?)" in used
        or f"{collection}.expire_at (<expr>>? AND <expr><?)" in used
    )
    assert "SCAN" not in used.replace("SCAN LIST", "")


async def test_writes_that_wait_together_share_a_commit(sqlite_store: SqliteStore, file: Path) -> None:
    before = frames(file)
    won = await asyncio.gather(*[sqlite_store.create("deliveries", {f"u{i}_j": {"n": 1}}) for i in range(400)])
    assert sum(map(len, won)) == 400
    assert frames(file) - before < 400  # alone, each commit writes at least the page of the row and that of its key


async def test_a_write_that_fails_undoes_itself_alone_among_those_that_share_its_commit(
    sqlite_store: SqliteStore,
) -> None:
    version = (await sqlite_store.create("users", {"a": {"n": 0}}))["a"]
    calls = [sqlite_store.create("jobs", {f"j{i}": {"n": i}}) for i in range(20)]
    bad = [
        sqlite_store.commit([Create("digests", f"d{i}", {"n": 1}), Swap("users", "a", "stale", {"n": 9})])
        for i in range(20)
    ]
    good = sqlite_store.commit([Create("digests", "d", {"n": 1}), Swap("users", "a", version, {"n": 1})])
    done = await asyncio.gather(*[call for pair in zip(calls, bad, strict=True) for call in pair], good)
    assert [set(ids) for ids in done[:-1:2] if isinstance(ids, dict)] == [{f"j{i}"} for i in range(20)]
    assert done[1:-1:2] == [False] * 20
    assert done[-1] is True
    assert [s.id for s in (await sqlite_store.find("digests", {})).items] == ["d"]


async def test_a_write_that_breaks_tells_its_own_caller_only(sqlite_store: SqliteStore, file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TRIGGER no BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no runs today'); END")
    done = await asyncio.gather(
        sqlite_store.create("jobs", {"a": {"n": 1}}),
        sqlite_store.create("runs", {"a": {"n": 1}}),
        sqlite_store.create("jobs", {"b": {"n": 1}}),
        return_exceptions=True,
    )
    assert isinstance(done[1], Refused)
    assert [set(ids) for ids in (done[0], done[2]) if isinstance(ids, dict)] == [{"a"}, {"b"}]
    assert set(await sqlite_store.get("jobs", ["a", "b"])) == {"a", "b"}


async def test_a_cancelled_caller_leaves_the_store_working(sqlite_store: SqliteStore) -> None:
    tasks = [asyncio.create_task(sqlite_store.create("jobs", {f"j{i}": {"n": i}})) for i in range(50)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(len(ids) == 1 for ids in done[1::2] if isinstance(ids, dict))
    assert sum(isinstance(ids, dict) for ids in done[1::2]) == 25
    found = {s.id for s in (await sqlite_store.find("jobs", {})).items}
    assert found >= {f"j{i}" for i in range(1, 50, 2)}


def test_one_store_serves_several_event_loops_in_turn(sqlite_path: Path) -> None:
    store = SqliteStore(sqlite_path, clock=real_clock)
    won = [asyncio.run(store.create("jobs", {"a": {"n": n}, f"b{n}": {"n": n}})) for n in range(3)]
    assert [set(ids) for ids in won] == [{"a", "b0"}, {"b1"}, {"b2"}]
    asyncio.run(store.close())


async def test_the_file_is_in_wal_mode_and_belongs_to_its_owner_only(file: Path, db: sqlite3.Connection) -> None:
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    for path in file.parent.glob("scout.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


async def test_every_commit_is_synced_to_the_disk(sqlite_store: SqliteStore, file: Path) -> None:
    await sqlite_store.create("jobs", {"a": {"n": 1}})
    for connection in sqlite_store._file._connections.values():
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


async def test_a_closed_file_opens_again_with_all_that_was_written(sqlite_path: Path) -> None:
    for n in range(3):
        store = SqliteStore(sqlite_path, clock=real_clock)
        await store.create("jobs", {f"j{n}": {"n": n}})
        await store.close()
    store = SqliteStore(sqlite_path, clock=real_clock)
    assert [s.id for s in (await store.find("jobs", {})).items] == ["j0", "j1", "j2"]
    await store.close()


async def test_a_file_of_an_older_scout_gets_the_indexes_it_lacks(sqlite_store: SqliteStore, sqlite_path: Path) -> None:
    await sqlite_store.create("deliveries", {"a": {"uid": "u"}})
    await sqlite_store.close()
    with closing(sqlite3.connect(sqlite_path)) as older:
        older.execute('DROP INDEX "deliveries.uid"')
        older.execute("PRAGMA user_version = 1")
        older.commit()
    again = SqliteStore(sqlite_path, clock=real_clock)
    assert [s.id for s in (await again.find("deliveries", {"uid": "u"})).items] == ["a"]
    await again.close()
    with closing(sqlite3.connect(sqlite_path)) as newer:
        assert newer.execute("SELECT count(*) FROM sqlite_master WHERE name = 'deliveries.uid'").fetchone() == (1,)


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_store_without_a_file_is_a_mistake_that_is_told(path: str) -> None:
    with pytest.raises(ValueError, match="needs a file"):
        SqliteStore(path, clock=real_clock)


def frames(file: Path) -> int:
    """Pages written to the log since it began: (size - 32) / (4096 + 24)."""
    return (file.with_name("scout.db-wal").stat().st_size - 32) // 4120
