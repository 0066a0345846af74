"""The only place that spells an id.

An id is derived from the data, never from the run: two runs on two machines that mean the same thing
write the same document, and creating it decides who does the work.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import unicodedata

import idna

ADDRESS_MAX_BYTES = 254  # RFC 5321, section 4.5.3.1.3, less the angle brackets; so a uid fits an id of the store
JOB_RULE = "j1"  # the version of the job id rule: a changed rule must never mail a known job again


class BadAddress(ValueError):
    """The text is not an e-mail address."""


def canonical_address(typed: str) -> str:
    """The one form of an address: trimmed, NFC, lower case, NFC, the domain as an IDNA A-label.

    `lower()` and not `casefold()`: folding would merge addresses of different people. Raises BadAddress.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", typed.strip()).lower())
    local, at, domain = text.rpartition("@")
    if not at or not local or not domain or any(c.isspace() or not c.isprintable() for c in text):
        raise BadAddress(f"not an e-mail address: {typed.strip()[:80]!r}")
    try:
        ascii_domain = idna.encode(domain, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise BadAddress(f"not a domain: {domain[:80]!r}") from error
    address = f"{local}@{ascii_domain}"
    if len(address.encode()) > ADDRESS_MAX_BYTES:
        raise BadAddress(f"an e-mail address of more than {ADDRESS_MAX_BYTES} bytes")
    return address


def uid_of(typed: str) -> str:
    """The user's id: base64url without padding of the canonical address. Raises BadAddress."""
    return base64.urlsafe_b64encode(canonical_address(typed).encode()).rstrip(b"=").decode("ascii")


def address_of(uid: str) -> str:
    """The canonical address inside a uid; for the operator's eyes, never for a log."""
    return base64.urlsafe_b64decode(uid + "=" * (-len(uid) % 4)).decode()


def job_id(platform: str, native_id: str) -> str:
    """34 characters, never `_` or `/`: the rule's version and 32 hex of SHA-256 over board and native id."""
    return JOB_RULE + _hash32(f"{platform}\n{native_id}")


def pair_id(uid: str, key: str) -> str:
    """The id of a delivery or a verdict: `key` is a job's id, for a twin the first twin's."""
    return f"{uid}_{key}"


def split_pair(id_: str) -> tuple[str, str]:
    """(uid, key): a uid may contain `_`, a key never does."""
    uid, _, key = id_.rpartition("_")
    return uid, key


def digest_id(uid: str, period: str) -> str:
    """`period` is a local date (`2026-11-30`) or ISO week (`2026-W49`) of the due time."""
    return f"{uid}_{period}"


def alias_id(platform: str, name: str) -> str:
    """The id of another name of a job: its guid, or its canonical link and title."""
    return "a1" + _hash32(f"{platform}\n{name}")


def fingerprint_id(normalised: str) -> str:
    """The id of "the same ad again": normalised company, title and the start of the text."""
    return "f1" + _hash32(normalised)


def link_id(canonical_link: str) -> str:
    """What a job is found by when somebody pastes its link."""
    return "l1" + _hash32(canonical_link)


def source_hash(native_id: str) -> str:
    """8 bytes of a hash, as 16 hex: enough to see that a poll's item was in the last one."""
    return hashlib.sha256(native_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def outside_id(inside: str) -> str:
    """What leaves the building in place of an inside id, which would carry a readable address.

    Of an alert it is the hash of the claim's nonce, of a digest that of the document's id.
    """
    return _hash32(inside)


def new_nonce() -> str:
    """A fresh name for one claim, lease or attempt; 16 random bytes."""
    return secrets.token_hex(16)


def _hash32(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
