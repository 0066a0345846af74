"""The store as one process reaches it: each operation may be late, refused, unheard or the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ledger.collections import USERS
from ledger.store import Create, Delete, Doc, Page, Put, Snapshot, Swap, Write
from tests.simulation import watch
from tests.simulation.process import Process

T = TypeVar("T", dict[str, str], set[str], Mapping[str, Any])


class Wire:
    """The store."""

    def __init__(self, process: Process) -> None:
        self._process, self._store = process, process.world.store

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        if not docs:
            return {}
        writes = [Create(collection, id_, doc) for id_, doc in docs.items()]

        async def do() -> dict[str, str]:
            self._look(writes)
            return self._seen(await self._store.create(collection, docs), writes)

        return await self._process.operate(f"create {collection}", do, {})

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        if not changes:
            return {}
        writes = [Swap(collection, id_, version, doc) for id_, (version, doc) in changes.items()]

        async def do() -> dict[str, str]:
            self._look(writes)
            return self._seen(await self._store.swap(collection, changes), writes)

        return await self._process.operate(f"swap {collection}", do, {})

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        writes = [Put(collection, id_, doc) for id_, doc in docs.items()]

        async def do() -> None:
            self._look(writes)
            await self._store.put(collection, docs)
            self._seen(docs, writes)

        return await self._process.operate(f"put {collection}", do) if docs else None

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        async def do() -> None:
            self._look([Delete(collection, id_) for id_ in ids])
            await self._store.delete(collection, ids)

        return await self._process.operate(f"delete {collection}", do) if ids else None

    async def commit(self, writes: Sequence[Write]) -> bool:
        if not writes:
            return await self._store.commit(writes)

        async def do() -> bool:
            self._look(writes)
            done = await self._store.commit(writes)
            if done:
                self._seen({write.id for write in writes}, writes)
            return done

        return await self._process.operate("commit", do, False)

    def _look(self, writes: Iterable[Write]) -> None:
        for write in writes:
            watch.before(self._process, write)

    def _seen(self, done: T, writes: Iterable[Write]) -> T:
        for write in writes:
            if write.id in done and not isinstance(write, Delete):
                watch.after(self._process, write.collection, write.id, write.data)
        return done

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        async def do() -> dict[str, Snapshot]:
            found = await self._store.get(collection, ids)
            if collection == USERS:
                at = self._process.world.now()
                for id_ in ids:
                    self._process.read[id_] = (at, found[id_].data if id_ in found else None)
            return found

        return await self._process.operate(f"get {collection}", do) if ids else {}

    async def find(self, collection: str, where: Mapping[str, Any], **more: Any) -> Page:
        async def do() -> Page:
            return self._noted(collection, await self._store.find(collection, where, **more))

        return await self._process.operate(f"find {collection}", do)

    async def find_range(self, collection: str, field: str, **more: Any) -> Page:
        async def do() -> Page:
            return self._noted(collection, await self._store.find_range(collection, field, **more))

        return await self._process.operate(f"find {collection}", do)

    def _noted(self, collection: str, page: Page) -> Page:
        if collection == USERS:
            self._process.matched_for |= {found.data.get("catch_up") or "" for found in page.items}
        return page

    async def prune(self, collection: str, **more: Any) -> int:
        await self._process.breathe()
        return await self._store.prune(collection, **more)

    async def ping(self) -> None:
        await self._process.breathe()

    async def close(self) -> None:
        return None
