"""The first line of a hiring post: `Company | Role | Place | Kind of work | Pay`, in any order and number. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scan.areas import is_area
from scan.contracts import contracts_among
from scan.pay import parse_pay
from scan.places import read_places
from scan.text import one_line

NAME_MAX_CHARS = 60  # of a company that stands on a line of its own

_AMOUNT = re.compile(r"[$€£]\s?[0-9]|\b[0-9]{2,3}\s?k\b|\b(?:USD|EUR|GBP)\b", re.IGNORECASE)
_MODE = re.compile(
    r"\b(?:remote(?:ly)?|on-?\s?site|hybrid|in-?\s?(?:person|office)|world-?\s?wide|anywhere)\b", re.IGNORECASE
)
_AT_WORK = re.compile(r"\W*(?:(?:on-?\s?site|hybrid|in-?\s?(?:person|office)|only|or|and)\W*)+", re.IGNORECASE)
_REMOTE = re.compile(r"\W*(?:(?:fully|100%|remote|only|ok|friendly)\W*)+", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:engineer(?:s|ing)?|developers?|programmers?|designers?|managers?|scientists?|analysts?|architects?|leads?"
    r"|head|directors?|founding|co-?founders?|cto|sre|devops|interns?|administrators?|researchers?|writers?|editors?"
    r"|consultants?|specialists?|recruiters?|experts?|advocates?|sales|marketing|full-?\s?stack|front-?\s?end"
    r"|back-?\s?end|roles?|positions?|openings)\b",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\bvisas?\b|https?://|\bwww\.|^\S+\.(?:com|io|ai|dev|org|net|co|app)(?:/\S*)?$", re.IGNORECASE)
_ROLES_FOLLOW = re.compile(
    r"\W{0,3}(?:(?:open|current|available)\s+)?(?:roles?|positions?|openings|jobs|hiring)\s?[:\u2013-][\s•*]{0,5}(?P<roles>\S.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class HiringLine:
    """Empty: the line does not say."""

    company: str
    roles: str
    place: str
    contract: str
    pay: str


def read_line(line: str, following: str = "") -> HiringLine:
    """Each part under what it says; the roles are the rest. `following` is the next line of the post."""
    parts = [part for raw in line.split("|") if (part := one_line(raw))]
    if len(parts) < 2:
        return _alone(parts[0] if parts else "", following)
    contracts: list[str] = []
    pays: list[str] = []
    places: list[str] = []
    rest: list[str] = []
    company = ""
    for position, part in enumerate(parts):
        if contracts_among((part,)):
            contracts.append(part)
        elif _is_pay(part):
            pays.append(part)
        elif position and _NOTE.search(part):
            continue
        elif _is_place(part, is_first=not position):
            places.append(part)
        elif not company and (not position or not (rest or _ROLE.search(part))):
            company = part
        else:
            rest.append(part)
    if not places:
        places = [part for part in rest if _MODE.search(part)][:1]
    return HiringLine(company, " | ".join(rest), _joined(places), ", ".join(contracts), next(iter(pays), ""))


def _alone(line: str, following: str) -> HiringLine:
    """A company on a line of its own, where a list of roles follows it; else the line is what the post is called."""
    found = _ROLES_FOLLOW.match(following)
    if found is None or not line or len(line) > NAME_MAX_CHARS or _ROLE.search(line):
        return HiringLine("", line, line if _MODE.search(line) else "", "", line if _is_pay(line) else "")
    return HiringLine(line, one_line(found["roles"], max_chars=NAME_MAX_CHARS * 2), "", "", "")


def _is_pay(part: str) -> bool:
    return bool(_AMOUNT.search(part)) and parse_pay(part) is not None


def _is_place(part: str, *, is_first: bool) -> bool:
    """A firm may be called like a town, so the first part is a place only if it says how one works."""
    if _ROLE.search(part):
        return False
    if is_first:
        return bool(_AT_WORK.fullmatch(part) or _REMOTE.fullmatch(part))
    return bool(_MODE.search(part) or read_places(part))


def _joined(places: list[str]) -> str:
    """As `read_places` understands them: a town and `Remote` are two offers, a country and `Remote` are one."""
    line = ""
    for place in places:
        is_one = not line or _AT_WORK.fullmatch(place) or (_REMOTE.fullmatch(place) and is_area(line))
        is_one = is_one or (_REMOTE.fullmatch(line) is not None and is_area(place))
        line = f"{line}{', ' if is_one else ' | '}{place}" if line else place
    return line
