"""The collections, and how each is searched."""

from __future__ import annotations

from ledger.store import Index

USERS = "users"
JOBS = "jobs"
ALIASES = "aliases"
FINGERPRINTS = "fingerprints"
DELIVERIES = "deliveries"
MATCHES = "matches"
DIGESTS = "digests"
LOCKS = "locks"
RUNS = "runs"
SOURCES = "sources"
SIGN_INS = "sign_ins"
SESSIONS = "sessions"
LIMITS = "limits"
FEEDBACK = "feedback"
SPEND = "spend"

# What is searched, and how. No query joins an equality with a range, so no composite index is needed.
INDEXES: dict[str, Index] = {
    USERS: Index(equal=("active", "token", "of"), ranged=("wake_at",)),
    JOBS: Index(equal=("state", "link_id"), ranged=("fresh_at",), exempt=("text", "expire_at")),
    ALIASES: Index(),
    FINGERPRINTS: Index(),
    DELIVERIES: Index(equal=("uid", "state", "via", "outside"), ranged=("wake_at",)),
    MATCHES: Index(equal=("uid",), ranged=("wake_at",)),
    DIGESTS: Index(equal=("uid", "live", "outside"), ranged=("wake_at",)),
    LOCKS: Index(),
    RUNS: Index(ranged=("started_at", "completed_at")),
    SOURCES: Index(ranged=("next_poll_at",)),
    SIGN_INS: Index(equal=("uid",)),
    SESSIONS: Index(equal=("uid",)),
    LIMITS: Index(),
    FEEDBACK: Index(equal=("uid",)),
    SPEND: Index(),
}
