"""Sweep: a bounded slice of what has expired, where the store does not remove it by itself."""

from __future__ import annotations

from app.parts import Run
from ledger.collections import (
    ALIASES,
    DELIVERIES,
    DIGESTS,
    FEEDBACK,
    FINGERPRINTS,
    JOBS,
    LIMITS,
    MATCHES,
    RUNS,
    SESSIONS,
    SIGN_INS,
    SPEND,
)

GROWING = (
    JOBS, ALIASES, FINGERPRINTS, DELIVERIES, MATCHES, DIGESTS, RUNS, SIGN_INS, SESSIONS, LIMITS, FEEDBACK, SPEND,
)  # fmt: skip
SLICE_MAX_DOCS = 500  # of one collection in one run


async def sweep(run: Run) -> None:
    for collection in GROWING:
        if run.deadline.left_s() <= 0:
            return
        await run.store.prune(collection, now=run.now, limit=SLICE_MAX_DOCS)
