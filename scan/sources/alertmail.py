"""One job-alert mail to the jobs in it. Pure; a mail is outside data as much as a page is.

Links that name a job of a board we know are the jobs; the words between one such link and the next are what is
said about it. A mail without any is one posting itself, known by its Message-ID.
"""

from __future__ import annotations

import email
import email.policy
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import parseaddr

from scan.links import absolute, canonical
from scan.posting import Posting, Skipped
from scan.sources.entries import Reading
from scan.sources.fields import posting
from scan.sources.item import Unreadable
from scan.sources.registry import job_named_by
from scan.text import one_line, plain

JOBS_MAX = 200  # in one mail
PART_MAX_CHARS = 512 * 1024
SAID_MAX_CHARS = 20_000  # about one job
TITLE_MIN_CHARS = 4

# Boards that send alerts and are not read in another way: platform, and the id in a canonical link.
OTHERS = (
    (
        "linkedin",
        re.compile(r"//(?:[a-z]{2}\.)?linkedin\.com/(?:comm/)?jobs/view/(?:[^/?#]*-)?([0-9]{6,15})(?:[/?#]|$)"),
    ),
    ("indeed", re.compile(r"//(?:[a-z]{2,3}\.)?indeed\.com/[^?#]*\?(?:[^#]*&)?jk=([0-9a-f]{16})(?:&|$)")),
    (
        "glassdoor",
        re.compile(r"//glassdoor\.[a-z.]{2,6}/[^?#]*\?(?:[^#]*&)?jobListingId=([0-9]{6,15})(?:&|$)", re.IGNORECASE),
    ),
    ("stepstone", re.compile(r"//stepstone\.[a-z.]{2,6}/[^?#]*--([0-9]{6,12})(?:-inline)?\.html")),
)
ALERT_SENDERS = frozenset({
    "upwork.com", "linkedin.com", "indeed.com", "glassdoor.com", "stepstone.de", "freelancer.com", "remotive.com",
    "remoteok.com", "himalayas.app", "jobicy.com", "weworkremotely.com", "workingnomads.com", "arbeitnow.com",
    "adzuna.com", "adzuna.co.uk",
})  # fmt: skip
BUTTONS = re.compile(
    r"(?:view|see|apply|open|read|show|more|learn|get|go|save|click|quick)\b.{0,30}|job|details|here|link",
    re.IGNORECASE,
)
_ANCHOR = re.compile(r"<a\s[^<>]{1,5000}>", re.IGNORECASE)  # no < inside: a run of half tags stays cheap
_HREF = re.compile(r"\shref\s{0,5}=\s{0,5}(?:\"([^\"]{1,3000})\"|'([^']{1,3000})')", re.IGNORECASE)
_END = re.compile(r"</a\s*>", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s<>\"')\]]{5,2000}")


@dataclass(frozen=True, slots=True)
class _Mention:
    """A link to a job: where it stands in the mail, and the words on it."""

    platform: str
    native_id: str
    link: str
    words: str
    begins: int
    ends: int


def parse(mail: bytes, *, platform: str, senders: frozenset[str], now: datetime) -> Reading | Unreadable:
    """The jobs of a mail from one of the senders' domains ("*": from anybody); or why there are none."""
    try:
        message = email.message_from_bytes(mail, policy=email.policy.default)
        if not _is_from(message, senders):
            return Unreadable("from a sender that is not listed")
        subject, sent = _header(message, "Subject"), _header(message, "Date")
        message_id = _header(message, "Message-ID").strip("<>")
        markup, is_html = _body(message)
    except Exception as error:  # the edge to a parser that raises many things for hostile headers
        return Unreadable(f"the mail cannot be read ({type(error).__name__})")
    mentions = list(_mentions(markup) if is_html else _mentions_in_text(markup))
    if mentions:
        return _jobs(mentions, markup, is_html=is_html, sent=sent, now=now)
    whole = posting(platform, message_id, name=subject, link="", markup=markup, now=now, dates=(sent,), is_html=is_html)
    return Reading((), (Skipped("a mail", whole),)) if isinstance(whole, str) else Reading((whole,), ())


