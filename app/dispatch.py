"""Dispatch: work through people, as many letters in flight as the pace allows, and stop between people.

Each person is read again just before, one multi-get for as many as may begin. What has begun is not cut: the
wall, an open circuit or a store that fails stops the next ones. Only a run that is cancelled ends what it has in
flight, as if its process died: such a letter stays claimed, for nobody can tell.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

import structlog

from app.ending import end
from app.parts import Run
from ledger import ids, users
from ledger.documents import BadRecord
from ledger.lifecycle import Attempt, Outcome
from ledger.records import User
from ledger.store import StoreError
from mail.letter import Letter

log = structlog.get_logger()

Work = Callable[[str, User | None], Awaitable[bool]]

# Provably not taken and nobody's fault: as with a paused account no try is used. The circuit never hears of it.
OUT_OF_TIME = Attempt(Outcome.PAUSED, "the run's time was over before it was sent")
RETRY_AFTER_MAX_S = 60.0  # a longer wait belongs to the next run
REPEAT_AFTER_S = 1.0
LEVELS = {Outcome.ACCEPTED: logging.INFO, Outcome.PAUSED: logging.ERROR}
BATCH_SHARE = 8  # people are read in batches of at least a window / BATCH_SHARE while enough are waiting


async def dispatch(run: Run, uids: Sequence[str], work: Work) -> list[str]:
    """Call `work(uid, fresh user)` for each, paced. Returns those not served, in order.

    `work` returns whether the person is served. Whatever it raises, all that began has ended by then: the first
    StoreError, or what kept people from being read.
    """
    tasks: dict[asyncio.Task[bool], str] = {}
    try:
        return await _dispatched(run, uids, work, tasks)
    except asyncio.CancelledError:
        await end(tasks)
        raise


async def _dispatched(run: Run, uids: Sequence[str], work: Work, tasks: dict[asyncio.Task[bool], str]) -> list[str]:
    """`tasks` holds whatever is in flight, at any time."""
    pending = deque(uids)
    unserved: list[str] = []
    failure: Exception | None = None
    while True:
        room = run.pace.room(len(tasks)) if failure is None and run.may_claim() else 0
        if pending and room and (room >= min(len(pending), max(1, run.pace.window // BATCH_SHARE)) or not tasks):
            batch = [pending.popleft() for _ in range(min(room, len(pending)))]
            try:
                unreadable, fresh = await read_again(run, batch)
            except Exception as unread:
                failure, unserved = unread, [*unserved, *batch]
                continue
            for uid in batch:
                if uid not in unreadable:  # told in the report; counts as decided
                    tasks[asyncio.create_task(_work(work, uid, fresh.get(uid)))] = uid
            continue
        if not tasks:
            break
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            uid = tasks.pop(task)
            error = task.exception()
            if isinstance(error, StoreError):
                failure = failure or error
            elif error is not None:
                # One person's fault, ours or theirs, never stops the rest; it is told, and tried again.
                run.report.error("users", f"one could not be served: {type(error).__name__}")
                log.error("user failed", exc_info=error)
            if error is not None or not task.result():
                unserved.append(uid)
    if failure is not None:
        raise failure
    return [*unserved, *pending]


async def _work(work: Work, uid: str, user: User | None) -> bool:
    return await work(uid, user)


def in_turn(run: Run, uids: Iterable[str]) -> list[str]:
    """In another order at each run: whoever stands behind people whom every letter fails is not always the same."""
    return sorted(uids, key=lambda uid: ids.source_hash(f"{run.now.isoformat()}\n{uid}"))


async def read_again(run: Run, uids: Sequence[str]) -> tuple[set[str], dict[str, User]]:
    """Those who cannot be read, told in the report, and the people as they are now. Raises StoreError."""
    unreadable: set[str] = set()

    def bad(uid: str, error: BadRecord) -> None:
        unreadable.add(uid)
        run.report.error("users", str(error))

    fresh = await users.read_many(run.store, uids, bad)
    return unreadable, {uid: user.record for uid, user in fresh.items()}


async def send(run: Run, letter: Letter, *, uid: str | None = None) -> Attempt:
    """The letter's attempt under its claim, noted by the pace.

    One more try where that is safe and fits into the run: the provider asked to come back in a moment, or it
    would recognise the same letter by its key. Not once the run was told to end, nor to the person `uid` if they
    have left in that moment.
    """
    attempt = await _with_patience(run, letter, uid)
    if attempt.outcome is not Outcome.ACCEPTED:
        run.report.letter_not_taken(attempt.reason)
    return attempt


async def _with_patience(run: Run, letter: Letter, uid: str | None) -> Attempt:
    attempt = await _attempt(run, letter)
    wait_s = _again_after_s(attempt)
    if wait_s is None or not run.deadline.allows(wait_s + run.parts.transport.longest_s(run.wait_s)):
        return attempt
    await run.deadline.sleep(wait_s)
    if not await _may_follow(run, letter, uid):
        return attempt
    again = await _attempt(run, letter)
    # Under a key that the provider knows, a later refusal does not prove that the first one was not taken.
    if attempt.outcome is Outcome.UNCLEAR and again.outcome is not Outcome.ACCEPTED:
        return attempt
    return again


async def _may_follow(run: Run, letter: Letter, uid: str | None) -> bool:
    """Whether a second try may begin. The run is asked on both sides of the reading, which takes its time too."""
    if not run.may_claim() or (uid is not None and not await _still_wanted(run, letter, uid)):
        return False
    return run.may_claim()


async def _still_wanted(run: Run, letter: Letter, uid: str) -> bool:
    """Whether the person is there, at this address, and has stopped nothing. Who cannot be read is not asked twice."""
    try:
        _, people = await read_again(run, [uid])
    except StoreError as error:
        run.report.error("users", f"one could not be read before a second try: {error}")
        return False
    user = people.get(uid)
    if user is None or not user.active or user.address != letter.to:
        return False
    return user.paused_until is None or user.paused_until <= run.parts.clock()


def _again_after_s(attempt: Attempt) -> float | None:
    if attempt.outcome is Outcome.UNCLEAR and attempt.repeatable:
        return attempt.retry_after_s if attempt.retry_after_s is not None else REPEAT_AFTER_S
    if attempt.outcome is Outcome.DEFERRED and attempt.retry_after_s is not None:
        return attempt.retry_after_s if attempt.retry_after_s <= RETRY_AFTER_MAX_S else None
    return None


async def _attempt(run: Run, letter: Letter) -> Attempt:
    """One attempt. A transport that raises has a bug, and then nobody can tell: UNCLEAR."""
    if run.deadline.is_over():  # suspended since the claim: by now another run may hold the lease
        return OUT_OF_TIME
    try:
        attempt = await run.parts.transport.send(letter, at_most_s=run.wait_s)
    except Exception as error:
        log.exception("transport raised", transport=run.parts.transport.name, outside=letter.outside_id)
        attempt = Attempt(Outcome.UNCLEAR, f"the transport raised {type(error).__name__}")
    run.pace.note(attempt)
    log.log(
        LEVELS.get(attempt.outcome, logging.WARNING),
        "letter",
        kind=letter.kind,
        outside=letter.outside_id,
        outcome=attempt.outcome.value,
        reason=attempt.reason,
        receipt=attempt.receipt,
    )
    return attempt
