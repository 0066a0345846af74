"""How a letter looks: a pure function of a user, the rows and the time, so that a repeat has equal bytes.

Fields are cut so that twenty rows always fit (LETTER_MAX_BYTES). If a letter is too long with generous limits
it is written again with tight ones; only a digest of more rows than that lists fewer and counts the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from ledger.lifecycle import ALERT_CAP_JOBS, ends_left_out
from ledger.records import Delivery, User
from mail.clean import line
from mail.dates import moment, period_name
from mail.envelope import fits
from mail.letter import SUBJECT_MAX_CHARS, Letter, Site
from mail.shown import GENEROUS, TIGHT, Limits, preheader, shown
from mail.templating import template

NOTES_MAX = 5
NOTE_MAX_BYTES = 300
TITLE_IN_SUBJECT_MAX_BYTES = 240


class Later(NamedTuple):
    """Jobs that fit, too, and for which an alert had no room: they wait for the digest of that hour."""

    jobs: int
    at: datetime


def render_alert(
    user: User, rows: Sequence[Delivery], *, outside_id: str, at: datetime, site: Site, later: Later | None = None
) -> Letter:
    """The letter for new jobs, holding exactly the rows given: 1 to ALERT_CAP_JOBS, best first.

    Raises ValueError for another number of rows.
    """
    if not 0 < len(rows) <= ALERT_CAP_JOBS:
        raise ValueError(f"an alert holds 1 to {ALERT_CAP_JOBS} jobs, not {len(rows)}")
    draft = _Draft(user, "alert", outside_id, at, site, rows, later=later)
    for limits in (GENEROUS, TIGHT):
        letter = draft.written(len(rows), limits)
        if fits(letter.text, letter.html):
            return letter
    raise ValueError("the letter is too long even with short fields")


def render_digest(
    user: User,
    rows: Sequence[Delivery],
    *,
    more: int,
    ending: int = 0,
    period: str,
    outside_id: str,
    at: datetime,
    site: Site,
    notes: Sequence[str] = (),
) -> Letter:
    """The letter of one period; lists as many rows as fit (`Letter.listed`) and counts the rest with `more`.

    Rows are listed in the order given, at least one of them. `ending` of `more` expire now, having been left over
    before. Raises ValueError if there are no rows.
    """
    if not rows:
        raise ValueError("a digest without jobs is not sent")
    shown_notes = tuple(line(note, NOTE_MAX_BYTES) for note in notes[:NOTES_MAX])
    when = period_name(period)
    draft = _Draft(user, "digest", outside_id, at, site, rows, more, ending, when=when, notes=shown_notes)
    letter = draft.written(len(rows), GENEROUS)
    count = len(rows)
    while not fits(letter.text, letter.html):
        letter = draft.written(count, TIGHT)
        # Tight rows are at most a few KB each, so a tenth less each time ends after a handful of rounds.
        count -= max(1, count // 10)
        if count < 1:
            break
    return letter


@dataclass(frozen=True, slots=True)
class _Draft:
    """A letter before it is known how long its fields may be."""

    user: User
    kind: str
    outside_id: str
    at: datetime
    site: Site
    rows: Sequence[Delivery]
    more: int = 0  # further ones that wait, of which `ending` wait no longer
    ending: int = 0
    later: Later | None = None
    when: str = ""
    notes: tuple[str, ...] = ()

    def written(self, count: int, limits: Limits) -> Letter:
        """With the first `count` rows."""
        base = self.site.base_url.rstrip("/")
        rows, total = self.rows, len(self.rows) + self.more
        unsubscribe_url = f"{base}/unsubscribe/{quote(self.user.token, safe='')}"
        best = line(rows[0].title, TITLE_IN_SUBJECT_MAX_BYTES) or "a job without a title"
        jobs = [shown(row, self.at, self.site, limits) for row in rows[:count]]
        facts = {
            "kind": self.kind,
            "heading": _count(total),
            "when": self.when,
            "preheader": preheader(rows[0], jobs, limits),
            "jobs": jobs,
            "left_out": self._left_out(rows[count:]),
            "history_url": f"{base}/me/history",
            "notes": self.notes,
            "me_url": f"{base}/me/letters",
            "unsubscribe_url": unsubscribe_url,
        }
        return Letter(
            kind=self.kind,
            to=self.user.address,
            subject=_subject(total, best, self.when),
            text=template("letter.txt").render(facts),
            html=template("letter.html").render(facts),
            outside_id=self.outside_id,
            date=self.at,
            mail_from=self.site.mail_from,
            unsubscribe_url=unsubscribe_url,
            listed=count,
        )

    def _left_out(self, cut: Sequence[Delivery]) -> str:
        """How many jobs fit besides those listed, and what comes of them; `digests.close` and `choose` make it so."""
        if self.later is not None:
            waits = "waits" if self.later.jobs == 1 else "wait"
            at = moment(self.later.at, self.user.zone)
            return f"and {self.later.jobs} more, which {waits} for your daily mail of {at}"
        more = self.more + len(cut)
        ending = self.ending + sum(ends_left_out(row.left_over) for row in cut)
        waits = "waits" if more - ending == 1 else "wait"
        if not more:
            return ""
        if not ending:
            return f"and {more} more, which {waits} for the next mail"
        if ending == more:
            return f"and {more} more, which had no room twice and will not come again"
        return f"and {more} more: {more - ending} {waits} for the next mail, {ending} will not come again"


def _subject(total: int, best: str, when: str) -> str:
    """Count, date and best title; the title gives way when the line is too long."""
    head = f"{_count(total)}, {when}: " if when else f"{_count(total)}: "
    tail = f" +{total - 1}" if total > 1 else ""
    room = SUBJECT_MAX_CHARS - len(head) - len(tail)
    if len(best) > room:
        best = line(best[: room - 1], TITLE_IN_SUBJECT_MAX_BYTES).rstrip(" …") + "…"  # no joiner is left at its end
    return head + best + tail


def _count(total: int) -> str:
    return "1 job fits" if total == 1 else f"{total} jobs fit"
