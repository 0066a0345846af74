"""The same ad again: company, title and the start of the text, normalised. Not an identity; a second opinion."""

from __future__ import annotations

import unicodedata

from ledger.joiners import without

TEXT_MIN_CHARS = 200  # under that, two different ads of one firm look alike
TEXT_START_CHARS = 400
BESIDE = "\nSkills: "  # begins what a connector puts after the text, for those who search it


def fingerprint(*, company: str, title: str, text: str) -> str | None:
    """The normalised form that twins share, to be hashed by `ids.fingerprint_id`; None if it would not be safe."""
    words = _normalised(text)
    if not company.strip() or len(words) < TEXT_MIN_CHARS:
        return None
    return "\n".join((_normalised(company), _normalised(title), words[:TEXT_START_CHARS]))


def reposted(*, platform: str, title: str, text: str) -> str | None:
    """The same for boards that keep the client's name to themselves: title and whole text, word for word.

    What is listed beside the text is changed more easily than the text, and is no part of it.
    Only of boards whose ids are their own: in a feed that names no company, equal texts may be two firms' forms.
    """
    words = _normalised(text.partition(BESIDE)[0])
    if len(words) < TEXT_MIN_CHARS or platform.startswith(("feed:", "mailbox:")):
        return None
    return "\n".join(("", platform, _normalised(title), words))


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", without(text)).casefold().split())
