"""Text as people read it, out of whatever a board sends: HTML to text, titles, white space."""

from __future__ import annotations

import html
import re
import unicodedata

from selectolax.lexbor import LexborHTMLParser

from ledger.joiners import JOINERS, only_shaping
from scan.mojibake import mended

HTML_MAX_BYTES = 64 * 1024  # cut before parsing: deep nesting costs more than its square, the largest real ad is 15 kB
TEXT_MAX_CHARS = 20_000
TITLE_MAX_CHARS = 300
UNESCAPE_MAX_ROUNDS = 2

_UNSEEN = ["script", "style", "template", "noscript", "head", "iframe", "object", "svg", "math", "textarea", "select"]
_BLOCK = re.compile(
    r"<(?=/?(?:p|div|br|hr|li|ul|ol|dl|dt|dd|h[1-6]|tr|td|th|table|section|article|header|footer|blockquote|pre)"
    r"(?:[\s/>]|\Z))",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_ESCAPED_TAG = re.compile(r"&(?:amp;)?lt;/?[a-zA-Z][a-zA-Z0-9]{0,15}(?:[\s/]|&(?:amp;)?gt;)")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_SPACES = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\s*\n\s*")


def plain(markup: str) -> str:
    """The text of a piece of HTML (or of plain text): one line per block, no markup, white space squeezed.

    At most HTML_MAX_BYTES are looked at and TEXT_MAX_CHARS returned. What scripts and styles hold is no
    text. Markup that was escaped once too often is undone, at most UNESCAPE_MAX_ROUNDS times.
    """
    return squeezed(_unmarked(markup))


def _unmarked(markup: str) -> str:
    markup = _cut_bytes(markup, HTML_MAX_BYTES)
    for _ in range(UNESCAPE_MAX_ROUNDS):
        if _TAG.search(markup) or not _ESCAPED_TAG.search(markup):
            break
        markup = html.unescape(markup)
    if "<" in markup:
        tree = LexborHTMLParser(_BLOCK.sub("\n<", " ".join(markup.split())))
        tree.strip_tags(_UNSEEN)
        text = tree.body.text(deep=True, separator="") if tree.body is not None else ""
    else:
        text = html.unescape(markup)
    if _ENTITY.search(text):
        text = html.unescape(text)
    return text


def squeezed(text: str) -> str:
    """Plain text with one space between words, one break between lines, nothing invisible; capped."""
    text = _SPACES.sub(" ", _visible(text))
    return _BREAKS.sub("\n", text).strip()[:TEXT_MAX_CHARS].rstrip()


def one_line(text: str, *, max_chars: int = TITLE_MAX_CHARS) -> str:
    """Text on one line, safe beside others: no control, bidi or zero-width character; cut with an ellipsis."""
    return _cut_line(_visible(text[: max_chars * 20]), max_chars)


def _cut_line(text: str, max_chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def title(raw: str, *, max_chars: int = TITLE_MAX_CHARS) -> str:
    """A title as plain text. Undone once more if what is left still looks like an entity, and only then.

    On one line, like `one_line`, and with the joiners that shape its letters or emoji.
    """
    return _joined_line(html.unescape(raw) if _ENTITY.search(raw) else raw, max_chars)


def title_of_html(raw: str) -> str:
    """A title that its feed declares to be HTML (Atom `type="html"`, `type="xhtml"`)."""
    return _joined_line(_unmarked(raw), TITLE_MAX_CHARS)


def _joined_line(text: str, max_chars: int) -> str:
    return _cut_line(only_shaping(text[: max_chars * 20].translate(_VISIBLE_AND_JOINERS)), max_chars)


def _visible(text: str) -> str:
    """What was read in a wrong encoding mended, while its controls are there; then control and format characters gone
    (bidi, zero width, tags, soft hyphen), odd spaces plain."""
    return mended(text).translate(_VISIBLE)


class _Visible(dict[int, str]):
    """A translation table that learns each character once, and knows those given."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char == "\n" or category in ("Zl", "Zp"):
            seen = "\n"
        elif category == "Zs" or char in "\t\r\x0b\x0c\x85":
            seen = " "
        elif 0xF000 <= code <= 0xF0FF:
            seen = "•"  # a sign of a symbol font, which office programs make bullets of
        elif category == "Cs":
            seen = "\N{REPLACEMENT CHARACTER}"
        else:
            seen = "" if category in ("Cc", "Cf") else char
        self[code] = seen
        return seen


_VISIBLE = _Visible()
_VISIBLE_AND_JOINERS = _Visible((ord(c), c) for c in JOINERS)


def _cut_bytes(text: str, max_bytes: int) -> str:
    data = text[:max_bytes].encode("utf-8", "replace")
    return text if len(data) == len(text) <= max_bytes else data[:max_bytes].decode("utf-8", "ignore")
