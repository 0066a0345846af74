"""The rows of digests: which one a user's waiting rows go with, and which wait for the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.parts import Run
from ledger import deliveries, digests, ids
from ledger.deliveries import Row, best_first
from ledger.digests import Held
from ledger.lifecycle import State, Via
from ledger.pinning import pin
from ledger.records import Digest, User
from ledger.schedule import Due, next_due


async def pinned(
    run: Run, user: User, due: Due, due_rows: Sequence[Row], standing: Sequence[Held], *, notes: Sequence[str]
) -> Held | None:
    now, hour = run.parts.clock(), run.parts.hour(user)
    older = standing[-1] if standing else None
    taken = await digests.is_taken(run.store, ids.digest_id(user.uid, due.period))
    is_due = any(next_due(hour, row.record.created_at).at <= now for row in due_rows) or older is not None
    if taken or not is_due:
        await wait_for_next(run, user, due_rows)
        if older is not None:
            await digests.wait(run.store, older, until=next_due(hour, now).at)
        return None
    rows = await waiting_rows(run, user.uid)
    older_rows = await rows_of(run, older) if older is not None else {}
    done = await pin(
        run.store,
        user.uid,
        rows,
        due=due,
        older=older,
        older_rows=open_rows_of(older, older_rows) if older is not None else [],
        cap=run.parts.settings.digest_cap,
        notes=notes,
        now=now,
    )
    if done is None:
        return None
    run.report.rows(State.FAILED, len(done.gave_up))
    beyond = [row for row in rows if done.digest is None or row.record.key not in done.digest.record.rows]
    await wait_for_next(run, user, beyond)
    return done.digest


def open_rows_of(digest: Held, rows: Mapping[str, Row]) -> list[Row]:
    """The digest's rows that are still to be sent by it, in the order of the letter."""
    there = [rows[key] for key in digest.record.rows if key in rows]
    return [r for r in there if r.record.state is State.QUEUED and r.record.period == digest.record.period]


async def waiting_rows(run: Run, uid: str) -> list[Row]:
    """All of the user's rows that wait for a digest and are not in one, best first."""
    rows = await deliveries.waiting(run.store, uid, run.report.unread("deliveries"), via=Via.DIGEST)
    return sorted(rows, key=lambda row: best_first(row.record))


async def rows_of(run: Run, digest: Held) -> dict[str, Row]:
    record = digest.record
    row_ids = [ids.pair_id(record.uid, key) for key in record.rows]
    found = await deliveries.read(run.store, row_ids, run.report.unread("deliveries"))
    return {row.record.key: row for row in found.values()}


async def wait_for_next(run: Run, user: User, rows: Sequence[Row]) -> None:
    at = next_due(run.parts.hour(user), run.parts.clock()).at
    await deliveries.change(run.store, [(row, replace(row.record, wake_at=at)) for row in rows])


async def leave_over(run: Run, user: User, digest: Digest) -> None:
    """What waited when the digest was pinned and found no room in it has been passed over, as its last rows have."""
    held = set(digest.rows)  # its own last rows have been counted when it was closed
    everything = await waiting_rows(run, user.uid)
    waiting = [r for r in everything if r.record.key not in held and r.record.created_at <= digest.created_at]
    hour, now = run.parts.hour(user), run.parts.clock()
    passed = [(row, digests.left_over(row.record, hour=hour, now=now)) for row in waiting]
    changed = await deliveries.change(run.store, passed)
    run.report.rows(State.EXPIRED, sum(row.state is State.EXPIRED for row in changed))
