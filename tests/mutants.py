"""`python -m tests.mutants [NAME ...]`: deliberate breakages of the delivery rules, one at a time; each must be caught.

Each is applied to a copy of the tree, and the suite's own proofs are run on it in the form that CI runs them,
SQLite and the simulator only. Prints the table that docs/guarantees.md shows; exit code 1 if one survives.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("app", "ledger", "scan", "mail", "tests")
# In this order: the quick ones first.
CHECKS = (
    ("life cycle", ("tests/ledger/test_lifecycle.py",)),
    ("rules", ("tests/app/test_pace.py", "tests/app/test_catch_up.py", "tests/app/test_digest_rules.py")),
    ("lease", ("tests/ledger/test_lease.py", "tests/cases/test_c_locks.py")),
    ("quick proofs", (
        "tests/proofs/test_getting_on.py", "tests/proofs/test_large_digests.py", "tests/proofs/test_paid_once.py",
        "tests/proofs/test_refusals.py", "tests/proofs/test_unreadable.py", "tests/app/test_quota.py",
        "tests/proofs/test_second_try.py", "tests/app/pages/test_rescore.py", "tests/app/test_ending_letters.py",
    )),
    ("simulator", ("tests/simulation/test_simulation.py",)),
    ("stops", ("tests/proofs",)),
)  # fmt: skip
CHECK_MAX_S = 400
SCHEDULES = "3000"  # of the simulator's: fewer than in the suite, since each breakage runs them all again


@dataclass(frozen=True, slots=True)
class Mutant:
    """One breakage: in `file`, `old` becomes `new`, exactly once."""

    name: str
    file: str
    old: str
    new: str


ALERTS, DIGEST_STEP, ROWS = "app/steps/alerts.py", "app/steps/digests.py", "ledger/deliveries.py"
MUTANTS = (
    Mutant(
        "send before claim",
        ALERTS,
        "    won = await deliveries.claim(",
        "    early = await send(run, letter)\n    won = await deliveries.claim(",
    ),
    Mutant("letter from fits, not from won rows", ALERTS, "if len(won) < len(rows):", "if len(won) > len(rows):"),
    Mutant(
        "put for create at the claim",
        ROWS,
        "versions |= await store.create(DELIVERIES, {id_: encode(row) for id_, row in wanted.items()})",
        "await store.put(DELIVERIES, {id_: encode(row) for id_, row in wanted.items()})\n"
        "        versions |= {i: s.version for i, s in (await store.get(DELIVERIES, list(wanted))).items()}",
    ),
    Mutant(
        "settle by put",
        ROWS,
        "done = await store.swap(DELIVERIES, {id_: (versions[id_], encode(row)) for id_, row in after.items()})",
        "await store.put(DELIVERIES, {id_: encode(row) for id_, row in after.items()})\n    done = dict(versions)",
    ),
    Mutant(
        "re-claim by put",
        ROWS,
        "versions |= await store.swap(DELIVERIES, {id_: (v, encode(row)) for id_, (v, row) in again.items()})",
        "await store.put(DELIVERIES, {id_: encode(row) for id_, (_, row) in again.items()})\n"
        "            versions |= {i: s.version for i, s in (await store.get(DELIVERIES, list(again))).items()}",
    ),
    Mutant("one nonce a run", ALERTS, "    nonce = ids.new_nonce()\n", "    nonce = run.report.run_id\n"),
    Mutant("no read-back at the claim", ROWS, "        versions |= await _lost_answers(store, wanted, versions)\n", ""),
    Mutant(
        "stale claim queued again",
        ROWS,
        'return final(row, ABANDONED, now=now, why="the run that was sending it died")',
        "return replace(row, state=State.QUEUED, nonce=None, wake_at=now)",
    ),
    Mutant("release without owner", "ledger/lease.py", "version=lease.version)", "version=None)"),
    Mutant(
        "digest flipped before it is sent",
        DIGEST_STEP,
        "    attempt = await send(run, letter, uid=user.uid)\n",
        "    await _close(run, user, sending, rows, state=DigestState.SENT)\n"
        "    attempt = await send(run, letter, uid=user.uid)\n",
    ),
    Mutant(
        "attempt not claimed",
        DIGEST_STEP,
        "    sending = await digests.begin("
        "run.store, digest, listed=listed, now=run.parts.clock(), lease_s=run.lease_s)\n",
        "    sending: Held | None = digest\n",
    ),
    Mutant(
        "no supersede",
        "app/steps/digest_rows.py",
        "older = standing[-1] if standing else None",
        "older = None",
    ),
    Mutant(
        "unclear treated as deferred",
        "ledger/lifecycle.py",
        "        Outcome.UNCLEAR: After(State.UNCLEAR),\n",
        "        Outcome.UNCLEAR: After(State.QUEUED, uses_try=True),\n",
    ),
    Mutant("circuit off", "app/pace.py", "        return 0 if self.paused else max(0, ", "        return max(0, "),
    Mutant(
        "digest only when the hour is 8",
        DIGEST_STEP,
        "    async def serve(",
        "    if run.now.hour != 8:\n        return\n\n    async def serve(",
    ),
    Mutant(
        "an alias counts though its job never came to be",
        "ledger/jobs.py",
        '(job := jobs.get(str(aliases[alias].data.get("job_id")))) is not None',
        '(job := jobs.get(str(aliases[alias].data.get("job_id")), aliases[alias])) is not None',
    ),
    Mutant(
        "what was seen is stored before the items are",
        "app/steps/poll.py",
        "        case Items():\n",
        "        case Items():\n"
        "            early = replace(\n"
        "                state,\n"
        "                baseline_at=state.baseline_at or now,\n"
        "                seen=tuple(ids.source_hash(p.native_id) for p in answer.postings),\n"
        "            )\n"
        "            booked = await sources.book(\n"
        "                run.store, type(held)(early, booked.version), next_poll_at=now, now=now\n"
        "            ) or booked\n"
        "            state = early if not state.baseline_at else state\n",
    ),
    Mutant(
        "catch-up cleared whatever its value",
        "ledger/users.py",
        "if user.catch_up == value else user",
        "if user.catch_up else user",
    ),
    Mutant("lease over one moment late", "ledger/lease.py", "held.age_s >= lease_s", "held.age_s > lease_s"),
    Mutant(
        "the run's first reading of a user decides",
        "app/steps/choose.py",
        "    if user.catch_up != wanted.catch_up:\n",
        "    if not user:\n",
    ),
    Mutant("sends in somebody else's time", "app/dispatch.py", "if run.deadline.is_over():", "if not run.deadline:"),
    Mutant(
        "a repeat after a proven acceptance",
        DIGEST_STEP,
        "if digests.was_accepted(digest.record, rows):",
        "if not rows:",
    ),
    Mutant(
        "jobs closed before everyone is served",
        ALERTS,
        "if id_ not in undecided]",
        "if id_ or undecided]",
    ),
    Mutant(
        "further fits dropped",
        "app/steps/choose.py",
        "queue = _for_digest((*over, *offers.rest, *offers.last), hour=hour, now=now)",
        "queue = _for_digest(offers.last, hour=hour, now=now)",
    ),
    Mutant(
        "left-over rows called sent",
        "ledger/digests.py",
        "is_listed = key in listed or state is not DigestState.SENT",
        "is_listed = True",
    ),
    Mutant(
        "whom a cut run served is served again",
        "app/steps/bulk.py",
        "if all(id_ in found for id_ in pairs[uid])}",
        "if not pairs}",
    ),
    Mutant(
        "a profile saved in the run counts as decided",
        "app/steps/choose.py",
        "return wanted is not None and user.catch_up is not None and user.catch_up != wanted.catch_up",
        "return wanted is None and user.catch_up is not None",
    ),
    Mutant(
        "a store that fails before the send leaves a claim behind",
        ALERTS,
        "        await deliveries.give_back(run.store, won, now=run.parts.clock())\n",
        "",
    ),
    Mutant(
        "a paid word is dropped with its person's pause",
        "ledger/verdicts.py",
        "VerdictState.DECIDED if verdict.was_decided else VerdictState.DROPPED",
        "VerdictState.DROPPED",
    ),
    Mutant(
        "a provider's block is held against people",
        "app/steps/people.py",
        "    if run.pace.paused is None:\n",
        "    if run:\n",
    ),
    Mutant(
        "yesterday's letters are given back to today",
        "app/quota.py",
        "if (today := self._clock().date()) != self._day:",
        "if (today := self._clock().date()) == self._day:",
    ),
    Mutant(
        "a digest holds more than one commit takes",
        "ledger/pinning.py",
        "        if room and size_bytes > ROWS_MAX_BYTES:\n            break\n",
        "",
    ),
    Mutant(
        "an unreadable digest keeps its rows",
        "app/steps/digests.py",
        "    for digest in unreadable:\n",
        "    for digest in unreadable[:0]:\n",
    ),
    Mutant(
        "a second try does not read its person again",
        "app/dispatch.py",
        "(uid is not None and not await _still_wanted(run, letter, uid))",
        "(uid is not None and not uid)",
    ),
    Mutant(
        "what was in flight goes on behind a run's end",
        "app/dispatch.py",
        "        await end(tasks)\n        raise\n",
        "        raise\n",
    ),
    Mutant(
        "asked for anew and without an answer, keywords decide",
        "ledger/verdicts.py",
        "VerdictState.DECIDED if verdict.was_decided else VerdictState.UNSCORED",
        "VerdictState.UNSCORED",
    ),
)


def caught_by(mutant: Mutant, tree: Path) -> str | None:
    """The name of the first check that fails on the mutant; None if it survives. Restores the tree."""
    file = tree / mutant.file
    sound = file.read_text()
    if sound.count(mutant.old) != 1:
        raise SystemExit(f"mutants: {mutant.name!r} no longer fits {mutant.file}: the code has moved on")
    file.write_text(sound.replace(mutant.old, mutant.new))
    try:
        for name, paths in CHECKS:
            there = [path for path in paths if (tree / path).exists()]
            if not _passes(tree, there):
                return name
    finally:
        file.write_text(sound)
    return None


def _passes(tree: Path, paths: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not firestore", *paths]
    environment = {
        **os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "SIMULATION_SCHEDULES": SCHEDULES,
    }  # fmt: skip
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=CHECK_MAX_S, check=False)
    return done.returncode == 0


def main(names: list[str]) -> int:
    chosen = [m for m in MUTANTS if not names or any(re.search(name, m.name) for name in names)]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="scout-mutants-") as folder:
        tree = Path(folder)
        for room in ROOMS:
            shutil.copytree(ROOT / room, tree / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        for mutant in chosen:
            began = time.monotonic()
            by = caught_by(mutant, tree)
            survivors += by is None
            sys.stdout.write(f"| {mutant.name} | {by or 'SURVIVED'} | {time.monotonic() - began:.0f} s |\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} mutants, {survivors} survived\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