def _is_from(message: EmailMessage, senders: frozenset[str]) -> bool:
    domain = parseaddr(_header(message, "From"))[1].rpartition("@")[2].lower()
    return "*" in senders or any(domain == sender or domain.endswith("." + sender) for sender in senders)


def _header(message: EmailMessage, name: str) -> str:
    return one_line(str(message.get(name, "")), max_chars=500)


def _body(message: EmailMessage) -> tuple[str, bool]:
    part = message.get_body(("html", "plain"))
    if part is None:
        return "", False
    data = part.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else b""
    try:
        text = raw.decode(part.get_content_charset("utf-8"), "replace")
    except (LookupError, ValueError):
        text = raw.decode("utf-8", "replace")
    return text[:PART_MAX_CHARS], part.get_content_type() == "text/html"


def _mentions(markup: str) -> Iterator[_Mention]:
    found = 0
    for anchor in _ANCHOR.finditer(markup):
        href = _HREF.search(anchor[0])
        link = absolute(html.unescape(href[1] or href[2])) if href else ""
        named = _job_of(link)
        if named is None:
            continue
        end = _END.search(markup, anchor.end(), anchor.end() + 5000)
        words = one_line(plain(markup[anchor.end() : end.start()])) if end else ""
        yield _Mention(*named, link, words, anchor.start(), end.end() if end else anchor.end())
        found += 1
        if found >= JOBS_MAX * 5:
            return


def _mentions_in_text(text: str) -> Iterator[_Mention]:
    for number, url in enumerate(_URL.finditer(text)):
        if number >= JOBS_MAX * 5:
            return
        link = absolute(url[0].rstrip(".,;"))
        if named := _job_of(link):
            before = [line for line in text[max(0, url.start() - 1000) : url.start()].splitlines() if line.strip()]
            words = one_line(before[-1]) if before else ""
            yield _Mention(*named, link, words, url.start(), url.end())


def _job_of(link: str) -> tuple[str, str] | None:
    name = canonical(link) if link else ""
    if not name:
        return None
    for platform, pattern in OTHERS:
        if found := pattern.search(name):
            return platform, found[1]
    return job_named_by(name)


def _jobs(mentions: list[_Mention], markup: str, *, is_html: bool, sent: str, now: datetime) -> Reading:
    """Mentions of one job are one; its title are the longest words on them that are not those of a button."""
    jobs: dict[tuple[str, str], list[_Mention]] = {}
    for mention in mentions:
        jobs.setdefault((mention.platform, mention.native_id), []).append(mention)
    postings: list[Posting] = []
    skipped: list[Skipped] = []
    listed = list(jobs.items())
    for number, ((platform, native_id), same) in enumerate(listed[:JOBS_MAX]):
        following = listed[number + 1][1][0].begins if number + 1 < len(listed) else len(markup)
        last = max(mention.ends for mention in same if mention.begins <= following)
        begins = same[0].begins
        said = markup[begins : min(max(following, last), begins + SAID_MAX_CHARS)]
        words = [mention.words for mention in same if _is_title(mention.words)]
        name = max(words, key=len) if words else one_line(plain(said) if is_html else said, max_chars=100)
        found = posting(
            platform, native_id, name=name, link=same[0].link, markup=said, now=now, dates=(sent,), is_html=is_html
        )
        if isinstance(found, Posting):
            postings.append(found)
        else:
            skipped.append(Skipped(f"job {number + 1} of a mail", found))
    if len(listed) > JOBS_MAX:
        skipped.append(Skipped("a mail", f"more than {JOBS_MAX} jobs in one mail"))
    return Reading(tuple(postings), tuple(skipped))


def _is_title(words: str) -> bool:
    return len(words) >= TITLE_MIN_CHARS and BUTTONS.fullmatch(words) is None
