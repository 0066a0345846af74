"""Sweep: a bounded slice of what has expired, where the store does not remove it by itself."""

from __future__ import annotations

from app.parts import Run
from ledger.records import ALIASES, DELIVERIES, DIGESTS, FINGERPRINTS, JOBS, MATCHES, RUNS

GROWING = (JOBS, ALIASES, FINGERPRINTS, DELIVERIES, MATCHES, DIGESTS, RUNS)
SLICE_MAX_DOCS = 500  # of one collection in one run


async def sweep(run: Run) -> None:
    for collection in GROWING:
        if run.deadline.left_s() <= 0:
            return
        await run.store.prune(collection, now=run.now, limit=SLICE_MAX_DOCS)
