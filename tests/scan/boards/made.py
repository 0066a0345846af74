"""Sources made from entries of a list, as the app makes them, with a store in a file for their secrets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomlkit

from ledger.records import SourceState
from ledger.secrets import StoredSecrets
from ledger.sqlite import SqliteStore
from scan.fetch import Fetcher
from scan.posting import Answer, Failed, Items, Source
from scan.sources.config import parse
from scan.sources.registry import source_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@contextlib.asynccontextmanager
async def made(folder: Path, /, **entry: Any) -> AsyncIterator[Source]:
    """The source of an entry; loopback may be asked."""
    text = tomlkit.dumps({"source": [{"name": "x", **entry}]})
    (config,) = parse(text, where="test", environ={})
    store = SqliteStore(folder / "secrets.db", clock=lambda: NOW)
    async with Fetcher(user_agent="Scout tests", allow_loopback=True) as fetcher:
        yield source_of(config, fetcher, StoredSecrets(store))
    await store.close()


async def polled(source: Source, state: SourceState | None = None, *, deadline_s: float = 10) -> Answer:
    return await source.poll(state or SourceState("x", None), now=NOW, deadline_s=deadline_s)


async def items(source: Source, state: SourceState | None = None) -> Items:
    answer = await polled(source, state)
    assert isinstance(answer, Items), answer
    return answer


async def failure(source: Source, *, deadline_s: float = 10) -> Failed:
    answer = await polled(source, deadline_s=deadline_s)
    assert isinstance(answer, Failed), answer
    assert "s3cret" not in answer.reason
    return answer
