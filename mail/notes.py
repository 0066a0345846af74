"""Letters that somebody's own click asked for: sign-in, a change of address, goodbye. Nobody subscribes to them.

They hold nothing that a stranger could have typed but the address that they go to, or are to go to in future.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mail.clean import line
from mail.letter import Letter, Site
from mail.templating import template

ADDRESS_MAX_BYTES = 400
MATTER_MAX_BYTES = 600
LINK_VALID = "15 minutes"


@dataclass(frozen=True, slots=True)
class _Note:
    kind: str
    subject: str
    heading: str
    lines: Sequence[str]
    button: str = ""
    url: str = ""
    small: Sequence[str] = ()


def sign_in(to: str, *, url: str, outside_id: str, at: datetime, site: Site) -> Letter:
    """`url` opens the page that signs in; it works once."""
    return _written(
        _Note(
            kind="sign-in",
            subject="Your link to sign in to Scout",
            heading="Sign in to Scout",
            lines=(f"This link opens your page. It works once, for {LINK_VALID}.",),
            button="Sign in",
            url=url,
            small=("Was it not you who asked for it? Then do nothing: without a click nothing happens.",),
        ),
        to, outside_id=outside_id, at=at, site=site,
    )  # fmt: skip


def confirm_new_address(to: str, *, url: str, outside_id: str, at: datetime, site: Site) -> Letter:
    """To the address that somebody wants their letters to go to."""
    return _written(
        _Note(
            kind="confirm-address",
            subject="Confirm your new address for Scout",
            heading="Is this your new address?",
            lines=(
                "Somebody asked Scout to send their job mails to this address from now on.",
                f"If that is you, confirm it within {LINK_VALID}. The old address is asked as well.",
            ),
            button="Confirm this address",
            url=url,
            small=("If it is not you, do nothing: nothing is sent here.",),
        ),
        to, outside_id=outside_id, at=at, site=site,
    )  # fmt: skip


def leave_old_address(to: str, *, new: str, url: str, outside_id: str, at: datetime, site: Site) -> Letter:
    """To the address that letters go to until now."""
    return _written(
        _Note(
            kind="confirm-address",
            subject="Confirm that your Scout mails move",
            heading="Shall your mails move?",
            lines=(
                f"You asked Scout to write to {line(new, ADDRESS_MAX_BYTES)} instead of this address.",
                f"Confirm it within {LINK_VALID}. The new address is asked as well.",
            ),
            button="Confirm the move",
            url=url,
            small=("Was it not you? Then do nothing, and sign out everywhere on your page.",),
        ),
        to, outside_id=outside_id, at=at, site=site,
    )  # fmt: skip


def goodbye(to: str, *, outside_id: str, at: datetime, site: Site) -> Letter:
    """After everything was deleted."""
    return _written(
        _Note(
            kind="goodbye",
            subject="Your Scout page is deleted",
            heading="Goodbye",
            lines=(
                "Your searches, your history and your notes are deleted. No further mail comes.",
                "One list is kept for 48 hours under your address: the numbers of the jobs that were chosen for you in "
                "the last two days, without their titles. It keeps them from coming again if you sign up again. Then "
                "it is deleted, too.",
            ),
            small=(f"You can come back at any time: {site.base_url.rstrip('/')}/",),
        ),
        to, outside_id=outside_id, at=at, site=site,
    )  # fmt: skip


def to_operator(to: str, *, lines: Sequence[str], outside_id: str, at: datetime, site: Site) -> Letter:
    """What only the operator can mend, gathered; one a day at most."""
    status = f"{site.base_url.rstrip('/')}/status"
    return _written(
        _Note(
            kind="operator",
            subject=f"Scout needs you: {len(lines)} {'matter' if len(lines) == 1 else 'matters'}",
            heading="Scout needs you",
            lines=[line(text, MATTER_MAX_BYTES) for text in lines],
            button="See the status",
            url=status,
            small=("You get this because SCOUT_OPERATOR is set to your address; one letter a day at most.",),
        ),
        to, outside_id=outside_id, at=at, site=site,
    )  # fmt: skip


def _written(note: _Note, to: str, *, outside_id: str, at: datetime, site: Site) -> Letter:
    facts = {"note": note}
    return Letter(
        kind=note.kind,
        to=to,
        subject=note.subject,
        text=template("note.txt").render(facts),
        html=template("note.html").render(facts),
        outside_id=outside_id,
        date=at,
        mail_from=site.mail_from,
    )
