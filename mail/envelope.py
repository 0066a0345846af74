"""Headers and bytes on the wire.

Written by hand instead of by `email.message`: its stock policies fold a long List-Unsubscribe into an encoded
word, and mail programs then find no link in it (RFC 2369, RFC 8058). Here no header but Subject and From is
ever encoded, nothing is random, and the bytes are a pure function of the letter.
"""

from __future__ import annotations

import base64
import binascii
import re
from email.header import Header
from email.utils import format_datetime, parseaddr
from functools import lru_cache

import idna

from ledger.lifecycle import Attempt, Outcome
from mail.clean import is_showable
from mail.letter import LETTER_MAX_BYTES, Letter

HEADER_MAX_BYTES = 998  # of one line, RFC 5322 2.1.1
LOCAL_MAX_BYTES = 64  # RFC 5321 4.5.3.1.1
SENDERS_KEPT = 8  # worked out once: every letter of a scout has the same
DOMAINS_KEPT = 1_000  # most people share a few
FRAME_MAX_BYTES = 3_000  # headers and boundaries: at most 1,100 for a Subject, 1,000 for an unsubscribe link

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_VISIBLE_ASCII = re.compile(r"[\x20-\x7e]*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 !#$%&'*+/=?^_`{|}~-]+")


class Unsendable(ValueError):
    """The letter cannot be put on the wire. The reason is for people and holds no address."""


class BadSender(Unsendable):
    """No letter can: the configured sender is at fault."""


def as_bytes(letter: Letter) -> bytes:
    """The whole message, CRLF, ASCII but for a non-ASCII local part in To (RFC 6532). Raises Unsendable."""
    boundary = f"=_scout_{letter.outside_id}"  # `=_` can stand in neither quoted-printable nor base64
    head = [_header(name, value) for name, value in headers(letter)]
    head += ["MIME-Version: 1.0", f'Content-Type: multipart/alternative; boundary="{boundary}"', "", ""]
    dashes = f"--{boundary}\r\n".encode()
    return b"".join(
        (
            "\r\n".join(head).encode(),
            dashes,
            _part("plain", letter.text),
            dashes,
            _part("html", letter.html),
            f"--{boundary}--\r\n".encode(),
        )
    )


def headers(letter: Letter) -> list[tuple[str, str]]:
    """Every header but the MIME ones, encoded where they must be. Raises Unsendable."""
    return [
        ("From", _from(letter)),
        ("To", recipient(letter)),
        ("Subject", _encoded(letter.subject, "Subject")),
        ("Date", format_datetime(letter.date)),
        ("Message-ID", message_id(letter)),
        *list_headers(letter),
        ("Auto-Submitted", "auto-generated"),  # RFC 3834
        ("X-Auto-Response-Suppress", "All"),  # Exchange's word for the same
    ]


def list_headers(letter: Letter) -> list[tuple[str, str]]:
    """List-Id and the ways to unsubscribe; none for a letter that nobody subscribed to.

    One-click (RFC 8058) needs an https link, so on an http base, a trial on loopback, only the link is given.
    """
    if letter.unsubscribe_url is None:
        return []
    found = [
        ("List-Id", f"Scout job {letter.kind}s <{letter.kind}.scout.{_domain(sender(letter))}>"),
        ("List-Unsubscribe", f"<{letter.unsubscribe_url}>"),
    ]
    if letter.unsubscribe_url.startswith("https://"):
        found.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    return found


def message_id(letter: Letter) -> str:
    """`<outside_id@sending domain>`: the same for every attempt at the same letter."""
    return f"<{letter.outside_id}@{_domain(sender(letter))}>"


def sender(letter: Letter) -> str:
    """The address in MAIL FROM and From, its domain as an A-label. Raises BadSender."""
    return sender_address(letter.mail_from)


def recipient(letter: Letter) -> str:
    """The one address in RCPT TO and To: the local part as typed, the domain as an A-label. Raises Unsendable."""
    return _address(letter.to.strip(), "the address")


def needs_smtputf8(address: str) -> bool:
    return not address.isascii()


