"""JSON of boards by field names, whatever the fields hold. Pure; nothing here raises for what a board sends."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

LIST_MAX = 200  # values of one field

_HTML_PAGE = re.compile(rb"\s{0,200}(?:<!doctype\s+html|<html|<head|<body)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is not this board's. The reason is for people and quotes nothing."""

    reason: str


class Item:
    """A JSON object read by field names. A field that is missing, or of another type, is empty."""

    __slots__ = ("_values",)

    def __init__(self, values: object) -> None:
        self._values = values if isinstance(values, dict) else {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def text(self, *names: str) -> str:
        """The first of these fields that holds text or a number, as text."""
        return next((text for name in names if (text := _text(self._values.get(name)))), "")

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a list; a single text is a list of one."""
        value = self._values.get(name)
        values = value if isinstance(value, list) else [value]
        return tuple(text for part in values[:LIST_MAX] if (text := _text(part)))

    def number(self, name: str) -> float | None:
        """A finite number, also where it is written as text; money comes so."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value[:40] if isinstance(value, str) else value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None

    def flag(self, name: str) -> bool | None:
        value = self._values.get(name)
        return value if isinstance(value, bool) else None

    def item(self, name: str) -> Item:
        return Item(self._values.get(name))

    def items(self, name: str) -> tuple[Item, ...]:
        value = self._values.get(name)
        return (
            tuple(Item(part) for part in value[:LIST_MAX] if isinstance(part, dict)) if isinstance(value, list) else ()
        )

    def raw(self, name: str) -> Any:
        return self._values.get(name)


def json_of(body: bytes) -> Any | Unreadable:
    """The document, or why it is none."""
    start = body[:400].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return Unreadable("the body is empty")
    if start.startswith(b"<"):
        return Unreadable("an HTML page, not JSON" if _HTML_PAGE.match(start) else "XML or HTML, not JSON")
    try:
        return json.loads(body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Unreadable("not JSON that can be read")


def items_at(body: bytes, *path: str) -> list[Any] | Unreadable:
    """The list at that path of the document; without a path the document itself is the list."""
    found = json_of(body)
    if isinstance(found, Unreadable):
        return found
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list):
        return Unreadable(f"JSON without a list of jobs{f' at {path[-1]!r}' if path else ''}")
    return found


def _text(value: object) -> str:
    if isinstance(value, str):
        return _whole(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else ""
    if not math.isfinite(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which JSON can spell and nothing can send on."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
