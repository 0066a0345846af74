"""What an SMTP answer means in the phase where it came: the table, and the words for it.

    connect -> hello -> (starttls -> hello) -> (auth) -> mail -> rcpt -> data -> body ending in a dot

Before the body has gone out nothing can have been taken, whatever happens. After it, only an answer decides:
250 took it, 4xx and 5xx did not (RFC 5321 4.2.5), anything else leaves us not knowing.
"""

from __future__ import annotations

import re
import ssl
from enum import StrEnum
from types import MappingProxyType

from aiosmtplib import SMTPResponseException

from ledger.lifecycle import Attempt, Outcome
from mail.clean import line
from mail.transports.causes import what_ended

ANSWER_MAX_BYTES = 160


class Phase(StrEnum):
    """How far an attempt has come: the command whose answer is awaited."""

    CONNECT = "connect"
    HELLO = "hello"
    STARTTLS = "starttls"
    AUTH = "auth"
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    DOT = "end of the letter"  # the body has gone out, at least in part


# A lasting refusal is the letter's fault once the server has heard its recipient, before that it is ours.
_REFUSED_FOR_GOOD = MappingProxyType(
    {
        Phase.CONNECT: Outcome.PAUSED,
        Phase.HELLO: Outcome.PAUSED,
        Phase.STARTTLS: Outcome.PAUSED,
        Phase.AUTH: Outcome.PAUSED,
        Phase.MAIL: Outcome.PAUSED,
        Phase.RCPT: Outcome.REJECTED,
        Phase.DATA: Outcome.REJECTED,
        Phase.DOT: Outcome.REJECTED,
    }
)

# An answer that is neither 4xx nor 5xx nor the one that the command asks for.
_STRANGE = MappingProxyType(
    {
        Phase.CONNECT: Outcome.DEFERRED,
        Phase.HELLO: Outcome.PAUSED,
        Phase.STARTTLS: Outcome.PAUSED,
        Phase.AUTH: Outcome.PAUSED,
        Phase.MAIL: Outcome.DEFERRED,
        Phase.RCPT: Outcome.DEFERRED,
        Phase.DATA: Outcome.DEFERRED,
        Phase.DOT: Outcome.UNCLEAR,
    }
)

# RFC 3463, RFC 7505: the mailbox or its domain does not exist, or takes no mail at all.
_NO_SUCH_MAILBOX = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"})
# About our own address, although many servers say it only when asked about the recipient.
_BAD_SENDER = frozenset({"5.1.7", "5.1.8"})

_ENHANCED = re.compile(r"\s*([245]\.\d{1,3}\.\d{1,3})(?![\d.])")
_ADDRESS = re.compile(r"<[^>]*>|\S*(?:@|%40|=40|\uff20)\S*", re.IGNORECASE)


def answered(phase: Phase, code: int, text: str, recipient: str) -> Attempt:
    """The outcome of an answer other than the one the phase asks for."""
    match = _ENHANCED.match(text)
    enhanced = match[1] if match else ""
    if code // 100 == 4:
        outcome = Outcome.DEFERRED
    elif code // 100 == 5:
        outcome = Outcome.PAUSED if enhanced in _BAD_SENDER else _REFUSED_FOR_GOOD[phase]
    else:
        outcome = _STRANGE[phase]
    # A server may echo what it was told, and while signing in that is a secret.
    said = "" if phase is Phase.AUTH else without_addresses(text[match.end() :] if match else text, recipient)
    status = f"{code} {enhanced}".strip() if code > 0 else "something that is not SMTP"
    reason = f"{phase}: the mail server answered {status}" + (f", {said}" if said else "")
    suppress = outcome is Outcome.REJECTED and enhanced in _NO_SUCH_MAILBOX
    return Attempt(outcome, reason, suppress=suppress)


def broken(phase: Phase, error: Exception, recipient: str, *, where: str) -> Attempt:
    """The outcome of an attempt that ended with an exception in that phase. `where` is the server's host and port."""
    if isinstance(error, SMTPResponseException):
        return answered(phase, error.code, error.message, recipient)
    if phase is Phase.DOT:
        return Attempt(Outcome.UNCLEAR, f"{phase}: {what_ended(error)} before the mail server answered")
    if phase in (Phase.CONNECT, Phase.STARTTLS) and _is_about_tls(error):
        return Attempt(Outcome.PAUSED, f"{phase}: no trustworthy TLS with the mail server ({where})")
    if phase in (Phase.STARTTLS, Phase.AUTH) and not isinstance(error, OSError):
        return Attempt(Outcome.PAUSED, f"{phase}: the mail server does not offer it ({where})")
    return Attempt(Outcome.DEFERRED, f"{phase}: {what_ended(error)} ({where}); nothing was handed over")


def receipt(text: str, recipient: str) -> str | None:
    """The server's own name for the letter, as far as its answer tells."""
    return without_addresses(text, recipient) or None


def without_addresses(text: str, recipient: str) -> str:
    """One line of what the server said, without anything that is, or holds a part of, an address."""
    local = re.escape(recipient.rpartition("@")[0])
    echo = rf"\S*{local}\S*" if len(local) > 2 else rf"(?<!\w){local}(?!\w)"
    shown = _ADDRESS.sub("(address)", " ".join(text.split()))
    return line(re.sub(echo, "(address)", shown, flags=re.IGNORECASE), ANSWER_MAX_BYTES)


def _is_about_tls(error: Exception) -> bool:
    return isinstance(error, ssl.SSLError) or isinstance(error.__cause__, ssl.SSLError)
