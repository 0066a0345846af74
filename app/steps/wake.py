"""Wake: everything in the ledger whose `wake_at` has come. Nothing else looks for due work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import structlog

from app.parts import Run
from ledger import deliveries, verdicts
from ledger.collections import DELIVERIES, DIGESTS, MATCHES
from ledger.deliveries import Row
from ledger.digests import Held
from ledger.documents import read_all
from ledger.lifecycle import State, Via
from ledger.records import Delivery, Digest
from ledger.store import Snapshot

log = structlog.get_logger()

WAKE_MAX_DOCS = 20_000  # of one collection in one run; the rest is due again at the next


@dataclass(frozen=True, slots=True)
class Woken:
    alerts: dict[str, list[Row]] = field(default_factory=dict)  # by uid: QUEUED via alert, due now
    digest_rows: dict[str, list[Row]] = field(default_factory=dict)  # by uid: QUEUED via digest, due now
    digests: dict[str, list[Held]] = field(default_factory=dict)  # by uid: pinned, due for an attempt
    verdicts: dict[str, list[verdicts.Held]] = field(default_factory=dict)  # by uid: undecided, or not yet told


async def wake(run: Run) -> Woken:
    """What is due; claims whose process died become UNCLEAR on the way."""
    woken = Woken()
    dead: list[tuple[Row, Delivery]] = []
    for row in read_all(Delivery, await _due(run, DELIVERIES), run.report.unread("deliveries")).values():
        match row.record.state, row.record.via:
            case State.CLAIMED, _:
                dead.append((row, deliveries.abandoned(row.record, now=run.now)))
            case State.QUEUED, Via.ALERT:
                woken.alerts.setdefault(row.record.uid, []).append(row)
            case State.QUEUED, Via.DIGEST:
                woken.digest_rows.setdefault(row.record.uid, []).append(row)
            case _:
                run.report.error("deliveries", f"a row that is {row.record.state} still asked to be woken")
    for given_up in await deliveries.change(run.store, dead):
        run.report.rows(given_up.state)
        log.warning("unclear: the run that was sending it died", job=given_up.job_id, outside=given_up.outside)
    for snapshot in await _due(run, DIGESTS):
        # One that cannot be read is told, and its person is served all the same: what it binds is let go.
        for digest in read_all(Digest, [snapshot], run.report.unread("digests")).values():
            woken.digests.setdefault(digest.record.uid, []).append(digest)
        if isinstance(uid := snapshot.data.get("uid"), str):
            woken.digests.setdefault(uid, [])
    for verdict in read_all(verdicts.Verdict, await _due(run, MATCHES), run.report.unread("verdicts")).values():
        woken.verdicts.setdefault(verdict.record.uid, []).append(verdict)
    return woken


async def _due(run: Run, collection: str) -> list[Snapshot]:
    found: list[Snapshot] = []
    after: Any = None
    while len(found) < WAKE_MAX_DOCS:
        page = await run.store.find_range(collection, "wake_at", at_most=run.now, after=after)
        found.extend(page.items)
        if page.after is None:
            break
        after = page.after
    return found
