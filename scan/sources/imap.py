"""Reading a folder over IMAP (RFC 9051): what came since the last time, bounded, and without a trace.

Blocking, for a thread. The place where a reading ended is `UIDVALIDITY:UID`: numbers of one validity only grow.
"""

from __future__ import annotations

import imaplib
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

MAILS_MAX = 50  # of one poll; the rest comes with the next
MAIL_MAX_BYTES = 2 * 1024 * 1024
FIRST_LOOK = timedelta(days=2)
STEP_MIN_S = 0.05

_NUMBER = re.compile(rb"[0-9]{1,10}")
_SIZE = re.compile(
    rb"UID ([0-9]{1,10})[^\r\n]*?RFC822\.SIZE ([0-9]{1,12})|RFC822\.SIZE ([0-9]{1,12})[^\r\n]*?UID ([0-9]{1,10})"
)
_PLACE = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")


class BadLogin(Exception):
    """The server does not take the user and password."""


class BadMailbox(Exception):
    """The server answered, and it is no answer we can use. The text quotes nothing."""


@dataclass(frozen=True, slots=True)
class Box:
    host: str
    port: int
    is_tls: bool
    user: str = field(repr=False)
    password: str = field(repr=False)
    folder: str = "INBOX"


@dataclass(frozen=True, slots=True)
class Mails:
    """Whole mails, oldest first; `place` is where the next reading begins. `unchanged`: nothing has come."""

    bodies: tuple[bytes, ...]
    place: str
    too_large: int = 0
    unchanged: bool = False


def read_mails(box: Box, place: str | None, *, now: datetime, deadline_s: float) -> Mails:
    """Raises BadLogin, BadMailbox, TimeoutError, OSError."""
    ends = time.monotonic() + deadline_s
    with _open(box, ends) as imap:
        try:
            validity = _select(imap, box.folder)
            known = _PLACE.fullmatch(place or "")
            after = int(known[2]) if known and known[1] == validity else 0
            waiting = _uids(imap, after, now=now)
            if not waiting:
                return Mails((), f"{validity}:{after}", unchanged=after > 0)
            sizes = _sizes(imap, waiting)
            bodies = []
            for uid in waiting:
                if sizes.get(uid, 0) <= MAIL_MAX_BYTES:
                    _hurry(imap, ends)
                    bodies += _body(imap, uid)
            return Mails(
                tuple(bodies), f"{validity}:{waiting[-1]}", too_large=sum(s > MAIL_MAX_BYTES for s in sizes.values())
            )
        except imaplib.IMAP4.error as error:
            raise BadMailbox("the mail server did not answer as IMAP servers do") from error


@contextmanager
def _open(box: Box, ends: float) -> Iterator[imaplib.IMAP4]:
    timeout_s = max(STEP_MIN_S, ends - time.monotonic())
    try:
        imap: imaplib.IMAP4 = (
            imaplib.IMAP4_SSL(box.host, box.port, ssl_context=ssl.create_default_context(), timeout=timeout_s)
            if box.is_tls
            else imaplib.IMAP4(box.host, box.port, timeout=timeout_s)
        )
    except imaplib.IMAP4.error as error:
        raise BadMailbox("no IMAP server") from error
    try:
        _hurry(imap, ends)
        try:
            imap.login(box.user, box.password)
        except imaplib.IMAP4.abort as error:
            raise BadMailbox("the mail server hung up") from error
        except (imaplib.IMAP4.error, UnicodeError) as error:
            raise BadLogin from error
        yield imap
    finally:
        with suppress(OSError, imaplib.IMAP4.error):
            imap.shutdown()  # no LOGOUT: nothing was changed, and a server that hangs would hang there as well


def _hurry(imap: imaplib.IMAP4, ends: float) -> None:
    """What follows has only what is left of the whole."""
    left_s = ends - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    imap.sock.settimeout(max(STEP_MIN_S, left_s))


def _select(imap: imaplib.IMAP4, folder: str) -> str:
    """The folder's UIDVALIDITY. Read-only: no mail becomes seen."""
    quoted = '"' + folder.replace("\\", "\\\\").replace('"', '\\"') + '"'
    try:
        status, _ = imap.select(quoted, readonly=True)
    except UnicodeError as error:
        raise BadMailbox("the folder's name must be written in ASCII (IMAP's modified UTF-7)") from error
    if status != "OK":
        raise BadMailbox("there is no such folder")
    _, found = imap.response("UIDVALIDITY")
    number = _NUMBER.search(found[0]) if found and isinstance(found[0], bytes) else None
    if number is None:
        raise BadMailbox("the folder has no UIDVALIDITY")
    return number[0].decode()


def _uids(imap: imaplib.IMAP4, after: int, *, now: datetime) -> list[int]:
    """At most MAILS_MAX, the oldest; at the first look the newest of the last days."""
    since = now - FIRST_LOOK
    # Month names by hand: strftime's follow the locale.
    month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][since.month - 1]
    asked = ("UID", f"{after + 1}:*") if after else ("SINCE", f"{since.day:02}-{month}-{since.year}")
    status, found = imap.uid("SEARCH", *asked)
    if status != "OK" or not found:
        raise BadMailbox("the search was refused")
    numbers = sorted(
        {int(word) for part in found if isinstance(part, bytes) for word in part.split() if _NUMBER.fullmatch(word)}
    )
    newer = [number for number in numbers if number > after]  # `n:*` names the last one even if it is older
    return newer[:MAILS_MAX] if after else newer[-MAILS_MAX:]


def _sizes(imap: imaplib.IMAP4, uids: list[int]) -> dict[int, int]:
    status, found = imap.uid("FETCH", ",".join(map(str, uids)), "(UID RFC822.SIZE)")
    if status != "OK":
        raise BadMailbox("the mails cannot be read")
    sizes = {}
    for part in found:
        text = part[0] if isinstance(part, tuple) else part
        if isinstance(text, bytes) and (match := _SIZE.search(text)):
            sizes[int(match[1] or match[4])] = int(match[2] or match[3])
    return sizes


def _body(imap: imaplib.IMAP4, uid: int) -> list[bytes]:
    """The mail, or nothing if it was removed meanwhile."""
    status, found = imap.uid("FETCH", str(uid), "(BODY.PEEK[])")
    if status != "OK":
        raise BadMailbox("the mails cannot be read")
    return [part[1] for part in found if isinstance(part, tuple) and len(part) > 1 and isinstance(part[1], bytes)][:1]
