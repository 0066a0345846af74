"""Jobs and the names they are known by.

A job is created once, under an id derived from its board and native id. Feeds whose native id may move keep
aliases; the same ad under a new id keeps a fingerprint, whose key makes both one pair in the ledger. Aliases
and fingerprints are created before the job: one that names a job which never came to be does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger.collections import ALIASES, FINGERPRINTS, JOBS
from ledger.documents import BadRecord, OnBad, Stored, decode, encode, read_all
from ledger.records import JOB_KEPT, Alias, Fingerprint, Job, JobState
from ledger.store import Doc, Snapshot, Store, every

TWIN_WINDOW = timedelta(days=7)
TOUCH_WITHIN = timedelta(days=15)  # of expire_at; then it moves to JOB_KEPT ahead
LOOK_UP_JOBS = 50  # at a time, while one that is known would do
OPEN_MAX_JOBS = 1000  # matched in one cycle; the rest stays open for the next


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item of a poll as a job that may be new, with its other names (ids) in the order they count."""

    job: Job
    aliases: tuple[str, ...] = ()
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    new: tuple[Job, ...]
    known: int
    twins: int


async def admit(store: Store, candidates: Sequence[Candidate], *, now: datetime) -> Admitted:
    """Store those that are new; touch those that are known and near their end. Raises StoreError.

    Cut anywhere and repeated, the result is the same.
    """
    by_id = {c.job.id: c for c in candidates}
    known = await store.get(JOBS, list(by_id))
    unknown = [c for id_, c in by_id.items() if id_ not in known]
    aliases = await store.get(ALIASES, sorted({a for c in unknown for a in c.aliases}))
    named = await _named_jobs(store, aliases, known)
    renamed = {c.job.id: job for c in unknown if (job := _first_that_counts(c, aliases, named)) is not None}
    new = [c for c in unknown if c.job.id not in renamed]

    # A known item may go by a new guid today: remember that name too.
    homes = _promised_ids(new, aliases) | {id_: job.id for id_, job in renamed.items()}
    taken = await _remember_aliases(store, [by_id[id_] for id_ in homes], homes, aliases, named, now=now)
    new = [_at_home(c, taken.get(c.job.id, homes[c.job.id])) for c in new]
    keys = await _twin_keys(store, new, now=now)
    jobs = {c.job.id: replace(c.job, key=keys[c.job.id], expire_at=now + JOB_KEPT) for c in new}
    created = await store.create(JOBS, {id_: encode(job) for id_, job in jobs.items()})
    await _touch(store, [*known.values(), *renamed.values()], [*aliases.values()], now=now)
    added = tuple(job for id_, job in jobs.items() if id_ in created)
    return Admitted(added, len(by_id) - len(added), sum(job.key != job.id for job in added))


async def any_known(store: Store, candidates: Sequence[Candidate]) -> bool:
    """Whether one of them is a job that is stored, under its id or under another of its names."""
    for start in range(0, len(candidates), LOOK_UP_JOBS):  # the first few usually tell
        part = candidates[start : start + LOOK_UP_JOBS]
        known = await store.get(JOBS, [c.job.id for c in part])
        aliases = await store.get(ALIASES, sorted({a for c in part for a in c.aliases}))
        named = await _named_jobs(store, aliases, known)
        if known or any(_first_that_counts(c, aliases, named) is not None for c in part):
            return True
    return False


async def _named_jobs(
    store: Store, aliases: Mapping[str, Snapshot], known: Mapping[str, Snapshot]
) -> dict[str, Snapshot]:
    named = {str(s.data.get("job_id")) for s in aliases.values()} - known.keys()
    return dict(known) | await store.get(JOBS, sorted(named))


def _first_that_counts(
    candidate: Candidate, aliases: Mapping[str, Snapshot], jobs: Mapping[str, Snapshot]
) -> Snapshot | None:
    for alias in candidate.aliases:
        if alias in aliases and (job := jobs.get(str(aliases[alias].data.get("job_id")))) is not None:
            return job
    return None


def _promised_ids(new: Sequence[Candidate], aliases: Mapping[str, Snapshot]) -> dict[str, str]:
    """The id under which each new item is stored: its own, or the one that an alias of it names already.

    Such an alias was made by a run that has not created its job yet: it may have died, or it may only be slow. Under
    one id the store lets one of the two create the job; under two ids it would be two jobs, and mailed twice.
    """
    ids: dict[str, str] = {}
    given: set[str] = set()
    for candidate in new:
        promised = [str(aliases[alias].data.get("job_id")) for alias in candidate.aliases if alias in aliases]
        free = [id_ for id_ in (*promised[:1], candidate.job.id) if id_ not in given]
        ids[candidate.job.id] = free[0] if free else candidate.job.id
        given.add(ids[candidate.job.id])
    return ids


def _at_home(candidate: Candidate, id_: str) -> Candidate:
    return replace(candidate, job=replace(candidate.job, id=id_, key=id_))


