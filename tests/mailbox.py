"""Letters as they left the building, read back."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import dataclass, field

_TITLE = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_LINK = re.compile(r"^   (https?://\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Mail:
    """One letter as it left: its kind is `alert` or `digest`, its jobs are titles in the letter's order."""

    to: str
    subject: str
    kind: str
    jobs: tuple[str, ...]
    links: tuple[str, ...]
    message_id: str
    text: str
    data: bytes = field(repr=False)


def read_mail(data: bytes) -> Mail:
    """The letter in these bytes, whatever its line ends."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    body = message.get_body(("plain",))
    assert body is not None
    text = body.get_content().replace("\r\n", "\n")
    kind = re.search(r"<(\w+)\.scout\.", str(message["List-Id"]))
    return Mail(
        to=str(message["To"]),
        subject=str(message["Subject"]),
        kind=kind[1] if kind else "",
        jobs=tuple(_TITLE.findall(text)),
        links=tuple(_LINK.findall(text)),
        message_id=str(message["Message-ID"]),
        text=text,
        data=data,
    )
