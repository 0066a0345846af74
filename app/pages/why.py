"""Why did I not get this job? A pasted link, and the exact thing that stood in the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.pages import words
from app.pages.history import rows_of
from app.pages.view import page
from app.pages.visitor import Visitor, parts_of, signed_in
from app.pages.week import Told
from app.parts import Parts
from ledger import ids, verdicts
from ledger.collections import JOBS
from ledger.documents import BadRecord, decode
from ledger.lifecycle import ALERT_CAP_JOBS
from ledger.records import Delivery, Job, JobState, User
from ledger.store import Store
from ledger.verdicts import Verdict, VerdictState
from mail.dates import moment
from scan.links import LINK_MAX_CHARS, absolute, canonical
from scan.match import Fit, NoFit, decide

router = APIRouter(default_response_class=HTMLResponse)

CATCH_UP = timedelta(hours=24)  # what a new profile is matched with
SAME_LINK_MAX = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """`said` is the short of it, `detail` one more sentence; the job if we know it, the row if there is one."""

    said: str
    detail: str = ""
    job: Job | None = None
    row: Delivery | None = None


@router.get("/me/why")
async def why(request: Request) -> Response:
    visitor = await signed_in(request)
    typed = request.query_params.get("link", "").strip()
    error, answer = "", None
    if typed:
        link = read_link(typed)
        if link:
            week = await request.app.state.week.jobs(parts_of(request).store, now=visitor.now)
            answer = await why_not(parts_of(request), visitor, link, week)
        else:
            error = "That is not the link of a job. Copy it from the browser's address line."
    facts = {"typed": typed[:LINK_MAX_CHARS], "error": error, "answer": answer, "zone": visitor.user.zone}
    return page(request, "why.html", status=400 if error else 200, **facts)  # type: ignore[arg-type]  # all facts


def read_link(typed: str) -> str:
    """The link that was pasted, with or without https://; empty if it is none."""
    if len(typed) > LINK_MAX_CHARS or any(c.isspace() for c in typed):
        return ""
    return absolute(typed if "://" in typed[:12] else f"https://{typed}")


async def why_not(parts: Parts, visitor: Visitor, link: str, week: list[Told]) -> Answer:
    """The first thing that decided, in the order in which a run decides. Raises StoreError."""
    same = canonical(link)
    rows, _ = await rows_of(parts.store, visitor.uid)
    jobs = await _jobs(parts.store, same, week)
    keys = {job.key for job in jobs}
    for row in rows:
        if row.key in keys or same in map(canonical, (row.link, *row.twin_links)):
            return Answer(
                f"{words.became(row, visitor.user, visitor.now)}.", f"It fits: {row.reason}.", _first(jobs), row
            )
    if not jobs:
        return Answer(
            "Not fetched: no job with this link has come from the boards that are read here in the last 30 days.",
            f"Read here: {', '.join(sorted(parts.sources)) or 'no source at all'}. The link must be the one that the "
            "board itself gives.",
        )
    job = max(jobs, key=lambda job: job.first_seen)
    return replace(await _why(parts.store, visitor.user, job, visitor.now), job=job)


async def _why(store: Store, user: User, job: Job, now: datetime) -> Answer:
    said = decide(user, job, now=job.first_seen)
    if isinstance(said, NoFit):
        return Answer(f"It does not fit: {said.detail}.")
    verdict = await _verdict(store, user, job)
    if verdict is not None and (answer := _by_verdict(user, verdict)) is not None:
        return answer
    if job.state is JobState.SEEN and job.fresh_at is None:
        when = moment(job.first_seen, user.zone)
        return Answer(
            f"Too old: it was on the board already when that was first read, {when}.",
            "What a board lists before its first reading is a backlog and is not sent.",
        )
    if (job.fresh_at or job.first_seen) < user.created_at - CATCH_UP:
        when = moment(user.created_at, user.zone)
        return Answer(f"Too old: it came more than a day before you signed up, {when}.")
    if standing := words.standing(user, now):
        return Answer(standing, f"It would fit: {said.reason}.")
    return _fits_now(user, job, said, now)


def _fits_now(user: User, job: Job, said: Fit, now: datetime) -> Answer:
    if job.state is JobState.OPEN or (user.catch_up is not None and now - job.first_seen < CATCH_UP):
        return Answer("It is about to be decided, at the next look at the boards.", f"It fits: {said.reason}.")
    detail = (
        f"It fits now: {said.reason}. After a change or a pause you get the {ALERT_CAP_JOBS} best of one day at most."
    )
    if user.paused_until is not None and job.first_seen < user.paused_until:
        when = moment(user.paused_until, user.zone)
        return Answer(
            f"It fits what you ask for now, but it came before your pause ended, {when}: you were paused, or asked for "
            "something else.",
            detail,
        )
    return Answer(
        "It fits what you ask for now, but when it came you asked for something else, or mail was off for you.", detail
    )


def _by_verdict(user: User, verdict: Verdict) -> Answer | None:
    if verdict.state is VerdictState.PENDING and verdict.was_decided:
        return Answer(f"It is to be scored again; until then its {verdict.score} of 100 stands.", verdict.reason)
    if verdict.state is VerdictState.PENDING:
        return Answer("It waits for the model's verdict; without one for two hours, keywords decide.")
    if verdict.score is not None and verdict.score < user.ai_threshold:
        return Answer(f"Score {verdict.score}, under your {user.ai_threshold}.", verdict.reason)
    return None


async def _verdict(store: Store, user: User, job: Job) -> Verdict | None:
    id_ = ids.pair_id(user.uid, job.key)
    found = await verdicts.read(store, [id_], lambda _id, _error: None)
    return found[id_].record if id_ in found else None


async def _jobs(store: Store, same: str, week: list[Told]) -> list[Job]:
    """Every job under this link: by the index, or, for one stored before there was one, among the last days'."""
    page_ = await store.find(JOBS, {"link_id": ids.link_id(same)}, limit=SAME_LINK_MAX)
    jobs: list[Job] = []
    for snapshot in page_.items:
        try:
            jobs.append(decode(Job, snapshot))
        except BadRecord:
            continue
    return jobs or [told.job for told in week if not told.job.link_id and canonical(told.job.link) == same]


def _first(jobs: list[Job]) -> Job | None:
    return jobs[0] if jobs else None
