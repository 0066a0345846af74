"""How the scout does, for its operator: runs, sources, rows that nobody can tell about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from app.cron import is_authorised
from app.health import newest_incomplete, why_stale
from app.pages.chart import chart
from app.pages.form import Refused
from app.pages.view import page
from app.pages.visitor import SignInFirst, is_operator, parts_of, visitor_of
from app.parts import Parts
from ledger import runs, sources, spend
from ledger.collections import DELIVERIES
from ledger.documents import BadRecord, decode
from ledger.lifecycle import State
from ledger.records import Delivery, Health, SourceState
from ledger.spend import Spent
from ledger.store import Store

router = APIRouter(default_response_class=HTMLResponse)

RUNS_SHOWN = 40
UNCLEAR_SHOWN = 50
DAYS_SHOWN = 14


@dataclass(frozen=True, slots=True)
class Status:
    now: datetime
    is_stale: bool
    why_stale: str
    last_complete_at: datetime | None
    since: datetime  # what the age counts from: that, or the start
    runs: list[Mapping[str, Any]]
    sources: list[SourceState]
    unreadable: int  # source documents
    unclear: list[Delivery]
    unclear_more: bool
    spent: list[Spent]  # on verdicts, by day, the newest first


@router.get("/status")
async def status(request: Request) -> Response:
    """Answers the secret, or the operator's session."""
    settings = request.app.state.settings
    wants_json = request.query_params.get("format") == "json"
    if not is_authorised(request, settings):
        visitor = await visitor_of(request)
        if visitor is None and (wants_json or "text/html" not in request.headers.get("accept", "")):
            return JSONResponse({"status": "unauthorized", "reason": "wrong or missing secret"}, status_code=401)
        if visitor is None:
            raise SignInFirst("/status")
        if not is_operator(visitor, settings):
            raise Refused(403, "This page is for whoever runs this scout (SCOUT_OPERATOR).")
    found = await read_status(parts_of(request), started_at=request.app.state.started_at)
    if wants_json:
        return JSONResponse(as_json(found))
    return page(
        request,
        "status.html",
        status_=found,
        is_failing=is_failing,
        chart=chart(found.runs),
        stale_after=settings.stale_after_s,
    )


async def read_status(parts: Parts, *, started_at: datetime) -> Status:
    """Raises StoreError."""
    now = parts.clock()
    last = await runs.last_complete_at(parts.store)
    since = last or started_at
    states, bad = await sources.every_state(parts.store)
    configured = [state for state in states if state.name in parts.sources]
    unclear, more = await _unclear(parts.store)
    is_stale = (now - since).total_seconds() > parts.settings.stale_after_s
    return Status(
        now=now,
        is_stale=is_stale,
        why_stale=why_stale(await newest_incomplete(parts, last, now=now)) if is_stale else "",
        last_complete_at=last,
        since=since,
        runs=[run for run in await runs.latest(parts.store, limit=RUNS_SHOWN) if "jobs" in run],
        sources=sorted(configured, key=lambda state: (not is_failing(state), state.name)),
        unreadable=len(bad),
        unclear=unclear,
        unclear_more=more,
        spent=await spend.by_day(parts.store, last=DAYS_SHOWN, today=now.date()),
    )


def is_failing(source: SourceState) -> bool:
    return source.failures > 0 or source.health is Health.SUSPENDED


def as_json(status: Status) -> dict[str, Any]:
    return {
        "status": "stale" if status.is_stale else "ok",
        "last_complete_at": _iso(status.last_complete_at),
        "age_s": round((status.now - status.since).total_seconds()),
        "runs": status.runs,
        "sources": [
            {
                "name": source.name,
                "health": source.health.value if source.health else None,
                "reason": source.reason,
                "failures": source.failures,
                "ok_at": _iso(source.ok_at),
                "next_poll_at": _iso(source.next_poll_at),
            }
            for source in status.sources
        ],
        "unclear": [
            {"outside": row.outside, "job_id": row.job_id, "why": row.why, "at": _iso(row.final_at)}
            for row in status.unclear
        ],
        "unclear_more": status.unclear_more,
        "verdicts": [
            {
                "day": day.day,
                "calls": day.calls,
                "input_tokens": day.input_tokens,
                "output_tokens": day.output_tokens,
                "usd": day.micros / 1e6,
            }
            for day in status.spent
        ],
    }


async def _unclear(store: Store) -> tuple[list[Delivery], bool]:
    found = await store.find(DELIVERIES, {"state": State.UNCLEAR.value}, limit=UNCLEAR_SHOWN + 1)
    rows: list[Delivery] = []
    for snapshot in found.items[:UNCLEAR_SHOWN]:
        try:
            rows.append(decode(Delivery, snapshot))
        except BadRecord:
            continue
    return rows, len(found.items) > UNCLEAR_SHOWN


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
