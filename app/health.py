"""GET /healthz: whether a run has done all its work lately. A scout that nobody calls is not healthy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from app.parts import Parts
from app.report import Status
from ledger import runs
from ledger.store import StoreError

log = structlog.get_logger()
router = APIRouter()

ENDED = {Status.FAILED.value: "failed", Status.PARTIAL.value: "was partial"}
NOBODY_CALLS = "is anybody calling /cron?"


@router.get("/healthz")
async def healthz(request: Request) -> JSONResponse:
    """200 until SCOUT_STALE_AFTER_S have passed since the last complete run, or the first start; else 503."""
    parts: Parts = request.app.state.parts
    now = parts.clock()
    try:
        last = await runs.last_complete_at(parts.store)
        since = last or request.app.state.started_at
        age_s = max(0.0, (now - since).total_seconds())
        is_stale = age_s > parts.settings.stale_after_s
        newest = await newest_incomplete(parts, last, now=now) if is_stale else None
    except StoreError as error:
        log.error("store failed", reason=str(error))
        return JSONResponse({"status": "failed", "reason": "the store cannot be used; the log says why"}, 503)
    body = {
        "status": "stale" if is_stale else "ok",
        "last_complete_at": last.isoformat() if last else None,
        "age_s": round(age_s),
        "stale_after_s": parts.settings.stale_after_s,
    }
    if is_stale:  # anybody may ask: hosts and paths stay with those who run it
        why = f"{_ended(newest)}; /status and the log say why" if newest is not None else NOBODY_CALLS
        body["reason"] = f"no complete run for too long: {why}"
    return JSONResponse(body, status_code=503 if is_stale else 200)


async def newest_incomplete(
    parts: Parts, last_complete_at: datetime | None, *, now: datetime
) -> Mapping[str, Any] | None:
    """The newest run, if it came lately and after the last complete one. Raises StoreError."""
    for report in await runs.latest(parts.store, limit=1):
        began = datetime.fromisoformat(report["started_at"])
        is_late = now - began > timedelta(seconds=parts.settings.stale_after_s)
        if not is_late and (last_complete_at is None or began > last_complete_at):
            return report
    return None


def why_stale(newest: Mapping[str, Any] | None) -> str:
    """What keeps runs from completing, for those who run it: how the newest one ended, or that none came lately."""
    return f"{_ended(newest)}: {newest.get('reason', '')}" if newest is not None else NOBODY_CALLS


def _ended(report: Mapping[str, Any]) -> str:
    return f"the last run {ENDED.get(report['status'], report['status'])}"
