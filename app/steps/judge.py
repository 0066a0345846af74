"""Judge: for those who want it, a model reads what passed the gates. Cheapest first: what is known, then asking.

Afterwards each such pair is decided (it goes on, or it does not fit), or its document carries it to a later run, so
that its job may close. Whoever has no judge, or no wish for one, is not touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from app.dispatch import read_again
from app.parts import Run
from app.patience import OUT_OF_TIME
from app.prices import table
from app.purse import Purse, caps_of
from app.steps.ask import Asking
from app.steps.carried import add_carried
from app.steps.match import Matched, Wanted
from app.steps.pairs import Case, Pair
from app.steps.wake import Woken
from ledger import ids, verdicts
from ledger.collections import DELIVERIES
from ledger.documents import BadRecord
from ledger.lifecycle import ALERT_AGE_MAX, ALERT_CAP_JOBS
from ledger.records import Job, User
from ledger.verdicts import Held, Verdict, VerdictState
from scan.match import Fit

BACKLOG_MAX_PAIRS = ALERT_CAP_JOBS  # asked about in one catch-up, of jobs that are news to nobody else


async def judge(run: Run, matched: Matched, woken: Woken) -> Matched:
    """The matches with their verdicts; pairs without one are left out. Raises StoreError."""
    has_judge = run.parts.judge is not None
    asking = sorted(uid for uid, wanted in matched.wanted.items() if wanted.ai) if has_judge else []
    if not asking and not woken.verdicts:
        return matched
    run.parts.watch("judge")
    # As they are now: who has left, paused or changed their mind costs nothing.
    _, people = await read_again(run, sorted({*asking, *woken.verdicts}))
    cases: dict[str, Case] = {}
    for uid in asking:
        if (user := people.get(uid)) is not None and _wants(user, now=run.now):
            cases[uid] = Case(user, matched.wanted[uid], may_ask=True)
    await _look_up(run, cases)
    await add_carried(run, cases, matched, people, woken.verdicts)
    await _give_up(run, cases)
    await _ask(run, cases)
    await _carry_the_rest(run, cases)
    await _let_go(run, cases)
    return _with_verdicts(run, matched, cases)


def _wants(user: User, *, now: datetime) -> bool:
    return user.ai and user.active and (user.paused_until is None or user.paused_until <= now)


async def _look_up(run: Run, cases: Mapping[str, Case]) -> None:
    """What is known of each pair: a stored verdict, a pending one, a row (then the ledger has decided), or nothing."""
    fits = {uid: _by_key(case.wanted) for uid, case in cases.items() if case.wanted is not None}
    unreadable: set[str] = set()

    def bad(id_: str, error: BadRecord) -> None:
        unreadable.add(id_)
        run.report.error("verdicts", str(error))

    every_id = [ids.pair_id(uid, key) for uid, by_key in fits.items() for key in by_key]
    known = await verdicts.read(run.store, every_id, bad) if every_id else {}
    unknown = [id_ for id_ in every_id if id_ not in known and id_ not in unreadable]
    rows = await run.store.get(DELIVERIES, unknown) if unknown else {}
    for uid, by_key in fits.items():
        case = cases[uid]
        for key, pairs in by_key.items():
            id_ = ids.pair_id(uid, key)
            if id_ in rows or id_ in unreadable:
                case.settled += pairs
            else:
                case.pairs.append(_pair(uid, key, pairs, known.get(id_), now=run.now))
        case.pairs = _within_the_backlog(case)
    run.report.matches.ai_cached += sum(
        pair.verdict.state is VerdictState.DECIDED for case in cases.values() for pair in case.pairs
    )


def _by_key(wanted: Wanted) -> dict[str, list[tuple[Fit, Job]]]:
    """Twins together, the best first: they share one verdict."""
    grouped: dict[str, list[tuple[Fit, Job]]] = {}
    for fit, job in sorted(wanted.fits, key=lambda pair: (-pair[0].score, pair[1].id)):
        grouped.setdefault(job.key, []).append((fit, job))
    return grouped


def _pair(uid: str, key: str, fits: Sequence[tuple[Fit, Job]], held: Held | None, *, now: datetime) -> Pair:
    if held is not None and held.record.state is not VerdictState.DROPPED:
        return Pair(verdicts.taken_up(held.record, now=now), held.version, tuple(fits))
    (best, job), *others = fits
    verdict = Verdict(
        uid=uid,
        key=key,
        job_id=job.id,
        state=VerdictState.PENDING,
        created_at=now,
        fit_score=best.score,
        fit_reason=best.reason,
        twins=tuple(twin.id for _, twin in others),
    )
    return Pair(verdict, held.version if held is not None else None, tuple(fits))


def _within_the_backlog(case: Case) -> list[Pair]:
    """A new profile is not judged against the whole archive: of jobs that are old news only the best by keywords."""
    open_ids = case.wanted.open_ids if case.wanted is not None else frozenset[str]()
    is_new = [pair.version is None and not any(job.id in open_ids for _, job in pair.fits) for pair in case.pairs]
    backlog = [pair for pair, new in zip(case.pairs, is_new, strict=True) if new]
    backlog.sort(key=lambda pair: (-pair.verdict.fit_score, pair.verdict.key))
    over = {pair.verdict.key for pair in backlog[BACKLOG_MAX_PAIRS:]}
    return [pair for pair in case.pairs if pair.verdict.key not in over]


async def _give_up(run: Run, cases: Mapping[str, Case]) -> None:
    """Pairs that have had their time, or whose person has no judge any more, go on by their keywords."""
    changes: list[tuple[Held, Verdict]] = []
    given_up: list[Pair] = []
    for case in cases.values():
        for pair in case.due(run.now):
            is_spent = verdicts.is_spent(pair.verdict, now=run.now)
            if pair.version is not None and (is_spent or not case.may_ask):
                why = "no verdict came within two hours" if is_spent else "no model is asked"
                changes.append((pair.held, verdicts.unscored(pair.verdict, why=why, now=run.now)))
                given_up.append(pair)
    written = {held.record.id: held for held in await verdicts.change(run.store, changes)}
    for pair in given_up:
        pair.becomes(written.get(pair.verdict.id))


async def _ask(run: Run, cases: Mapping[str, Case]) -> None:
    """Raises StoreError, once every call that began has ended."""
    wanted = [(case.user, due) for case in cases.values() if case.may_ask and (due := case.due(run.now))]
    if not wanted or run.parts.judge is None:
        return
    settings = run.parts.settings
    purse = Purse(run.store, caps=caps_of(settings), clock=run.parts.clock)
    price = table(settings.ai_prices)[settings.ai_model]
    await Asking(run, run.parts.judge, price, purse).all(wanted)


async def _carry_the_rest(run: Run, cases: Mapping[str, Case]) -> None:
    """What was not asked about: its document carries it from here, and says when to ask."""
    now = run.parts.clock()
    left = [(pair, over) for case in cases.values() for pair in case.pending() if (over := pair.left) is not None]
    later = [(pair, verdicts.put_off(pair.verdict, why=o.why, until=o.until or now, now=now)) for pair, o in left]
    made = await verdicts.want(run.store, [new for pair, new in later if pair.version is None], nonce=ids.new_nonce())
    moved = await verdicts.change(run.store, [(pair.held, new) for pair, new in later if pair.version is not None])
    carried = made | {held.record.id for held in moved}
    for pair, new in later:
        pair.is_ours = pair.verdict.id in carried or pair.verdict == new
        pair.verdict = new
    for why, count in Counter(over.why for _, over in left).items():
        run.report.error("verdicts", f"{count} pairs wait for theirs: {why}")
    run.report.remaining.pairs += sum(over is OUT_OF_TIME for _, over in left)
    run.report.matches.undecided += sum(len(case.pending()) for case in cases.values())


async def _let_go(run: Run, cases: Mapping[str, Case]) -> None:
    """Decided pairs that no longer reach their person's threshold ask for no more attention."""
    below = [
        pair
        for case in cases.values()
        for pair in case.pairs
        if pair.verdict.is_decided and pair.verdict.wake_at is not None and not _is_fit(pair.verdict, case.user)
    ]
    await verdicts.change(run.store, [(pair.held, verdicts.told(pair.verdict)) for pair in below])


