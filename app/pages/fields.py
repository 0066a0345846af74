"""The gates of a search as fields of a form: a list that grows. A new gate is a line in GATES."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.pages.form import Form
from app.pages.words import sentence
from app.profile import BadProfile
from ledger.records import Search
from scan.areas import area_named, named
from scan.contracts import Contract
from scan.keywords import BadKeywords, join_keywords, parse_keywords
from scan.language import NAMES, language_named
from scan.money import CURRENCIES
from scan.pay import figure
from scan.reasons import one_line

Kind = Literal["number", "amount", "words", "choices", "select", "switch"]
WORDS_MAX = 50
NUMBER_MAX_CHARS = 12


@dataclass(frozen=True, slots=True)
class Words:
    """Names that people type, kept as codes. `read` gives None or nothing for a name that is not known."""

    read: Callable[[str], str | None]
    shown: Callable[[str], str]
    what: str


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
    words: Words | None = None

    @property
    def is_short(self) -> bool:
        """Whether several stand in one row."""
        return self.kind in ("number", "amount", "select")


AREAS = Words(area_named, named, "a country or region")
LANGUAGES = Words(language_named, lambda code: NAMES.get(code, code), "a language")
_USUAL = ("USD", "EUR", "GBP")
_CURRENCIES = (*_USUAL, *sorted(CURRENCIES.difference(_USUAL)))

GATES: tuple[Gate, ...] = (
    Gate("min_hourly", "At least an hour", "amount", "Salaries are converted, at 2,080 hours a year."),
    Gate("min_fixed", "At least, fixed price", "amount", "For projects at one price."),
    Gate("currency", "Currency", "select", "Pay in another one is unknown pay.", options=_CURRENCIES),
    Gate("max_age_h", "Not older than", "number", "Empty: any age.", unit="hours", low=1, high=24 * 90),
    Gate("countries", "I can work in", "words", "Countries or regions, commas between: Germany, EU.", words=AREAS),
    Gate("languages", "I read", "words", "Languages of the ad: English, German.", words=LANGUAGES),
    Gate("contracts", "Kind of work", "choices", "None chosen: any.", options=tuple(kind.value for kind in Contract)),
    Gate("sources", "Only from", "choices", "None chosen: all of them."),
    Gate("min_client_rating", "Client's rating", "amount", "Where the board tells it.", unit="of 5", high=5),
    Gate("min_client_spend", "Client has spent", "amount", "In the board's currency.", high=1e9),
    Gate("min_client_hires", "Client has hired", "number", "People, so far.", high=1_000_000),
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
    nothing = Search()
    return any(
        getattr(search, gate.field) != getattr(nothing, gate.field) for gate in GATES if gate.field != "currency"
    )


def shown(search: Search, sources: Sequence[str]) -> list[Shown]:
    """The gates as they are kept."""
    return [_as_kept(gate, getattr(search, gate.field), sources) for gate in GATES]


def typed(form: Form, search: Search, sources: Sequence[str]) -> tuple[list[Shown], dict[str, Any]]:
    """The gates as typed, each with its error, and the values of those without."""
    drawn: list[Shown] = []
    values: dict[str, Any] = {}
    for gate in GATES:
        options = _options(gate, getattr(search, gate.field), sources)
        error = ""
        try:
            values[gate.field] = READ[gate.kind](gate, form, options)
        except BadProfile as bad:
            error = str(bad)
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
            assert gate.words is not None
            return Shown(gate, join_keywords(map(gate.words.shown, value)))
        case "select":
            return Shown(gate, value, options=options)
        case _:
            return Shown(gate, "" if value is None else figure(value))


def _options(gate: Gate, value: Any, sources: Sequence[str]) -> tuple[str, ...]:
    """What may be chosen; also what was chosen once and is not offered any more."""
    if gate.kind not in ("choices", "select"):
        return ()
    return tuple(dict.fromkeys((*(gate.options or sources), *([value] if gate.kind == "select" else value))))


def _number(gate: Gate, form: Form, options: Sequence[str]) -> int | None:
    amount = _amount(gate, form, options)
    if amount is not None and amount != int(amount):
        raise BadProfile(f"{one_line(form.text(gate.field))!r} is not a whole number.")
    return None if amount is None else int(amount)


def _amount(gate: Gate, form: Form, _options: Sequence[str]) -> float | None:
    text = form.text(gate.field).strip()
    if not text:
        return None
    plain = text.replace(",", "").replace(" ", "")
    whole, _, rest = plain.partition(".")
    is_number = plain.isascii() and len(plain) <= NUMBER_MAX_CHARS and whole.isdigit() and (not rest or rest.isdigit())
    if not is_number or not gate.low <= float(plain) <= gate.high:
        raise BadProfile(f"{one_line(text)!r} is not a number from {figure(gate.low)} to {figure(gate.high)}.")
    return float(plain)


def _words(gate: Gate, form: Form, _options: Sequence[str]) -> tuple[str, ...]:
    assert gate.words is not None
    try:
        names = parse_keywords(form.text(gate.field))
    except BadKeywords as error:
        raise BadProfile(sentence(str(error))) from error
    if len(names) > WORDS_MAX:
        raise BadProfile(f"At most {WORDS_MAX} of these.")
    codes: dict[str, None] = {}
    for name in names:
        code = gate.words.read(name)
        if not code:
            raise BadProfile(f"{one_line(name)!r} is not {gate.words.what} that is known here.")
        codes[code] = None
    return tuple(codes)


def _choices(gate: Gate, form: Form, options: Sequence[str]) -> tuple[str, ...]:
    return tuple(_known(name, options) for name in dict.fromkeys(form.all(gate.field)))


def _select(gate: Gate, form: Form, options: Sequence[str]) -> str:
    return _known(form.text(gate.field) or options[0], options)


def _switch(gate: Gate, form: Form, _options: Sequence[str]) -> bool:
    return form.has(gate.field)


def _known(name: str, options: Sequence[str]) -> str:
    if name not in options:
        raise BadProfile(f"{one_line(name)!r} is not one of these.")
    return name


READ: Mapping[Kind, Callable[[Gate, Form, Sequence[str]], Any]] = {
    "number": _number,
    "amount": _amount,
    "words": _words,
    "choices": _choices,
    "select": _select,
    "switch": _switch,
}
