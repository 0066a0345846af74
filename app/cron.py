"""GET /cron: the guard, one run, one answer. Anybody may call it, as often as they like."""

from __future__ import annotations

import asyncio
import hmac
from typing import Any

import structlog
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.parts import Parts
from app.report import Status
from app.settings import Settings

log = structlog.get_logger()

router = APIRouter()

BUDGET_MIN_S = 5
BUDGET_MAX_CHARS = 10  # more than any wall has; a number of thousands of digits is an error to read
SKIPPED_BECAUSE = "previous run in flight"
STOPPED_WHY = "stopped at once; the next run does the rest"
ENDING_WHY = "this server is about to end; call again"


class StoppedAtOnce(Exception):
    """The run was cancelled where it was, or never began, because its process has to end."""


class Runs:
    """The runs of this process: they outlive their callers, and are told when the process has to end."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[dict[str, Any]], Deadline] = {}
        self._is_ending = False
        self.were_stopped = False

    async def run(self, parts: Parts, *, wall_s: float) -> dict[str, Any]:
        """One run and its report. A caller that hangs up changes nothing: the run goes on to its end.

        Raises StoppedAtOnce when it was cancelled, or has not begun since the process ends.
        """
        if self._is_ending:
            raise StoppedAtOnce(ENDING_WHY)
        deadline = Deadline(wall_s, clock=parts.clock)
        task = asyncio.create_task(_answer(parts, deadline))
        self._running[task] = deadline
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise StoppedAtOnce(STOPPED_WHY) from None
            raise  # it is the caller who has gone

    @property
    def is_busy(self) -> bool:
        return bool(self._running)

    def wind_down(self) -> None:
        """The process has to end: the runs are cut, and none begins any more."""
        self._is_ending = True
        self.cut()

    def cut(self) -> None:
        """The wall counts as reached for every run: they stop between users."""
        for deadline in self._running.values():
            deadline.cut()

    def cancel(self) -> None:
        """Every run ends where it is, as if its process died, but gives its lease back.

        One that is just giving it back has its report, and its caller gets that.
        """
        for task in self._running:
            task.cancel()

    async def drain(self) -> None:
        """Wait until what has begun is settled."""
        if self._running:
            await asyncio.wait(list(self._running))

    def _ended(self, task: asyncio.Task[dict[str, Any]]) -> None:
        del self._running[task]
        self.were_stopped = self.were_stopped or task.cancelled()


async def _answer(parts: Parts, deadline: Deadline) -> dict[str, Any]:
    outcome = await cycle(parts, deadline=deadline)
    if not isinstance(outcome, Skipped):
        return outcome.as_json()
    return {
        "status": Status.SKIPPED.value,
        "skipped": SKIPPED_BECAUSE,
        "holder": outcome.holder,
        "since": outcome.since.isoformat(),
        "stats": outcome.stats,
        "run_id": outcome.run_id,
        "started_at": outcome.started_at.isoformat(),
        "took_s": round(outcome.took_s, 3),
    }


@router.get("/cron")
@router.post("/cron")
@router.api_route("/cron/", methods=["GET", "POST"], include_in_schema=False)
async def cron(request: Request) -> JSONResponse:
    """Run once. 200 completed, partial or skipped; 400, 401; 503 when the run as a whole could not work."""
    settings: Settings = request.app.state.settings
    if not is_authorised(request, settings):
        return JSONResponse({"status": "unauthorized", "reason": "wrong or missing secret"}, status_code=401)
    budget_s = _budget(request.query_params.getlist("budget"), settings)
    if budget_s is None:
        reason = f"budget must be a whole number of seconds from {BUDGET_MIN_S} to {settings.wall_s}"
        return JSONResponse({"status": "bad request", "reason": reason}, status_code=400)
    runs: Runs = request.app.state.runs
    try:
        report = await runs.run(request.app.state.parts, wall_s=budget_s)
    except StoppedAtOnce as stopped:
        return JSONResponse({"status": Status.FAILED.value, "reason": str(stopped)}, status_code=503)
    if report["status"] != Status.FAILED.value:
        return JSONResponse(report)
    log.error("run failed", run_id=report["run_id"], reason=report.get("reason"))
    return JSONResponse(report, status_code=503)


@router.api_route("/cron", methods=["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"], include_in_schema=False)
@router.api_route("/cron/", methods=["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"], include_in_schema=False)
def not_a_call() -> None:
    """A monitor's HEAD is no run. The two routes above would each allow their own method only."""
    raise HTTPException(405, "call it with GET or POST", headers={"Allow": "GET, POST"})


def is_authorised(request: Request, settings: Settings) -> bool:
    """`Authorization: Bearer ...` or `X-Cron-Secret`; the query only where the operator allows it."""
    expected = settings.cron_secret
    if expected is None:
        return False
    scheme, _, bearer = _header(request, "authorization").partition(b" ")
    offered = [_header(request, "x-cron-secret")]
    if scheme.lower() == b"bearer":
        offered.append(bearer)
    if settings.allow_query_secret:
        offered += map(_bytes, request.query_params.getlist("secret"))
    checks = [hmac.compare_digest(secret.strip(), _bytes(expected)) for secret in offered]
    return any(checks)


def _header(request: Request, name: str) -> bytes:
    """The value as it came, empty if it did not: a caller's secret may be UTF-8."""
    return request.headers.get(name, "").encode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _budget(given: list[str], settings: Settings) -> float | None:
    """The caller's budget, the wall if there is none; None if it cannot be read."""
    if not given:
        return float(settings.wall_s)
    text = given[-1]
    if not (text.isascii() and text.isdigit() and len(text) <= BUDGET_MAX_CHARS):
        return None
    if not BUDGET_MIN_S <= int(text) <= settings.wall_s:
        return None
    return float(int(text))
