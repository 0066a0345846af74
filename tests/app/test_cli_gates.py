"""Every gate on the command line: kept, told, taken away, and one line for each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import gates
from app.gates import GATES
from ledger.records import Search
from tests.app.test_cli import ANN, here, mistake, person, said

__all__ = ["here"]  # the fixture

ADD = ("users", "add", ANN)


def test_every_gate_is_kept_and_told(here: Path) -> None:
    told = said(
        *ADD, "--keywords", "python", "--min-hourly", "90k EUR a year", "--min-fixed", "500", "--countries",
        "Germany, at, LATAM", "--contract", "contractor,part time", "--languages", "English,de", "--min-rating", "4.5",
        "--min-spend", "10,000", "--min-hires", "1", "--payment-verified", "--strict",
    )  # fmt: skip
    assert person(here).searches["default"] == Search(
        keywords=("python",),
        min_hourly=90_000 / 2080,
        min_fixed=500,
        currency="EUR",
        countries=("DE", "AT", "LATAM"),
        contracts=("freelance", "part-time"),
        languages=("en", "de"),
        min_client_rating=4.5,
        min_client_spend=10_000,
        min_client_hires=1,
        payment_verified_only=True,
        strict=True,
    )
    for line in (
        "pay an hour: at least EUR 43.27 (90,000 a year)",
        "fixed price: at least EUR 500",
        "countries: Germany, Austria, Latin America",
        "contract: freelance, part-time",
        "languages: English, German",
        "client's rating: at least 4.50",
        "client has spent: at least 10,000",
        "client has hired: at least 1",
        "payment verified: yes",
        "strict: yes",
    ):
        assert f"  {line}\n" in told
    shown = said("users", "show", ANN)
    assert "at least EUR 43.27" in shown
    (listed,) = json.loads(said("users", "list", "--json"))
    assert listed["searches"]["default"]["countries"] == ["DE", "AT", "LATAM"]


def test_a_gate_is_taken_away_by_nothing_and_only_what_is_given_changes(here: Path) -> None:
    said(*ADD, "--keywords", "python", "--min-hourly", "60", "--countries", "DE", "--strict", "--min-rating", "4")
    told = said(*ADD, "--min-hourly", "0", "--countries", "", "--lenient", "--min-rating", "0")
    assert person(here).searches["default"] == Search(keywords=("python",))
    assert "  pay an hour: - (was: at least USD 60 (124,800 a year))\n" in told
    assert "  countries: - (was: Germany)\n" in told
    assert "Nothing differs" in said(*ADD, "--min-hourly", "0")
    assert "Nothing differs" not in said(*ADD, "--min-fixed", "$500")


def test_a_currency_by_itself_has_the_last_word(here: Path) -> None:
    said(*ADD, "--keywords", "python", "--currency", "gbp", "--min-hourly", "60 EUR")
    assert person(here).searches["default"].currency == "GBP"


@pytest.mark.parametrize(
    ("option", "typed", "line"),
    [
        ("--min-hourly", "abc", "'abc' is not an amount; write it as 60, '60 EUR' or '90k a year'"),
        *(
            ("--min-hourly", typed, f"{typed!r} is not an amount; write it as 60, '60 EUR' or '90k a year'")
            for typed in ("60 foo", "6 0", "1e3", "1e400", "60 EUR please", "60 60", "EUR", "60 of 80", "foo 60", "60%")
        ),
        ("--min-fixed", "500 oder so", "'500 oder so' is not an amount; write it as 500"),
        ("--min-hourly", "50-60", "'50-60' is not an amount; write it as 60, '60 EUR' or '90k a year'"),
        ("--min-hourly", "500 fixed", "'500 fixed' is not an amount; write it as 60, '60 EUR' or '90k a year'"),
        ("--min-hourly", "-5", "'-5' is not an amount; write it as 60, '60 EUR' or '90k a year'"),
        ("--min-fixed", "5 an hour", "'5 an hour' is not an amount; write it as 500"),
        ("--currency", "gold", "unknown: 'gold'; give a code such as USD, EUR, GBP"),
        ("--countries", "Germany, Atlantis", "unknown: 'Atlantis'; give names, codes or regions, such as Germany, US, "
         "EU, LATAM"),
        ("--countries", ",".join(["DE"] * 101), "at most 100 of these"),
        ("--contract", "marriage", "unknown: 'marriage'; give some of freelance, part-time, full-time, temporary, "
         "internship"),
        ("--languages", "klingon", "unknown: 'klingon'; give names or codes, such as English, de"),
        ("--min-rating", "6", "'6' is not a number from 0 to 5"),
        ("--min-rating", "nan", "'nan' is not a number from 0 to 5"),
        ("--min-hires", "1.5", "'1.5' is not a whole number from 0 to 10,000,000,000"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_names_the_option(option, typed, line, here: Path) -> None:
    assert mistake(*ADD, "--keywords", "python", f"{option}={typed}") == f"{option}: {line}"
    assert not (here / "scout.db").exists()


def test_every_gate_of_a_search_has_an_option() -> None:
    asked = set(Search.__dataclass_fields__) - {"keywords", "must", "exclude", "max_age_h", "sources"}
    assert {gate.field for gate in GATES} == asked - {"ai", "about", "ai_threshold"}


@pytest.mark.parametrize(
    ("typed", "amount", "currency"),
    [
        ("60", 60, None),
        ("60.50", 60.5, None),
        ("60,5 EUR", 60.5, "EUR"),
        ("$60", 60, "USD"),
        ("US$ 60 / h", 60, "USD"),
        ("60€/h", 60, "EUR"),
        ("EUR 60 per hour", 60, "EUR"),
        ("60 euro an hour", 60, "EUR"),
        ("90k a year", 90_000 / 2080, None),
        ("90 000 EUR a year", 90_000 / 2080, "EUR"),
        ("90.000 € pro Jahr", 90_000 / 2080, "EUR"),
        ("90,000/year", 90_000 / 2080, None),
        ("480 GBP daily", 60, "GBP"),
    ],
)
def test_an_amount_is_read_with_its_currency_and_period(typed: str, amount: float, currency: str | None) -> None:
    said = gates.typed({"min_hourly": typed})
    assert said["min_hourly"] == pytest.approx(amount)
    assert said.get("currency") == currency
