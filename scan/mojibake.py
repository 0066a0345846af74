"""Text that was UTF-8 and was read as Windows-1252 on its way, mended where that is certain."""

from __future__ import annotations

import re

# What the bytes 0x80 to 0xFF turn into; Windows-1252 leaves five of them to Latin-1.
_CHARS = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0x100)}
_CHARS |= {chr(byte): byte for byte in range(0x80, 0xA0)}
_RUN = re.compile(f"[{re.escape(''.join(_CHARS))}]{{2,400}}")
_MARK = re.compile("[ÂÃâÐÑØÙðÎÏ]")  # lead bytes of what is written on job boards


def mended(text: str) -> str:
    """The text with each run of such characters that is valid UTF-8 put right; all else as it stands."""
    return _RUN.sub(_put_right, text) if _MARK.search(text) else text


def _put_right(run: re.Match[str]) -> str:
    try:
        return bytes(_CHARS[char] for char in run[0]).decode()
    except UnicodeDecodeError:
        return run[0]