def _with_verdicts(run: Run, matched: Matched, cases: Mapping[str, Case]) -> Matched:
    wanted = dict(matched.wanted)
    stay_open: set[str] = set()
    carried: list[Held] = []
    for uid, case in cases.items():
        fits, known = list(case.settled), dict[str, Verdict]()
        for pair in case.pairs:
            if pair.verdict.state is VerdictState.PENDING and not (pair.is_ours and pair.verdict.carried):
                stay_open |= {job.id for _, job in pair.fits}  # somebody else is asking: their word is to come
            elif pair.verdict.is_decided and _is_fit(pair.verdict, case.user):
                known[pair.verdict.key] = pair.verdict
                fits += [(_scored(fit, pair.verdict), job) for fit, job in pair.fits]
                if pair.verdict.wake_at is not None:
                    carried.append(pair.held)
        if (new := _wanted_of(run, case, fits, known)) is not None:
            wanted[uid] = new
    return replace(matched, wanted=wanted, stay_open=frozenset(stay_open), carried=tuple(carried))


def _is_fit(verdict: Verdict, user: User) -> bool:
    return verdict.score is None or verdict.score >= user.ai_threshold


def _scored(fit: Fit, verdict: Verdict) -> Fit:
    return fit if verdict.score is None else replace(fit, score=verdict.score)


def _wanted_of(run: Run, case: Case, fits: Sequence[tuple[Fit, Job]], known: Mapping[str, Verdict]) -> Wanted | None:
    """None: only carried pairs, and a catch-up that this run has not matched comes first."""
    user, base = case.user, case.wanted
    if base is None:
        if user.catch_up is not None or not fits:
            return None
        base = Wanted(uid=user.uid, mode=user.mode, catch_up=None)
    late = {job.id for _, job in fits if job.key in case.carried}
    old = {j.id for _, j in fits if j.id in late and run.now - j.first_seen >= ALERT_AGE_MAX}
    return replace(
        base,
        fits=tuple(fits),
        open_ids=base.open_ids | late,
        last_call=base.last_call | old,
        verdicts=known,
    )