async def _remember_aliases(
    store: Store,
    candidates: Sequence[Candidate],
    homes: Mapping[str, str],
    found: Mapping[str, Snapshot],
    jobs: Mapping[str, Snapshot],
    *,
    now: datetime,
) -> dict[str, str]:
    """Create what is missing. Returns the items whose alias another run made meanwhile, and the id that it names."""
    create: dict[str, Doc] = {}
    swap: dict[str, tuple[str, Doc]] = {}
    for candidate in candidates:
        alias = encode(Alias(job_id=homes[candidate.job.id], expire_at=now + JOB_KEPT))
        for id_ in candidate.aliases:
            if id_ not in found:
                create.setdefault(id_, alias)
            elif (named := str(found[id_].data.get("job_id"))) not in jobs and named != alias["job_id"]:
                swap.setdefault(id_, (found[id_].version, alias))
    made = await store.create(ALIASES, create)
    await store.swap(ALIASES, swap)
    theirs = await store.get(ALIASES, [id_ for id_ in create if id_ not in made])
    return {
        candidate.job.id: str(theirs[id_].data.get("job_id"))
        for candidate in candidates
        for id_ in reversed(candidate.aliases)  # the first that counts decides
        if id_ in theirs
    }


async def _twin_keys(store: Store, new: Sequence[Candidate], *, now: datetime) -> dict[str, str]:
    """Each new job's key: its own id, or the key under which the same ad is known since less than 7 days."""
    keys = {c.job.id: c.job.id for c in new}
    first: dict[str, Candidate] = {}
    for candidate in new:
        if candidate.fingerprint is not None:
            first.setdefault(candidate.fingerprint, candidate)
    mine = {f: encode(_mark_of(c, now=now)) for f, c in first.items()}
    created = await store.create(FINGERPRINTS, mine)
    holders = {f: c.job.id for f, c in first.items()}
    taken = [f for f in mine if f not in created]
    for id_, snapshot in (await store.get(FINGERPRINTS, taken)).items():
        print_ = _fingerprint(snapshot)
        if print_ is not None and now - print_.since <= TWIN_WINDOW:
            holders[id_] = print_.key
        elif not await store.swap(FINGERPRINTS, {id_: (snapshot.version, mine[id_])}):
            again = await store.get(FINGERPRINTS, [id_])
            winner = _fingerprint(again[id_]) if id_ in again else None
            holders[id_] = winner.key if winner else holders[id_]
    return keys | {c.job.id: holders[c.fingerprint] for c in new if c.fingerprint is not None}


def _mark_of(candidate: Candidate, *, now: datetime) -> Fingerprint:
    return Fingerprint(key=candidate.job.id, since=now, expire_at=now + JOB_KEPT)


def _fingerprint(snapshot: Snapshot) -> Fingerprint | None:
    try:
        return decode(Fingerprint, snapshot)
    except BadRecord:
        return None


async def _touch(store: Store, jobs: Sequence[Snapshot], aliases: Sequence[Snapshot], *, now: datetime) -> None:
    for collection, snapshots in ((JOBS, jobs), (ALIASES, aliases)):
        moved = {s.id: (s.version, {**s.data, "expire_at": now + JOB_KEPT}) for s in snapshots if _is_near(s, now=now)}
        await store.swap(collection, moved)


def _is_near(snapshot: Snapshot, *, now: datetime) -> bool:
    expire_at = snapshot.data.get("expire_at")
    return not isinstance(expire_at, datetime) or expire_at - now < TOUCH_WITHIN


async def read(store: Store, job_ids: Iterable[str], bad: OnBad) -> dict[str, Job]:
    """Jobs by id; absent ones are missing, unreadable ones are told to `bad`."""
    wanted = sorted(set(job_ids))
    found = (await store.get(JOBS, wanted)).values() if wanted else ()
    return {id_: job.record for id_, job in read_all(Job, found, bad).items()}


async def open_jobs(store: Store) -> tuple[list[Stored[Job]], list[BadRecord]]:
    """The jobs with undecided pairs, by id, at most OPEN_MAX_JOBS; and those that cannot be read."""
    found: list[Stored[Job]] = []
    bad: list[BadRecord] = []
    async for snapshot in every(store, JOBS, {"state": JobState.OPEN.value}):
        try:
            found.append(Stored(decode(Job, snapshot), snapshot.version))
        except BadRecord as error:
            bad.append(error)
        if len(found) >= OPEN_MAX_JOBS:
            break
    return found, bad


async def fresh_jobs(store: Store, *, since: datetime) -> tuple[list[Job], list[BadRecord]]:
    """The jobs that count as fresh for a catch-up: those that came, or were published, since then."""
    found: list[Job] = []
    bad: list[BadRecord] = []
    after = None
    while True:
        page = await store.find_range(JOBS, "fresh_at", at_least=since, after=after)
        for snapshot in page.items:
            try:
                found.append(decode(Job, snapshot))
            except BadRecord as error:
                bad.append(error)
        if page.after is None:
            return found, bad
        after = page.after


async def close(store: Store, decided: Sequence[Stored[Job]]) -> int:
    """Mark jobs as matched: every pair is decided. One touched meanwhile stays open and is looked at again."""
    changes = {job.record.id: (job.version, encode(replace(job.record, state=JobState.MATCHED))) for job in decided}
    return len(await store.swap(JOBS, changes))
