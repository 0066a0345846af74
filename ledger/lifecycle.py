"""A delivery's life: outcomes, states, and the one table between them.

    alert :  (nothing) --claim--> CLAIMED --> SENT | FAILED | UNCLEAR         at most once:
                 QUEUED --claim----^   '----> QUEUED, if provably not taken   the row exists before the send

    digest:  QUEUED ---------------------> SENT | FAILED | EXPIRED            at least once:
                ^------ carried, deferred, unclear                            sent first, then flipped

QUEUED   waits: for its next try (alert), for the user's hour (digest), for the end of quiet hours.
         Entered by creation, by an attempt that was provably not taken, or by the move alert -> digest.
         Left by a claim, a flip, or because its user has gone.
CLAIMED  one run has decided to send it and may be doing so. Only alerts. Entered by creating the row, or
         by swap from QUEUED. Left by settling under the claim's own nonce; or, once older than the
         lease, to UNCLEAR by whichever run finds it: its process died and nobody can tell. A provider's
         event under the claim's outside id may settle it first.
SENT     the provider took responsibility. No more than that.
FAILED   it never will be taken: a bad address, a refused letter, or unclear in three periods.
UNCLEAR  it may or may not have been taken. Only alerts. Never sent again; shown to the operator and on
         the user's page; a provider's event may settle it to SENT.
EXPIRED  nobody wants it any more: its user has gone or stopped, or two sent digests left it over.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    QUEUED = "queued"
    CLAIMED = "claimed"
    SENT = "sent"
    FAILED = "failed"
    UNCLEAR = "unclear"
    EXPIRED = "expired"


FINAL = frozenset({State.SENT, State.FAILED, State.UNCLEAR, State.EXPIRED})


class Via(StrEnum):
    """By which letter a row goes out. It moves from alert to digest, never back."""

    ALERT = "alert"
    DIGEST = "digest"


class Outcome(StrEnum):
    """How one attempt to send one letter ended."""

    ACCEPTED = "accepted"  # the provider took responsibility, no more
    REJECTED = "rejected"  # this letter never will be taken
    DEFERRED = "deferred"  # provably not taken; the next one may be
    PAUSED = "paused"  # provably not taken, and the account or the configuration is at fault
    UNCLEAR = "unclear"  # we cannot tell


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt and its outcome, as a transport returns it.

    `reason` is for people and never holds an address or a secret. `receipt` is the provider's own name for
    the letter. `retry_after_s` is what the provider asked for. `suppress` says that the mailbox does not
    exist, so that nothing is sent there again. `repeatable` says that the provider would recognise the same
    letter by its key, so that an unclear attempt may be repeated at once.
    """

    outcome: Outcome
    reason: str = ""
    receipt: str | None = None
    retry_after_s: float | None = None
    suppress: bool = False
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class After:
    """What an outcome makes of a row. `uses_try` counts towards TRIES_MAX."""

    state: State
    uses_try: bool = False


# At most once: an alert is sent again only where it was provably not taken.
ALERT_AFTER = MappingProxyType(
    {
        Outcome.ACCEPTED: After(State.SENT),
        Outcome.REJECTED: After(State.FAILED),
        Outcome.DEFERRED: After(State.QUEUED, uses_try=True),
        Outcome.PAUSED: After(State.QUEUED),
        Outcome.UNCLEAR: After(State.UNCLEAR),
    }
)

# At least once: a digest is sent again until it was accepted. A rare copy beats a lost day.
DIGEST_AFTER = MappingProxyType(
    {
        Outcome.ACCEPTED: After(State.SENT),
        Outcome.REJECTED: After(State.FAILED),
        Outcome.DEFERRED: After(State.QUEUED, uses_try=True),
        Outcome.PAUSED: After(State.QUEUED),
        Outcome.UNCLEAR: After(State.QUEUED, uses_try=True),
    }
)

ABANDONED = State.UNCLEAR  # a CLAIMED row older than its lease: whoever held it died


class DigestState(StrEnum):
    OPEN = "open"  # pinned, waiting for its attempt
    SENDING = "sending"  # one run is sending it; older than the lease it counts as unclear
    SENT = "sent"  # accepted; its rows are flipped
    FAILED = "failed"  # refused for good; its rows failed with the reason
    EXPIRED = "expired"  # its user has gone
    SUPERSEDED = "superseded"  # a later period took its rows over


DIGEST_LIVE = frozenset({DigestState.OPEN, DigestState.SENDING})

ALERT_CAP_JOBS = 20  # one letter per user and cycle, the best of them
TRIES_MAX = 3  # then an alert waits for the digest
ALERT_AGE_MAX = timedelta(hours=24)  # since the job was first seen; then the digest
ALERT_RETRY = (timedelta(minutes=10), timedelta(minutes=30))  # after the first and the second try
DIGEST_ATTEMPTS_MAX = 3  # in one period
DIGEST_RETRY_UNCLEAR = (timedelta(hours=1), timedelta(hours=4))  # before attempt 2 and 3
UNCLEAR_PERIODS_MAX = 3  # then a row is FAILED: "unclear, gave up"
LEFT_OVER_MAX = 2  # carried after the first sent digest that left it over, EXPIRED after the second
REJECTED_STREAK_MAX = 3  # letters in a row; then the user is stopped, visibly
FINAL_KEPT = timedelta(days=90)


def ends_left_out(left_over: int) -> bool:
    """Whether a row that was left over that often expires when one more sent digest has no room for it."""
    return left_over + 1 >= LEFT_OVER_MAX
