"""The gates of a search as fields of a form: a list that grows. A new gate is a line in GATES."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from app.pages.form import Form
from app.profile import BadProfile
from ledger.records import Search
from scan.reasons import one_line

Kind = Literal["number", "words", "choices", "switch", "select"]
WORDS_MAX = 100


@dataclass(frozen=True, slots=True)
class Gate:
    """One field of ledger.records.Search. `unit` stands behind the box, `hint` below it."""

    field: str
    label: str
    kind: Kind
    hint: str = ""
    unit: str = ""
    low: int = 0
    high: int = 10_000_000
    options: tuple[str, ...] = ()  # of choices and select; empty: the configured sources


GATES: tuple[Gate, ...] = (
    Gate("max_age_h", "Not older than", "number", "Empty: any age.", unit="hours", low=1, high=24 * 90),
    Gate("sources", "Only from", "choices", "None chosen: all of them."),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A gate as the page draws it: what is typed, and what is wrong with it."""

    gate: Gate
    typed: str
    chosen: frozenset[str]
    options: tuple[str, ...]
    error: str = ""


def gates_of(search: Search) -> list[Gate]:
    """Those that a search of this version has."""
    known = {field.name for field in fields(search)}
    return [gate for gate in GATES if gate.field in known]


def shown(search: Search, sources: Sequence[str]) -> list[Shown]:
    """The gates as they are kept."""
    return [_as_kept(gate, getattr(search, gate.field), sources) for gate in gates_of(search)]


def typed(form: Form, search: Search, sources: Sequence[str]) -> tuple[list[Shown], dict[str, Any]]:
    """The gates as typed, each with its error, and the values of those without."""
    drawn: list[Shown] = []
    values: dict[str, Any] = {}
    for gate in gates_of(search):
        options = _options(gate, getattr(search, gate.field), sources)
        error = ""
        try:
            values[gate.field] = _value(gate, form, options)
        except BadProfile as bad:
            error = str(bad)
        drawn.append(Shown(gate, form.text(gate.field), frozenset(form.all(gate.field)), options, error))
    return drawn, values


def _as_kept(gate: Gate, value: Any, sources: Sequence[str]) -> Shown:
    options = _options(gate, value, sources)
    match gate.kind:
        case "choices":
            return Shown(gate, "", frozenset(value), options)
        case "switch":
            return Shown(gate, "", frozenset({"yes"} if value else ()), options)
        case "words":
            return Shown(gate, ", ".join(value), frozenset(), options)
        case _:
            return Shown(gate, "" if value is None else str(value), frozenset(), options)


def _options(gate: Gate, value: Any, sources: Sequence[str]) -> tuple[str, ...]:
    """What may be chosen: also what was chosen once and is not configured any more."""
    if gate.kind == "choices":
        return tuple(dict.fromkeys((*(gate.options or sources), *value)))
    return gate.options


def _value(gate: Gate, form: Form, options: Collection[str]) -> Any:
    text = form.text(gate.field).strip()
    match gate.kind:
        case "number":
            return _number(gate, text)
        case "switch":
            return form.has(gate.field)
        case "choices":
            return tuple(_known(name, options) for name in dict.fromkeys(form.all(gate.field)))
        case "select":
            return _known(text, options) if text else None
        case "words":
            words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
            if len(words) > WORDS_MAX:
                raise BadProfile(f"At most {WORDS_MAX} of these.")
            return words


def _number(gate: Gate, text: str) -> int | None:
    if not text:
        return None
    plain = text.replace(",", "").replace("\u202f", "").replace(" ", "")
    if not (plain.isascii() and plain.isdigit() and len(plain) < 12 and gate.low <= int(plain) <= gate.high):
        raise BadProfile(f"{one_line(text)!r} is not a whole number from {gate.low} to {gate.high:,}.")
    return int(plain)


def _known(name: str, options: Collection[str]) -> str:
    if name not in options:
        raise BadProfile(f"{one_line(name)!r} is not one of these.")
    return name
