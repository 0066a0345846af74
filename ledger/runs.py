"""The run log: what each run answered, kept for 30 days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ledger.collections import RUNS
from ledger.records import RUN_KEPT
from ledger.store import Doc, Store


async def keep(store: Store, run_id: str, report: Doc, *, started_at: datetime, completed_at: datetime | None) -> None:
    """Write the report of a run; `completed_at` only for one that did all its work."""
    document: dict[str, Any] = {"run_id": run_id, "report": dict(report), "started_at": started_at}
    document["expire_at"] = started_at + RUN_KEPT
    if completed_at is not None:
        document["completed_at"] = completed_at
    await store.put(RUNS, {run_id: document})


async def latest(store: Store, *, limit: int) -> list[Mapping[str, Any]]:
    """The newest reports first."""
    page = await store.find_range(RUNS, "started_at", newest_first=True, limit=limit)
    return [snapshot.data["report"] for snapshot in page.items if isinstance(snapshot.data.get("report"), dict)]


async def last_complete_at(store: Store) -> datetime | None:
    """When a run last did all its work, or None."""
    page = await store.find_range(RUNS, "completed_at", newest_first=True, limit=1)
    found = page.items[0].data.get("completed_at") if page.items else None
    return found if isinstance(found, datetime) else None


async def last_complete_began_at(store: Store) -> datetime | None:
    """When the last run that did all its work began: whatever was due by then has been dealt with."""
    page = await store.find_range(RUNS, "completed_at", newest_first=True, limit=1)
    found = page.items[0].data.get("started_at") if page.items else None
    return found if isinstance(found, datetime) else None
