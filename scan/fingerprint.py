"""The same ad again: company, title and the start of the text, normalised. Not an identity; a second opinion."""

from __future__ import annotations

import re
import unicodedata

from ledger.joiners import without

TEXT_MIN_CHARS = 200  # under that, two different ads of one firm look alike
TEXT_START_CHARS = 400
TITLE_FREE_MIN_CHARS = 400  # of a text that is known again under another title, where no company is named
BESIDE = "\nSkills: "  # begins what a connector puts after the text, for those who search it

_WORD = re.compile(r"[^\W_]+[+#]*")  # C++ is not C#


def fingerprint(*, company: str, title: str, text: str) -> str | None:
    """The normalised form that twins share, to be hashed by `ids.fingerprint_id`; None if it would not be safe."""
    words = _normalised(text)
    if not company.strip() or len(words) < TEXT_MIN_CHARS:
        return None
    return "\n".join((_normalised(company), _normalised(title), words[:TEXT_START_CHARS]))


def reposted(*, platform: str, client: str, title: str, text: str) -> str | None:
    """The same for boards that keep the client's name to themselves: the whole text, word for word.

    `client` is what the board does tell of it, its country: two clients may copy one text. A short text needs the
    title too; a long one is known without. What is listed beside the text is changed more easily, and is no part of it.
    Only of boards whose ids are their own: in a feed that names no company, equal texts may be two firms' forms.
    """
    words = _normalised(text.partition(BESIDE)[0])
    if len(words) < TEXT_MIN_CHARS or platform.startswith(("feed:", "mailbox:")):
        return None
    called = "" if len(words) >= TITLE_FREE_MIN_CHARS else _normalised(title)
    return "\n".join(("", platform, _normalised(client), called, words))


def _normalised(text: str) -> str:
    """Its words: a dash for a comma, or a second exclamation mark, makes no other ad."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", without(text)).casefold()))
