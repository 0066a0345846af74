"""Verdicts: what a judge said of one job for one person, and never paid for twice.

    (nothing) --claim--> PENDING --fill--> DECIDED               the document exists before the call is paid
                 ^         |  '--give up--> UNSCORED | DROPPED   two hours without an answer; nobody wants it
                 '-release-'

PENDING   wanted. `wake_at` says when the next run may take it over: the end of a claim's lease, or its next try.
          Entered by creation, or from DECIDED when its person asks for a new one. `carried` says that it was
          let go at least once: from then on the document alone holds the pair, and the job may close.
DECIDED   the model's answer. It serves later profiles too. Filled only under the claim's own nonce.
UNSCORED  no answer for GIVE_UP_AFTER: the pair goes on by its keywords, marked.
DROPPED   nobody is left to tell, or it no longer fits.

What was asked for anew and got no answer is DECIDED again, by the word it had.

A carried pair that is to be mailed keeps its `wake_at` until its row exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ledger import ids
from ledger.collections import MATCHES
from ledger.documents import IdPart, Instant, OnBad, Stored, encode, read_all, tolerant
from ledger.store import Snapshot, Store, every

GIVE_UP_AFTER = timedelta(hours=2)  # since the document was made; then keywords decide
KEPT = timedelta(days=90)  # once final
RETRY = (timedelta(minutes=10), timedelta(minutes=20), timedelta(minutes=40))  # after the first try, the second, ...
ASKED_ANEW = "asked for anew"
TRIES_MAX = 4  # calls that carried the pair; then it waits for GIVE_UP_AFTER


class VerdictState(StrEnum):
    PENDING = "pending"
    DECIDED = "decided"
    UNSCORED = "unscored"
    DROPPED = "dropped"


@tolerant
@dataclass(frozen=True, slots=True)
class Verdict:
    """One job for one person. `fit_score` and `fit_reason` are what the keywords said when it was wanted."""

    uid: IdPart
    key: IdPart
    job_id: IdPart
    state: VerdictState
    created_at: Instant
    fit_score: int
    fit_reason: str
    twins: tuple[IdPart, ...] = ()  # ids of further jobs under the same key that fitted then
    nonce: str | None = None  # of the claim that holds or held it
    wake_at: Instant | None = None
    carried: bool = False
    tries: int = 0
    why: str = ""  # why it is undecided, unscored or dropped, for people
    score: int | None = None  # 0 to 100
    reason: str = ""
    caveat: str = ""
    tags: tuple[str, ...] = ()
    model: str = ""
    prompt_version: str = ""
    profile_version: str = ""
    input_tokens: int = 0  # its share of the call
    output_tokens: int = 0
    cost_micros: int = 0  # millionths of a US dollar
    decided_at: Instant | None = None
    expire_at: Instant | None = None

    @property
    def id(self) -> str:
        return ids.pair_id(self.uid, self.key)

    @property
    def job_ids(self) -> tuple[str, ...]:
        """Of its jobs, the best first."""
        return (self.job_id, *self.twins)

    @property
    def was_decided(self) -> bool:
        """Whether it holds a model's word, be it one that is asked for anew."""
        return self.decided_at is not None

    @property
    def is_decided(self) -> bool:
        """Whether the pair can go on: by the model's word, or without one."""
        return self.state in (VerdictState.DECIDED, VerdictState.UNSCORED)


Held = Stored[Verdict]


async def read(store: Store, pair_ids: Sequence[str], bad: OnBad) -> dict[str, Held]:
    """Verdicts by the id of their pair; absent ones are missing, unreadable ones are told to `bad`."""
    return read_all(Verdict, (await store.get(MATCHES, pair_ids)).values(), bad)


async def of_user(store: Store, uid: str) -> list[Held]:
    """Every readable verdict of one person."""
    found = [snapshot async for snapshot in every(store, MATCHES, {"uid": uid})]
    return list(read_all(Verdict, found, lambda *_: None).values())


async def claim(
    store: Store, fresh: Sequence[Verdict], waiting: Sequence[Held], *, nonce: str, now: datetime, lease_s: float
) -> list[Held]:
    """Claim pairs for one call: create the fresh ones, swap those whose time has come.

    Returns those that this call won: the call may carry these and no others. A write whose answer was lost is
    read back: its own nonce says that it is ours.
    """

    def claimed(verdict: Verdict) -> Verdict:
        return replace(verdict, nonce=nonce, wake_at=now + timedelta(seconds=lease_s), why="")

    wanted = {v.id: claimed(v) for v in fresh}
    versions = await store.create(MATCHES, {id_: encode(v) for id_, v in wanted.items()}) if wanted else {}
    again = {held.record.id: (held.version, claimed(held.record)) for held in waiting}
    if again:
        versions |= await store.swap(MATCHES, {id_: (version, encode(v)) for id_, (version, v) in again.items()})
        wanted |= {id_: v for id_, (_, v) in again.items()}
    versions |= await _lost_answers(store, wanted, versions)
    return [Stored(wanted[id_], version) for id_, version in versions.items()]


async def want(store: Store, fresh: Iterable[Verdict], *, nonce: str) -> set[str]:
    """Create pairs that nobody asks about now; each says by `wake_at` when. Returns the ids that exist afterwards.

    One that exists already is somebody's, and is decided or asked about by them.
    """
    wanted = {v.id: replace(v, nonce=nonce, carried=True) for v in fresh}
    if not wanted:
        return set()
    made = await store.create(MATCHES, {id_: encode(v) for id_, v in wanted.items()})
    return made.keys() | (await _lost_answers(store, wanted, made)).keys()


