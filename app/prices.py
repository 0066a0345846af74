"""What a model's tokens cost, from a table: in US dollars for a million tokens, which is millionths for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, InvalidOperation

from ledger.spend import Bill
from scan.verdict import Question, Usage

BYTES_PER_TOKEN_MIN = 1.5  # so that a reservation is not below what a call then costs
PRICE_MAX = Decimal(10_000)


@dataclass(frozen=True, slots=True)
class Price:
    """Of input, output, and input written to and read from the provider's cache."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal

    def bill(self, usage: Usage) -> Bill:
        micros = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_write_tokens * self.cache_write
            + usage.cache_read_tokens * self.cache_read
        )
        return Bill(usage.all_input_tokens + usage.output_tokens, int(micros.to_integral_value(ROUND_UP)))

    def at_most(self, question: Question) -> Bill:
        """The most that asking this once can cost: everything written to the cache, and an answer of full length."""
        tokens = int(question.input_bytes / BYTES_PER_TOKEN_MIN) + 1
        return self.bill(Usage(output_tokens=question.answer_max_tokens, cache_write_tokens=tokens))


# As published in October and November 2026, for prompts of up to 100,000 tokens; ours are far below.
KNOWN: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(Decimal("0.10"), Decimal("0.50"), Decimal("0.125"), Decimal("0.01")),
    "claude-haiku-4-5": Price(Decimal("1"), Decimal("5"), Decimal("1.25"), Decimal("0.10")),
    "claude-sonnet-5-5": Price(Decimal("2"), Decimal("10"), Decimal("2.50"), Decimal("0.10")),
}


class BadPrices(ValueError):
    """The table cannot be read; one line that says why."""


def read_prices(text: str) -> dict[str, Price]:
    """`MODEL=INPUT/OUTPUT[/CACHE_WRITE/CACHE_READ]`, commas between. Raises BadPrices.

    Cached input costs 1.25 and 0.1 of input where nothing is said.
    """
    table: dict[str, Price] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        model, _, prices = entry.partition("=")
        written = prices.split("/")
        if not model.strip() or len(written) not in (2, 4):
            raise BadPrices(f"{entry[:60]!r} is not MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHE_WRITE/CACHE_READ")
        numbers = [_number(number) for number in written]
        if len(numbers) == 2:
            numbers += [numbers[0] * Decimal("1.25"), numbers[0] / 10]
        table[model.strip()] = Price(*numbers)
    return table


def table(text: str | None) -> dict[str, Price]:
    """The known prices, with those of the settings in their place. Raises BadPrices."""
    return {**KNOWN, **read_prices(text or "")}


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        raise BadPrices(f"{text[:20]!r} is no price") from None
    if not number.is_finite() or not 0 <= number <= PRICE_MAX:
        raise BadPrices(f"{text[:20]!r} is no price from 0 to {PRICE_MAX}")
    return number
