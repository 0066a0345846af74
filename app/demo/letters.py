"""The demo's letters, read back from the outbox as a mail program would; and their HTML beside, for a browser."""

from __future__ import annotations

import email.policy
from dataclasses import dataclass
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mail:
    file: Path
    to: str
    subject: str
    kind: str  # "alert" or "digest", by its List-Id
    text: str
    html: str


def read_outbox(outbox: Path) -> list[Mail]:
    """Every letter that left, alerts first, then by address."""
    files = sorted((outbox / "new").glob("*")) if outbox.is_dir() else []
    return sorted((_read(file) for file in files), key=lambda mail: (mail.kind, mail.to, mail.subject))


def _read(file: Path) -> Mail:
    message = BytesParser(_class=EmailMessage, policy=email.policy.default).parsebytes(file.read_bytes())
    parts = {name: message.get_body((name,)) for name in ("plain", "html")}
    text, html = (part.get_content() if (part := parts[name]) is not None else "" for name in ("plain", "html"))
    kind = "digest" if "<digest." in str(message["List-Id"]) else "alert"
    return Mail(file, str(message["To"]), str(message["Subject"]), kind, text, html)


def write_html(mails: list[Mail], folder: Path) -> list[Path]:
    """`01-alert-ana.silva.html`, ...: what a mail program would show."""
    folder.mkdir(exist_ok=True)
    written = []
    for number, mail in enumerate(mails, start=1):
        file = folder / f"{number:02}-{mail.kind}-{mail.to.partition('@')[0]}.html"
        file.write_text(mail.html, encoding="utf-8")
        written.append(file)
    return written
