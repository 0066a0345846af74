"""GET /healthz: whether a run has done all its work lately. A scout that nobody calls is not healthy."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from app.parts import Parts
from ledger import runs
from ledger.store import StoreError

router = APIRouter()


@router.get("/healthz")
async def healthz(request: Request) -> JSONResponse:
    """200 until SCOUT_STALE_AFTER_S have passed since the last complete run, or the first start; else 503."""
    parts: Parts = request.app.state.parts
    now = parts.clock()
    try:
        last = await runs.last_complete_at(parts.store)
    except StoreError as error:
        return JSONResponse({"status": "failed", "reason": f"the store cannot be used: {error}"}, status_code=503)
    since = last or request.app.state.started_at
    age_s = max(0.0, (now - since).total_seconds())
    is_stale = age_s > parts.settings.stale_after_s
    body = {
        "status": "stale" if is_stale else "ok",
        "last_complete_at": last.isoformat() if last else None,
        "age_s": round(age_s),
        "stale_after_s": parts.settings.stale_after_s,
    }
    if is_stale:
        body["reason"] = "no complete run for too long: is anybody calling /cron?"
    return JSONResponse(body, status_code=503 if is_stale else 200)
