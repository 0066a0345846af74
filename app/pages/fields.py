"""The gates of a search as fields of a form: a list that grows. A new gate is a line in GATES."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app import gates
from app.pages.form import Form, told_wrong
from app.profile import BadProfile
from ledger.records import Search
from scan.areas import named
from scan.contracts import Contract
from scan.language import NAMES
from scan.money import CURRENCIES
from scan.pay import figure
from scan.reasons import one_line

NOTHING = Search()  # asks nothing
Kind = Literal["number", "amount", "words", "choices", "select", "switch"]
NUMBER_MAX_CHARS = 12


@dataclass(frozen=True, slots=True)
class Gate:
    """One field of ledger.records.Search. `unit` stands behind the box, `hint` below its name."""

    field: str
    label: str
    kind: Kind
    hint: str = ""
    unit: str = ""
    low: float = 0
    high: float = 10_000_000
    options: tuple[str, ...] = ()  # of choices and select; empty: the configured sources
    shown: Callable[[str], str] = str  # one of the words, for people
    written: Callable[[float], str] = figure  # a number or an amount, so that it reads back as the same

    @property
    def is_narrow(self) -> bool:
        """Whether what is typed is a few digits."""
        return self.kind in ("number", "select") or bool(self.unit)

    @property
    def is_short(self) -> bool:
        """Whether several stand in one row."""
        return self.kind in ("number", "amount", "select")


def _area(code: str) -> str:
    """Its name, unless that would be read as two."""
    return code if "," in named(code) else named(code)


_USUAL = ("USD", "EUR", "GBP")
_CURRENCIES = (*_USUAL, *sorted(CURRENCIES.difference(_USUAL)))

GATES: tuple[Gate, ...] = (
    # The currency first: one that is typed with an amount has the last word.
    Gate("currency", "Currency", "select", "Pay in another currency counts as unknown.", options=_CURRENCIES),
    Gate(
        "min_hourly",
        "Lowest pay an hour",
        "amount",
        "Such as 60, or 90k a year: converted at 2,080 hours.",
        written=gates.hourly_written,
    ),
    Gate("min_fixed", "Lowest fixed price", "amount", "For projects at one price."),
    Gate("max_age_h", "Not older than", "number", "Empty: any age.", unit="hours", low=1, high=24 * 90),
    Gate("countries", "I can work in", "words", "Countries or regions, commas between: Germany, EU.", shown=_area),
    Gate(
        "languages",
        "I read",
        "words",
        "Languages of the ad: English, German.",
        shown=lambda code: NAMES.get(code, code),
    ),
    Gate("contracts", "Kind of work", "choices", "None chosen: any.", options=tuple(kind.value for kind in Contract)),
    Gate("sources", "Only from", "choices", "None chosen: all of them."),
    Gate("min_client_rating", "Client's rating, at least", "amount", "Where the board tells it.", unit="of 5"),
    Gate("min_client_spend", "Client has spent, at least", "amount", "In the board's currency."),
    Gate("min_client_hires", "Client has hired, at least", "amount", "People, so far."),
    Gate("payment_verified_only", "Only clients whose payment is verified", "switch"),
    Gate("strict", "Be strict: what the board does not say counts as no", "switch"),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A gate as the page draws it: what is typed, what is chosen among the options, and what is wrong with it."""

    gate: Gate
    typed: str = ""
    chosen: frozenset[str] = field(default_factory=frozenset)
    options: tuple[str, ...] = ()
    error: str = ""


def asks(search: Search) -> bool:
    """Whether any gate can be shut; the currency alone shuts none."""
    return any(
        getattr(search, gate.field) != getattr(NOTHING, gate.field) for gate in GATES if gate.field != "currency"
    )


def told(gate: Gate, value: Any) -> str:
    """What is kept of one, in a line."""
    match gate.kind:
        case "switch":
            return "yes" if value else "no"
        case "select":
            return str(value)
        case "choices" | "words":
            return ", ".join(map(gate.shown, value)) or "any"
        case _:
            return "any" if value is None else gate.written(value)


