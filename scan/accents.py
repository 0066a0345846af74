"""Latin letters with accents as they are written without: résumé as resume, Künstler as Kunstler and as Kuenstler.

The dotless i and letters of other scripts stay as they are.
"""

from __future__ import annotations

import re
import unicodedata

_LATIN = re.compile("[\u00df-\u024f\u1e00-\u1eff]")
_SPELLED = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}


def _plain_letters() -> dict[int, str]:
    bases = {c: unicodedata.normalize("NFD", chr(c))[0] for c in (*range(0xDF, 0x250), *range(0x1E00, 0x1F00))}
    no_parts = {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"}
    return {c: base for c, base in bases.items() if base.isascii()} | {ord(c): base for c, base in no_parts.items()}


_PLAIN = _plain_letters()


def without_accents(folded: str) -> tuple[str, ...]:
    """The other ways to write a folded text, those that differ: none for most."""
    if folded.isascii() or not _LATIN.search(folded):
        return ()
    ways = (folded.translate(_PLAIN), folded.translate(_PLAIN | _SPELLED))
    return tuple(dict.fromkeys(way for way in ways if way != folded))
