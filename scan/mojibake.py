"""Text that was UTF-8 and was read as Windows-1252 on its way, mended where that is certain.

Good text has the same characters, and sometimes in the same order: in `„Spaß“` the end is a letter of another script,
by its bytes. So a pair is mended only where no language would write it: a capital after a small letter, or a sign that
does not follow a word.
"""

from __future__ import annotations

import re

ROUNDS_MAX = 2  # some text went that way twice

# What the bytes 0x80 to 0xFF turn into; Windows-1252 leaves five of them to Latin-1.
_BYTES = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0x100)}
_BYTES |= {chr(byte): byte for byte in range(0x80, 0xA0)}
_REST = "[" + re.escape("".join(char for char, byte in _BYTES.items() if byte < 0xC0)) + "]"
# Quotes, dashes, an ellipsis, signs of trade, a hard space: they follow words.
_AFTER_WORDS = frozenset("\u2018\u2019\u201c\u201d\u2013\u2014\u2039\u203a«»…•™\u00a0")
_AFTER_ACCENTS = _AFTER_WORDS - {"\u2039"}  # two of them running, after a word that ends in an accent
_AFTER_CAPITALS = frozenset("®©°ªº²³¹·€")  # as these follow a unit or a name
_LETTERS = frozenset("ŠŒŽšœžŸƒ")
_LATIN = range(0xA0, 0x180)
# Indic and Thai, Vietnamese, punctuation and signs, East Asian, symbols of fonts: no runes, no Ethiopic.
_PLAUSIBLE = re.compile("[\u0900-\u0eff\u1e00-\u1eff\u2000-\u2bff\u2e80-\ud7ff\uf000-\uf0ff\ufe00-\uffff]+")
_BROKEN = re.compile(
    rf"(?P<script>(?:[ÐÑ]{_REST}){{3,400}}|(?:[ÎÏ]{_REST}){{3,400}}|(?:[Ø-Û]{_REST}){{3,400}}|(?:\u00d7{_REST}){{3,400}})"
    rf"|(?P<emoji>ðŸ{_REST}{{2}})"
    rf"|(?P<dense>(?:[à-ï]{_REST}{{2}}){{2,400}})"
    rf"|(?P<sign>[âïá]{_REST}{{2}})"
    rf"|(?P<latin>[Â-Å]{_REST})"
)


def mended(text: str) -> str:
    """The text with each piece that is certainly such UTF-8 put right; all else as it stands."""
    for _ in range(ROUNDS_MAX):
        if text.isascii() or not _BROKEN.search(text):
            break
        text = _BROKEN.sub(_put_right, text)
    return text


def _put_right(found: re.Match[str]) -> str:
    piece = found[0]
    try:
        whole = bytes(_BYTES[char] for char in piece).decode()
    except UnicodeDecodeError:
        return _each_sign(piece) if found["dense"] else piece
    match found.lastgroup:
        case "latin":
            is_certain = ord(whole) in _LATIN and _is_odd(found.string[found.start() - 1 : found.start()], piece)
        case "dense" | "sign":
            ends = (piece[at + 1 : at + 3] for at in range(0, len(piece), 3))
            is_certain = _PLAUSIBLE.fullmatch(whole) is not None and not any(map(_AFTER_ACCENTS.issuperset, ends))
        case _:
            is_certain = True
    return whole if is_certain else piece


def _each_sign(piece: str) -> str:
    """Three by three, for a row that holds more than such pieces."""
    return "".join(_BROKEN.sub(_put_right, piece[at : at + 3]) for at in range(0, len(piece), 3))


def _is_odd(before: str, pair: str) -> bool:
    """Whether nobody writes these two so, after that."""
    lead, sign = pair[0], pair[1]
    if before.islower():
        return True
    if sign in _AFTER_WORDS:
        return pair == "Â\u00a0" and before in tuple(".,;:!?)0123456789")
    if lead in "ÂÃ":
        return sign not in _AFTER_CAPITALS or not before.isupper()
    return sign not in _AFTER_CAPITALS | _LETTERS