def fits(text: str, html: str) -> bool:
    """Whether a letter with these parts stays within LETTER_MAX_BYTES as sent, whatever its headers."""
    room = LETTER_MAX_BYTES - FRAME_MAX_BYTES
    if _base64_bytes(text.encode()) + _base64_bytes(html.encode()) <= room:
        return True  # no other encoding is chosen if it is longer
    return len(_part("plain", text)) + len(_part("html", html)) <= room


def not_sent(error: Unsendable) -> Attempt:
    """The outcome of an attempt that ended before it began."""
    return Attempt(Outcome.PAUSED if isinstance(error, BadSender) else Outcome.REJECTED, str(error))


def _address(typed: str, what: str) -> str:
    local, _, domain = typed.rpartition("@")
    if not _LOCAL.fullmatch(local) or not local.isprintable() or len(local.encode()) > LOCAL_MAX_BYTES:
        raise Unsendable(f"{what} has a local part that cannot be sent to")
    try:
        return f"{local}@{_a_label(domain)}"
    except idna.IDNAError as error:
        raise Unsendable(f"{what} has no valid domain") from error


@lru_cache(maxsize=DOMAINS_KEPT)
def _a_label(domain: str) -> str:
    return idna.encode(domain, uts46=True).decode("ascii")


@lru_cache(maxsize=SENDERS_KEPT)
def sender_address(mail_from: str) -> str:
    """The address in `Name <a@b>`, its domain as an A-label. Raises BadSender."""
    try:
        return _address(parseaddr(mail_from)[1], "the sender's address")
    except Unsendable as error:
        raise BadSender(str(error)) from error


@lru_cache(maxsize=SENDERS_KEPT)
def sender_name(mail_from: str) -> str:
    """The name in `Name <a@b>`, empty if there is none."""
    return parseaddr(mail_from)[0]


def _domain(address: str) -> str:
    return address.rpartition("@")[2]


def _from(letter: Letter) -> str:
    name = sender_name(letter.mail_from)
    if not name:
        return sender(letter)
    if not _VISIBLE_ASCII.fullmatch(name):
        name = _encoded(name, "From")
    elif not _PLAIN_NAME.fullmatch(name):
        name = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{name} <{sender(letter)}>"


def _encoded(text: str, header: str) -> str:
    """As it is, if it is short ASCII; else as encoded words, folded (RFC 2047). Raises Unsendable."""
    if not is_showable(text):
        raise Unsendable(f"{header} holds a line break or a control character")
    if text.isascii() and len(header) + 2 + len(text) <= 200 and "=?" not in text:
        return text  # lines over 78 are allowed, and nothing that is not folded can be unfolded wrongly
    return Header(text, "utf-8", header_name=header).encode(linesep="\r\n")


def _header(name: str, value: str) -> str:
    for row in value.split("\r\n "):
        # To may hold UTF-8; everything else was encoded or made by us.
        if not (row.isprintable() if name == "To" else _VISIBLE_ASCII.fullmatch(row)):
            raise Unsendable(f"{name} holds a character that a header cannot carry")
        if len(name) + 2 + len(row.encode()) > HEADER_MAX_BYTES:
            raise Unsendable(f"{name} is too long")
    return f"{name}: {value}"


def _part(subtype: str, content: str) -> bytes:
    """One text part, in whichever of the two encodings is shorter; quoted-printable if equal."""
    data = content.replace("\r\n", "\n").replace("\r", "\n").encode()
    body, encoding = binascii.b2a_qp(data).replace(b"\n", b"\r\n"), "quoted-printable"
    if len(body) > _base64_bytes(data):
        lines = base64.encodebytes(
            data.replace(b"\n", b"\r\n")
        )  # text ends its lines by CRLF inside, too (RFC 2045 6.8)
        body, encoding = lines.replace(b"\n", b"\r\n"), "base64"
    head = f"Content-Type: text/{subtype}; charset=utf-8\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
    return head.encode() + body + b"\r\n"


def _base64_bytes(data: bytes) -> int:
    """The length as base64 in lines of 76, at most."""
    return (len(data) + data.count(b"\n")) * 78 // 57 + 6