def shown(search: Search, sources: Sequence[str]) -> list[Shown]:
    """The gates as they are kept."""
    return [_as_kept(gate, getattr(search, gate.field), sources) for gate in GATES]


def typed(form: Form, search: Search, sources: Sequence[str]) -> tuple[list[Shown], dict[str, Any]]:
    """The gates as typed, each with its error, and their values; one with an error asks nothing."""
    drawn: list[Shown] = []
    values: dict[str, Any] = {}
    for gate in GATES:
        options = _options(gate, getattr(search, gate.field), sources)
        error = ""
        try:
            values |= READ[gate.kind](gate, form, options)
        except BadProfile as bad:
            error = str(bad)
            values[gate.field] = getattr(NOTHING, gate.field)  # until it is understood it asks nothing
        drawn.append(Shown(gate, form.text(gate.field), frozenset(form.all(gate.field)), options, error))
    return drawn, values


def _as_kept(gate: Gate, value: Any, sources: Sequence[str]) -> Shown:
    options = _options(gate, value, sources)
    match gate.kind:
        case "choices":
            return Shown(gate, chosen=frozenset(value), options=options)
        case "switch":
            return Shown(gate, chosen=frozenset({"yes"} if value else ()))
        case "words":
            return Shown(gate, ", ".join(map(gate.shown, value)))
        case "select":
            return Shown(gate, value, options=options)
        case _:
            return Shown(gate, "" if value is None else gate.written(value))


def _options(gate: Gate, value: Any, sources: Sequence[str]) -> tuple[str, ...]:
    """What may be chosen; also what was chosen once and is not offered any more."""
    if gate.kind not in ("choices", "select"):
        return ()
    return tuple(dict.fromkeys((*(gate.options or sources), *([value] if gate.kind == "select" else value))))


def _typed(gate: Gate, form: Form, _options: Sequence[str]) -> dict[str, Any]:
    """As on the command line: `60`, `60 EUR`, `90k a year`; `Germany, EU`."""
    try:
        return _READ[gate.field](form.text(gate.field))
    except gates.BadGate as error:
        raise BadProfile(told_wrong(str(error))) from error


def _number(gate: Gate, form: Form, _options: Sequence[str]) -> dict[str, Any]:
    text = form.text(gate.field).strip()
    plain = text.replace(",", "").replace(" ", "")
    if not text:
        return {gate.field: None}
    is_whole = plain.isascii() and plain.isdigit() and len(plain) <= NUMBER_MAX_CHARS
    if not is_whole or not gate.low <= int(plain) <= gate.high:
        raise BadProfile(f"{one_line(text)!r} is not a whole number from {figure(gate.low)} to {figure(gate.high)}.")
    return {gate.field: int(plain)}


def _choices(gate: Gate, form: Form, options: Sequence[str]) -> dict[str, Any]:
    return {gate.field: tuple(_known(name, options) for name in dict.fromkeys(form.all(gate.field)))}


def _select(gate: Gate, form: Form, options: Sequence[str]) -> dict[str, Any]:
    return {gate.field: _known(form.text(gate.field) or options[0], options)}


def _switch(gate: Gate, form: Form, _options: Sequence[str]) -> dict[str, Any]:
    return {gate.field: form.has(gate.field)}


def _known(name: str, options: Sequence[str]) -> str:
    if name not in options:
        raise BadProfile(f"{one_line(name)!r} is not one of these.")
    return name


_READ = {gate.field: gate.read for gate in gates.GATES}
READ: Mapping[Kind, Callable[[Gate, Form, Sequence[str]], dict[str, Any]]] = {
    "number": _number,
    "amount": _typed,
    "words": _typed,
    "choices": _choices,
    "select": _select,
    "switch": _switch,
}