async def fill(store: Store, answers: Sequence[tuple[Held, Verdict]]) -> list[Held]:
    """Write down what became of claimed pairs, each only under its claim's own nonce. Returns those written.

    The others are somebody else's by now, and are left as found.
    """
    if not answers:
        return []
    after = {held.record.id: new for held, new in answers}
    nonces = {held.record.id: held.record.nonce for held, _ in answers}
    swaps = {held.record.id: (held.version, encode(new)) for held, new in answers}
    done = await store.swap(MATCHES, swaps)
    done |= await _lost_answers(store, after, done)
    missing = [id_ for id_ in after if id_ not in done]
    if missing:
        # A version that moved while the claim stood (an answer lost between two tries): once more, from there.
        found = await store.get(MATCHES, missing)
        still = {id_: (s.version, encode(after[id_])) for id_, s in found.items() if _is_claim(s, nonces[id_])}
        if still:
            done |= await store.swap(MATCHES, still)
    return [Stored(after[id_], version) for id_, version in done.items()]


async def change(store: Store, changes: Iterable[tuple[Held, Verdict]]) -> list[Held]:
    """Swap pairs to their new form; one that moved meanwhile is left to whoever moved it. Returns those changed."""
    wanted = {new.id: (old.version, new) for old, new in changes if old.record != new}
    if not wanted:
        return []
    done = await store.swap(MATCHES, {id_: (version, encode(new)) for id_, (version, new) in wanted.items()})
    return [Stored(wanted[id_][1], version) for id_, version in done.items()]


def tried(verdict: Verdict, *, why: str, now: datetime) -> Verdict:
    """A claimed pair whose call brought no answer for it: the document carries it to its next try, ever later."""
    tries = verdict.tries + 1
    wait = RETRY[min(tries, len(RETRY)) - 1] if tries < TRIES_MAX else GIVE_UP_AFTER
    return put_off(replace(verdict, tries=tries), why=why, until=now + wait, now=now)


def put_off(verdict: Verdict, *, why: str, until: datetime, now: datetime) -> Verdict:
    """A pair that is not asked about now: the document carries it, at the latest to the end of its time."""
    wake_at = max(now, min(until, verdict.created_at + GIVE_UP_AFTER))
    return replace(verdict, carried=True, why=why, wake_at=wake_at)


def is_spent(verdict: Verdict, *, now: datetime) -> bool:
    """Whether a pending pair has had its time and goes by keywords."""
    return now >= verdict.created_at + GIVE_UP_AFTER


def unscored(verdict: Verdict, *, why: str, now: datetime) -> Verdict:
    """The pair as one that goes on by its keywords, or by the word it had before it was asked for anew.

    A carried one asks for attention until its row exists.
    """
    state = VerdictState.DECIDED if verdict.was_decided else VerdictState.UNSCORED
    return _final(verdict, state, why=why, now=now, wake_at=now if verdict.carried else None)


def let_go(verdict: Verdict, *, why: str, now: datetime) -> Verdict:
    """A carried pair that nobody waits for any more. A model's word stays: it is never paid for twice."""
    state = VerdictState.DECIDED if verdict.was_decided else VerdictState.DROPPED
    return _final(verdict, state, why=why, now=now, wake_at=None)


def asleep(verdict: Verdict, *, until: datetime) -> Verdict:
    """A carried pair of somebody who pauses: its document carries it to the end of the pause."""
    return replace(verdict, carried=True, wake_at=until)


def told(verdict: Verdict) -> Verdict:
    """A carried pair whose row exists: nothing is left to do."""
    return replace(verdict, wake_at=None)


def wanted_again(verdict: Verdict, *, now: datetime) -> Verdict:
    """A stored verdict to be asked for anew, because its person wants that."""
    return replace(
        verdict, state=VerdictState.PENDING, created_at=now, wake_at=now, carried=True, tries=0, expire_at=None,
        why=ASKED_ANEW, nonce=ids.new_nonce(),
    )  # fmt: skip


def taken_up(verdict: Verdict, *, now: datetime) -> Verdict:
    """As a run meets it: what was asked for anew has its time from the first run that looks at it."""
    is_untouched = verdict.state is VerdictState.PENDING and verdict.why == ASKED_ANEW
    return replace(verdict, created_at=now) if is_untouched else verdict


def decided(verdict: Verdict, *, is_fit: bool, now: datetime) -> Verdict:
    """A filled verdict as it stays; a carried one that is to be mailed asks for attention until its row exists."""
    wake_at = now if verdict.carried and is_fit else None
    return replace(
        _final(verdict, VerdictState.DECIDED, why="", now=now, wake_at=wake_at), tries=verdict.tries + 1, decided_at=now
    )


def _final(verdict: Verdict, state: VerdictState, *, why: str, now: datetime, wake_at: datetime | None) -> Verdict:
    return replace(verdict, state=state, why=why, wake_at=wake_at, expire_at=now + KEPT)


async def _lost_answers(store: Store, wanted: Mapping[str, Verdict], won: Mapping[str, str]) -> dict[str, str]:
    """The versions of documents that hold exactly what we tried to write, though we were told they do not."""
    lost = [id_ for id_ in wanted if id_ not in won]
    if not lost:
        return {}
    return {id_: s.version for id_, s in (await store.get(MATCHES, lost)).items() if _is_ours(s, wanted[id_])}


def _is_ours(found: Snapshot, written: Verdict) -> bool:
    same_time = found.data.get("wake_at") == written.wake_at
    return found.data.get("nonce") == written.nonce and found.data.get("state") == written.state.value and same_time


def _is_claim(found: Snapshot, nonce: str | None) -> bool:
    return found.data.get("nonce") == nonce and found.data.get("state") == VerdictState.PENDING.value
