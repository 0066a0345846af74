"""A mailbox with job alerts: saved searches that boards send by mail, read over IMAP, never changed.

For most people this is the way to Upwork's jobs that Upwork offers. A mail is known by its Message-ID, the jobs
inside it by their own ids, so one that the API or a feed has as well is the same job.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from urllib.parse import unquote, urlsplit

from ledger.records import Health, SourceState
from scan.aside import AsideBusy, aside
from scan.fetch import Fetcher
from scan.posting import ITEMS_MAX, Answer, Failed, Items, NotModified, Posting, Skipped
from scan.sources.alertmail import ALERT_SENDERS, parse
from scan.sources.imap import BadLogin, BadMailbox, Box, Mails, read_mails
from scan.sources.item import Unreadable
from scan.sources.kind import Kind, Option, Secrets, SourceConfig

QUARTER_S = 900
FLOOR_S = 120  # it is the owner's own server
PORTS = {"imaps": 993, "imap": 143}


class MailboxSource:
    """Source over one folder. The place where the last poll ended is kept as the source's validator."""

    def __init__(self, config: SourceConfig) -> None:
        self.name = config.name
        self.platform = f"mailbox:{config.name}"
        self.attribution = config.attribution
        self.min_interval_s = max(config.min_interval_s or QUARTER_S, FLOOR_S)
        self._box = box_of(config)
        self._is_here = self._box.host in ("127.0.0.1", "localhost", "::1")
        if self._is_here:
            self.min_interval_s = QUARTER_S if config.min_interval_s is None else config.min_interval_s
        senders = config.options.get("senders", "")
        self._senders = frozenset(part.strip().lower() for part in senders.split(",") if part.strip()) or ALERT_SENDERS

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        """The mails that came since the last poll, oldest first; at the first one those of the last days."""
        ends = asyncio.get_running_loop().time() + deadline_s
        where = f"{self._box.host}:{self._box.port}"
        if not (self._box.is_tls or self._is_here):
            return Failed(Health.REFUSED, f"imap:// would send the password in the clear; write imaps://: {where}")
        try:
            mails = await aside(
                partial(read_mails, self._box, state.etag, now=now, deadline_s=deadline_s), deadline_s=deadline_s
            )
            if mails.unchanged:
                return NotModified()
            left_s = max(0.0, ends - asyncio.get_running_loop().time())
            return await aside(partial(self._items, mails, now=now), deadline_s=left_s)
        except BadLogin:
            return Failed(Health.REFUSED, f"the mail server does not take the user and password: {where}")
        except BadMailbox as error:
            return Failed(Health.MALFORMED, f"{error}: {where}")
        except TimeoutError:
            return Failed(Health.SLOW, f"no complete answer within {deadline_s:g} s: {where}")
        except AsideBusy as error:
            return Failed(Health.SLOW, f"{error}: {where}")
        except OSError as error:  # its text may quote what was said; its class is enough
            return Failed(Health.UNREACHABLE, f"{type(error).__name__}: {where}")

    def _items(self, mails: Mails, *, now: datetime) -> Items:
        postings: dict[tuple[str, str], Posting] = {}
        skipped = [Skipped(f"mail {number}", "larger than what is read") for number in range(1, mails.too_large + 1)]
        for number, mail in enumerate(mails.bodies, start=1):
            found = parse(mail, platform=self.platform, senders=self._senders, now=now)
            if isinstance(found, Unreadable):
                skipped.append(Skipped(f"mail {number}", found.reason))
                continue
            for posting in found.postings:
                postings.setdefault((posting.platform, posting.native_id), posting)
            skipped += found.skipped
        taken = tuple(postings.values())[:ITEMS_MAX]
        return Items(taken, tuple(skipped), etag=mails.place, is_whole=False)


def box_of(config: SourceConfig) -> Box:
    """Where the mailbox is and who reads it."""
    parts = urlsplit(config.url)
    options = config.options
    return Box(
        host=parts.hostname or "",
        port=parts.port or PORTS[parts.scheme],
        is_tls=parts.scheme == "imaps",
        user=options["user"],
        password=options["password"],
        folder=options.get("folder") or unquote(parts.path.strip("/")) or "INBOX",
    )


def make(config: SourceConfig, _fetcher: Fetcher, _secrets: Secrets) -> MailboxSource:
    return MailboxSource(config)


KIND = Kind(
    "mailbox",
    make,
    ids="the jobs' own ids out of their links; of a mail without such links its Message-ID",
    min_interval_s=QUARTER_S,
    floor_s=FLOOR_S,
    terms="Your own mailbox; a folder for alerts alone, and a password for this one program, are best.",
    options={
        "user": Option("who reads the mailbox", required=True),
        "password": Option("an app password, best as env:NAME", required=True),
        "folder": Option("the folder; unset: INBOX"),
        "senders": Option("domains whose mails are read, with commas; unset: those of the boards we know"),
    },
    schemes=("imaps", "imap"),
)
