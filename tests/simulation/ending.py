"""What must hold once everything has found its end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ledger.collections import DELIVERIES, DIGESTS, JOBS, MATCHES, USERS
from ledger.ids import pair_id
from ledger.lifecycle import ALERT_CAP_JOBS, State
from tests.simulation.fakes import FIT_MIN_SCORE, score
from tests.simulation.plan import Plan
from tests.simulation.scenes import Prepared
from tests.simulation.world import JOB_LINK, UIDS, Clean, World, address

LEFT = frozenset({"stop", "delete", "pause", "back"})
TURN_S = 600  # letters so soon after midnight may be the day's before

Pair = tuple[str, int]


def broken(world: World, plan: Plan, start: Prepared) -> list[str]:
    """The promises that were not kept, each with the name of its kind before a colon."""
    alerts: Counter[Pair] = Counter()
    digests: dict[Pair, list[Clean]] = defaultdict(list)
    for sent in (*start.sent.sent, *world.sent):
        for group in sent.groups:
            pair = (sent.letter.to, group)
            if sent.letter.kind == "alert":
                alerts[pair] += 1
            else:
                digests[pair].append(sent.is_clean)
    return [
        *_letters(world, alerts, digests),
        *_verdicts(world),
        *_quota(world, start),
        *_unfinished(world),
        *_stranded(world),
        *_accepted(world),
        *_archive(world, plan, start),
        *_lost(world, plan, start, {pair: alerts[pair] + len(digests.get(pair, ())) for pair in alerts | digests}),
    ]


def _letters(world: World, alerts: Counter[Pair], digests: dict[Pair, list[Clean]]) -> Iterator[str]:
    yield from (f"twice: alert {pair} came {n} times" for pair, n in alerts.items() if n > 1)
    names = Counter(sent.letter.outside_id for sent in world.sent if sent.letter.kind == "alert")
    yield from (f"name: {n} alerts share the name {name}" for name, n in names.items() if n > 1)
    yield from (f"both: {pair} came as alert and in a digest" for pair in alerts.keys() & digests.keys())
    for pair, cleans in digests.items():
        if any(is_clean() for is_clean in cleans[:-1]):
            yield f"copy: {pair} came again in a digest though nothing had happened to the first"


def _verdicts(world: World) -> Iterator[str]:
    for (_, group), cleans in world.asked.items():
        if any(is_clean() for is_clean in cleans[:-1]):
            yield f"verdict: {group} was asked about again though the first answer was heard"


def _quota(world: World, start: Prepared) -> Iterator[str]:
    most = start.settings.mail_daily_max
    if most is None:
        return
    days = Counter(s.at.date() for s in (*start.sent.sent, *world.sent) if s.at.hour * 3600 + s.at.minute * 60 > TURN_S)
    yield from (f"quota: {n} letters on {day}" for day, n in days.items() if n > most)


def _unfinished(world: World) -> Iterator[str]:
    for row in world.store.all(DELIVERIES).values():
        if row["state"] in (State.QUEUED, State.CLAIMED):
            yield f"end: row of {row['title']} is {row['state']}"
    yield from (f"end: digest {d['period']} is {d['state']}" for d in world.store.all(DIGESTS).values() if d["live"])
    yield from (f"end: {j['title']} is open" for j in world.store.all(JOBS).values() if j["state"] == "open")
    for verdict in world.store.all(MATCHES).values():
        if verdict["state"] == "pending" and verdict.get("wake_at") is not None:
            yield f"end: a verdict is {verdict['state']}"


def _stranded(world: World) -> Iterator[str]:
    """A row is unclear only where something happened: lost answers are read back, and a letter's end is noted."""
    for row in world.store.all(DELIVERIES).values():
        process = world.claimed_outside.get(row.get("outside", ""))
        if row["state"] != State.UNCLEAR or process is None or set(process.befallen) - {"lost"}:
            continue
        heard = world.answers_heard.get(row["outside"], "never sent")
        if not heard.startswith(("unclear", "lost")):
            yield f"stranded: {row['title']} is unclear, and its letter was {heard}"


def _accepted(world: World) -> Iterator[str]:
    """A digest of which a row was flipped was accepted, whoever died then."""
    for digest in world.store.all(DIGESTS).values():
        rows = [world.store.peek(DELIVERIES, pair_id(digest["uid"], key)) for key in digest["rows"]]
        flipped = [r for r in rows if r and r.data["state"] == "sent" and r.data.get("period") == digest["period"]]
        if flipped and digest["state"] != "sent":
            yield f"accepted: the digest of {digest['period']} is {digest['state']}, with {len(flipped)} rows sent"


def _archive(world: World, plan: Plan, start: Prepared) -> Iterator[str]:
    """A new profile is not mailed the archive: one letter's worth for each time that it was saved."""
    if not start.scene.is_archive:
        return
    for person in range(len(plan.modes)):
        rows = [r for r in _rows(world, person).values() if int(JOB_LINK.findall(r["link"])[0]) in start.jobs]
        if len(rows) > ALERT_CAP_JOBS * (1 + world.saves[person]):
            yield f"archive: {address(person)} has {len(rows)} rows of it"


def _rows(world: World, person: int) -> dict[int, dict[str, Any]]:
    """By the job's group; what was deleted has no link any more."""
    return {
        world.group(int(found[0])): row
        for row in world.store.all(DELIVERIES).values()
        if row["uid"] == UIDS[person] and (found := JOB_LINK.findall(row["link"]))
    }


def _lost(world: World, plan: Plan, start: Prepared, came: dict[Pair, int]) -> Iterator[str]:
    """Who was there all the time has every job: mailed, or visibly unclear or refused."""
    gone = {e.person for e in plan.edits if e.what.partition(":")[0] in LEFT}
    jobs = {world.group(job) for job in (*range(len(plan.jobs)), *(() if start.scene.is_archive else start.jobs))}
    for person in set(range(len(plan.modes))) - gone:
        user = world.store.peek(USERS, UIDS[person])
        if user is None or not user.data.get("active", True):
            continue  # stopped by three refusals in a row
        rows = _rows(world, person)
        for job in jobs:
            pair = (address(person), job)
            yield from _fate(world, person, job, rows.get(job), came.get(pair, 0))


def _fate(world: World, person: int, job: int, row: dict[str, Any] | None, came: int) -> Iterator[str]:
    pair = (address(person), job)
    if row is None:
        if not _is_refused(world, person, job):
            yield f"lost: {pair} has no row"
    elif row["state"] == State.SENT and not came:
        yield f"lost: {pair} is called sent and never came"
    elif row["state"] == State.EXPIRED:
        yield f"lost: {pair} expired: {row['why']}"
    elif row["state"] == State.FAILED and row["why"] not in ("550", "unclear, gave up"):
        yield f"lost: {pair} failed: {row['why']}"


def _is_refused(world: World, person: int, job: int) -> bool:
    """Whether the model's word is stored, and is that it does not fit."""
    if not world.has_model or score(job) >= FIT_MIN_SCORE:
        return False
    keys = {data["key"] for data in world.store.all(JOBS).values() if data["title"] == f"Python {job}"}
    found = [world.store.peek(MATCHES, pair_id(UIDS[person], key)) for key in keys]
    return any(held is not None and held.data["state"] == "decided" for held in found)
