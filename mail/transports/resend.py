"""Letters by Resend's API. The letter's outside id is its idempotency key.

Resend remembers a key for 24 h: the same key with equal bytes replays the first answer. So an attempt of which we
cannot tell may be repeated as it was (`Attempt.repeatable`), and a letter is a pure function of its rows.
"""

from __future__ import annotations

from typing import Any

from ledger.lifecycle import Attempt, Outcome
from mail.envelope import recipient, sender, sender_name
from mail.letter import Letter
from mail.transports.api import Api, Told, common, further_headers, text_of
from mail.transports.http import Answer
from mail.transports.port import Check

_ABOUT_THE_LETTER = frozenset({400, 405, 422})
_ABOUT_THE_ACCOUNT = frozenset({401, 403, 404})
_QUOTA_SPENT = frozenset({"daily_quota_exceeded", "monthly_quota_exceeded"})
_SAME_KEY_IN_FLIGHT = frozenset({"concurrent_idempotent_requests", "resource_locked"})


def request_of(letter: Letter) -> dict[str, Any]:
    """The JSON of one letter to one recipient; a pure function of it. Raises Unsendable."""
    return {
        "from": _named(sender_name(letter.mail_from), sender(letter)),
        "to": [recipient(letter)],
        "subject": letter.subject,
        "text": letter.text,
        "html": letter.html,
        "headers": further_headers(letter),
        "tags": [{"name": "delivery_id", "value": letter.outside_id}],
    }


def outcome_of(answer: Answer, told: Told) -> Attempt:
    """Only 200 is a letter taken; a status that is not listed leaves us not knowing."""
    status, body = answer.status, answer.json() or {}
    if status == 200:
        return Attempt(Outcome.ACCEPTED, receipt=text_of(body, "id") or None)
    kind = text_of(body, "name")
    reason = told(f"{kind} {text_of(body, 'message')}".strip() or "no reason given")
    if status == 409:  # an earlier request under this key may have been taken: never under another one
        return Attempt(Outcome.UNCLEAR, reason, repeatable=kind in _SAME_KEY_IN_FLIGHT)
    if status == 429 and kind in _QUOTA_SPENT:
        return Attempt(Outcome.PAUSED, reason)
    if (attempt := common(answer, told, is_theirs=bool(kind))) is not None:
        unclear = attempt.outcome is Outcome.UNCLEAR
        return Attempt(attempt.outcome, attempt.reason, retry_after_s=attempt.retry_after_s, repeatable=unclear)
    if status in _ABOUT_THE_ACCOUNT or kind == "invalid_from_address":
        return Attempt(Outcome.PAUSED, reason)
    return Attempt(Outcome.REJECTED if status in _ABOUT_THE_LETTER else Outcome.UNCLEAR, reason)


def probed(answer: Answer) -> Check:
    """The domains of the account. A key that may only send is told so, which proves it as well."""
    kind = text_of(answer.json() or {}, "name")
    if answer.status == 200:
        return Check(True, "the key is accepted")
    if kind == "restricted_api_key":
        return Check(True, "the key is accepted, for sending only")
    if answer.status in _ABOUT_THE_ACCOUNT and kind:
        return Check(False, f"the key is refused ({kind})", "copy RESEND_API_KEY again, or make a new key")
    return Check(None, f"it answered {answer.status}, which says nothing about the key")


RESEND = Api(
    "resend",
    "https://api.resend.com",
    "/emails",
    request_of,
    outcome_of,
    key_header="Idempotency-Key",
    probe_path="/domains",
    probed=probed,
)


def _named(name: str, address: str) -> str:
    """`"Name" <address>`: quoted by hand, since the usual way would encode what JSON carries as it is."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}" <{address}>' if name else address
