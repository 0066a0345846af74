"""Letters by SendGrid's v3 API. Its package builds the request; our client sends it, once.

The package's own sender has no time-out, follows a redirect with the key, and hides whether a request went out.
SendGrid knows no idempotency key (its specification, 2026-01), so an unclear attempt is never repeated here.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ledger.lifecycle import Attempt, Outcome
from mail.envelope import recipient, sender, sender_name
from mail.letter import Letter
from mail.transports.api import Api, Told, common, further_headers, text_of
from mail.transports.http import Answer, retry_after_s
from mail.transports.port import Check

_ABOUT_THE_LETTER = frozenset({400, 404, 405, 406, 413, 415})
_ABOUT_THE_ACCOUNT = frozenset({401, 403, 451})


def request_of(letter: Letter) -> dict[str, Any]:
    """The JSON of one letter to one recipient; a pure function of it. Raises Unsendable."""
    mail = _package()
    to = mail.Personalization()
    to.add_to(mail.To(recipient(letter)))
    # In the personalization: at the top the specification has a string, which the service refuses.
    to.add_custom_arg(mail.CustomArg("delivery_id", letter.outside_id))
    message = mail.Mail(
        from_email=mail.From(sender(letter), sender_name(letter.mail_from) or None),
        subject=letter.subject,
        plain_text_content=letter.text,
        html_content=letter.html,
    )
    message.add_personalization(to)
    for name, value in further_headers(letter).items():
        message.add_header(mail.Header(name, value))
    # The account's defaults may rewrite links (a sign-in link breaks) or add a List-Unsubscribe of its own.
    message.tracking_settings = mail.TrackingSettings(
        click_tracking=mail.ClickTracking(enable=False, enable_text=False),
        open_tracking=mail.OpenTracking(enable=False),
        subscription_tracking=mail.SubscriptionTracking(enable=False),
        ganalytics=mail.Ganalytics(enable=False),
    )
    request: dict[str, Any] = message.get()
    return request


def outcome_of(answer: Answer, told: Told) -> Attempt:
    """Only 202 is a letter taken; a status that is not listed leaves us not knowing."""
    status = answer.status
    if status == 202:
        return Attempt(Outcome.ACCEPTED, receipt=answer.headers.get("x-message-id"), retry_after_s=_spent(answer))
    if status == 200:
        return Attempt(Outcome.PAUSED, told("the letter was only checked (sandbox mode)"))
    error = _first_error(answer)
    said = text_of(error or {}, "message") or "no reason given"
    if status == 429 and "credit" in said.lower():  # the plan is used up, and waiting a moment does not help
        return Attempt(Outcome.PAUSED, told(said))
    if (attempt := common(answer, told, is_theirs=error is not None)) is not None:
        return attempt
    about_us = status == 400 and text_of(error or {}, "field").startswith("from")
    if status in _ABOUT_THE_ACCOUNT or about_us:
        return Attempt(Outcome.PAUSED, told(said))
    return Attempt(Outcome.REJECTED if status in _ABOUT_THE_LETTER else Outcome.UNCLEAR, told(said))


def probed(answer: Answer) -> Check:
    """The scopes of the key, which every key may ask for."""
    if answer.status == 200:
        scopes = (answer.json() or {}).get("scopes")
        if isinstance(scopes, list) and "mail.send" not in scopes:
            return Check(False, "the key may not send mail", "make a key with the right Mail Send")
        return Check(True, "the key may send mail")
    if answer.status in _ABOUT_THE_ACCOUNT:
        return Check(False, f"the key is refused ({answer.status})", "copy SENDGRID_API_KEY again, or make a new key")
    return Check(None, f"it answered {answer.status}, which says nothing about the key")


SENDGRID = Api(
    "sendgrid",
    "https://api.sendgrid.com",
    "/v3/mail/send",
    request_of,
    outcome_of,
    probe_path="/v3/scopes",
    probed=probed,
)


def _first_error(answer: Answer) -> dict[str, Any] | None:
    """The first of SendGrid's `{"errors": [{"message", "field"}]}`; None if the body is not that."""
    errors = (answer.json() or {}).get("errors")
    if not isinstance(errors, list) or not errors or not isinstance(errors[0], dict):
        return None
    return errors[0]


def _spent(answer: Answer) -> float | None:
    """How long to wait where this letter was the last that the rate limit allows."""
    return retry_after_s(answer.headers) if answer.headers.get("x-ratelimit-remaining") == "0" else None


def _package() -> ModuleType:
    from sendgrid.helpers import mail  # 0.14 s to import: only where it is used

    return mail  # type: ignore[no-any-return]
