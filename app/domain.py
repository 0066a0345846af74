"""What DNS says about the domain that letters come from: SPF, DKIM and DMARC (RFC 7208, 6376, 7489).

Mailbox providers ask for all three of whoever writes to many people. Where DNS does not answer, nothing is claimed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

ANSWER_MAX_S = 4.0
LABELS_MAX = 10  # of a domain, walked up for DMARC

# A selector is the sender's choice and in no list; these are what providers and usual set-ups choose.
SELECTORS = ("s1", "s2", "resend", "default", "mail", "dkim", "k1", "selector1", "selector2", "google", "smtp", "pm")
_RESERVED = ("localhost", "test", "example", "invalid", "local", "internal")  # RFC 2606, 6761
_RESERVED_DOMAINS = ("example.com", "example.net", "example.org")

Txt = Callable[[str], Awaitable[list[str] | None]]  # the TXT records of a name; None: there is no such name


class NoDns(Exception):
    """DNS did not answer; that says nothing about the record."""


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"  # works, and somebody will regret it
    FAIL = "fail"
    SKIP = "skip"  # it cannot be told from here


@dataclass(frozen=True, slots=True)
class Line:
    """One fact, and how to mend it if it is wrong."""

    level: Level
    name: str
    what: str
    mend: str = ""


def is_reserved(domain: str) -> bool:
    """Whether no mail from this domain ever arrives anywhere."""
    last = domain.rpartition(".")[2]
    return "." not in domain or last in _RESERVED or domain.endswith(_RESERVED_DOMAINS)


async def records(domain: str, txt: Txt) -> list[Line]:
    """One line each for SPF, DKIM and DMARC; a single one for a domain that DNS does not know."""
    try:
        if await txt(domain) is None:
            what = f"DNS here does not know {domain}: there is no such domain, or DNS is closed here"
            return [Line(Level.WARN, "dns", what, "set SCOUT_MAIL_FROM to an address of a domain of yours")]
    except NoDns:
        pass  # told below, for each record
    checks = {"spf": _spf, "dkim": _dkim, "dmarc": _dmarc}
    lines = []
    for name, check in checks.items():
        try:
            lines.append(await check(domain, txt))
        except NoDns:
            lines.append(Line(Level.SKIP, name, f"DNS does not answer for {domain}", "try again where DNS is open"))
    return lines


async def system_txt(name: str) -> list[str] | None:
    """As the system's resolver says, aliases followed. Raises NoDns."""
    from dns import asyncresolver, exception, resolver

    try:
        answer = await asyncresolver.resolve(name, "TXT", lifetime=ANSWER_MAX_S, search=False)
    except resolver.NXDOMAIN:
        return None
    except resolver.NoAnswer:
        return []
    except (exception.DNSException, OSError) as error:
        raise NoDns(type(error).__name__) from error
    return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]


async def _spf(domain: str, txt: Txt) -> Line:
    found = [record for record in await txt(domain) or [] if record.lower().split(" ")[0] == "v=spf1"]
    if len(found) > 1:
        return Line(Level.FAIL, "spf", f"{domain} has {len(found)} SPF records, so none counts", "merge them into one")
    if not found:
        mend = "publish TXT v=spf1 include:(what your provider names) ~all"
        return Line(Level.WARN, "spf", f"{domain} has no SPF record", mend)
    words = found[0].lower().split()
    if "+all" in words or "all" in words:
        return Line(Level.FAIL, "spf", f"{domain} lets everybody send in its name (+all)", "end it with ~all or -all")
    return Line(Level.OK, "spf", found[0])


async def _dkim(domain: str, txt: Txt) -> Line:
    names = [f"{selector}._domainkey.{domain}" for selector in SELECTORS]
    answers = await asyncio.gather(*map(txt, names), return_exceptions=True)
    for selector, answer in zip(SELECTORS, answers, strict=True):
        if isinstance(answer, list) and (keys := [record for record in answer if "p=" in record]):
            if all(_is_revoked(key) for key in keys):
                return Line(Level.FAIL, "dkim", f"the key of the selector {selector} is revoked", "publish a new one")
            return Line(Level.OK, "dkim", f"{domain} has a key under the selector {selector}")
    if any(isinstance(answer, NoDns) for answer in answers):
        raise NoDns
    what = f"no DKIM key of {domain} under the usual selectors"
    return Line(
        Level.WARN, "dkim", what, "publish what your provider names; if you did, see DKIM-Signature of a letter"
    )


def _is_revoked(key: str) -> bool:
    return any(part.strip() == "p=" for part in key.split(";"))


async def _dmarc(domain: str, txt: Txt) -> Line:
    labels = domain.split(".")
    for first in range(min(len(labels) - 1, LABELS_MAX)):  # the domain, then what is above it
        name = ".".join(labels[first:])
        found = [record for record in await txt(f"_dmarc.{name}") or [] if _squeezed(record).startswith("v=dmarc1")]
        if len(found) > 1:
            return Line(Level.FAIL, "dmarc", f"_dmarc.{name} has {len(found)} records, so none counts", "keep one")
        if found:
            if ";p=" not in _squeezed(found[0]):
                return Line(Level.FAIL, "dmarc", f"_dmarc.{name} names no policy", "add p=none at least")
            return Line(Level.OK, "dmarc", found[0])
    return Line(Level.WARN, "dmarc", f"{domain} has no DMARC record", f"publish TXT _dmarc.{domain} v=DMARC1; p=none")


def _squeezed(record: str) -> str:
    return "".join(record.split()).lower()
