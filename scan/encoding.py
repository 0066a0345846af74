"""Bytes of a feed, mended before a parser sees them. Never decoded here for good: the parser gets bytes."""

from __future__ import annotations

import codecs
import re

BOMS_NOT_ASCII = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE)
PROLOG_MAX_BYTES = 300

_PROLOG = re.compile(rb"\s{0,20}<\?xml[^>]{0,200}?encoding\s*=\s*['\"]([A-Za-z0-9._:-]{1,40})['\"]")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_CONTROLS = bytes(set(range(0x20)) - {0x09, 0x0A, 0x0D})  # what XML 1.0 forbids and text never needs


def mended(body: bytes, content_type: str) -> bytes:
    """The body without control characters, and with stray bytes in UTF-8 made replacement characters.

    Both only where that is safe: the first in encodings whose low bytes mean what they mean in ASCII, the
    second where most of what is not ASCII proves to be UTF-8, as declared. Everything else stays as it is.
    """
    names = declared(body, content_type)
    if body.startswith(BOMS_NOT_ASCII) or b"\x00" in body[:4] or not all(map(_keeps_controls, names)):
        return body
    body = body.translate(None, _CONTROLS)
    if all(name in ("utf-8", "utf-8-sig", "ascii") for name in names):
        return _replaced(body)
    return body


def declared(body: bytes, content_type: str) -> tuple[str, ...]:
    """Python's names of the encodings that the header and the XML prolog claim; unknown ones left out."""
    found = []
    if header := _CHARSET.search(content_type):
        found.append(header[1])
    if prolog := _PROLOG.match(body[:PROLOG_MAX_BYTES].removeprefix(codecs.BOM_UTF8)):
        found.append(prolog[1].decode("ascii"))
    return tuple(name for text in found if (name := _codec(text)))


def _codec(text: str) -> str | None:
    try:
        return codecs.lookup(text).name
    except LookupError:
        return None


def _keeps_controls(name: str) -> bool:
    controls = bytes(range(0x20))
    try:  # ISO-2022 spells other letters with ESC, SO and SI: there a control is not always a control
        shifts = any(byte < 0x20 for byte in "\u65e5\u3042".encode(name, "ignore"))
        return not shifts and controls.decode(name) == controls.decode("ascii")
    except (UnicodeError, LookupError):
        return False


def _replaced(body: bytes) -> bytes:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        bad = text.count("\N{REPLACEMENT CHARACTER}")
        good = sum(1 for char in text if char > "\x7f") - bad
        return text.encode() if good > bad else body
    return body
