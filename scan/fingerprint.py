"""The same ad again: company, title and the start of the text, normalised. Not an identity; a second opinion."""

from __future__ import annotations

import unicodedata

TEXT_MIN_CHARS = 200  # under that, two different ads of one firm look alike
TEXT_START_CHARS = 400


def fingerprint(*, company: str, title: str, text: str) -> str | None:
    """The normalised form that twins share, to be hashed by `ids.fingerprint_id`; None if it would not be safe."""
    words = _normalised(text)
    if not company.strip() or len(words) < TEXT_MIN_CHARS:
        return None
    return "\n".join((_normalised(company), _normalised(title), words[:TEXT_START_CHARS]))


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
