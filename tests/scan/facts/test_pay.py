"""What boards say of pay, to numbers; and one conversion for all of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scan.money import AMOUNT_MAX, LINE_MAX_CHARS
from scan.pay import PER_YEAR, Pay, Period, converted, figure, parse_pay, pay_of, period_named, said
from tests.scan.match.people import PATIENT
from tests.shared import shared


def read(text: str, **hints: str) -> tuple[float | None, float | None, str, str | None] | None:
    pay = parse_pay(text, **hints)
    return (pay.low, pay.high, pay.currency, pay.period) if pay else None


def test_each_row_of_the_table_of_known_faults_is_read_as_it_says() -> None:
    rows = json.loads(shared("cases/B120_table.json").read_text("utf-8"))
    wrong = [row for row in rows if read(row["text"]) != (row["min"], row["max"], row["currency"] or "", row["period"])]
    assert len(rows) == 9
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # as recorded on boards
        ("$10.00-$40.00", (10, 40, "USD", None)),
        ("$1,000.00", (1000, 1000, "USD", None)),
        ("$500.00 ", (500, 500, "USD", None)),
        ("['$20.00', '$40.00']", (20, 40, "USD", None)),
        ("['$15.00', '$30.00', '']", (15, 30, "USD", None)),
        ("['']", None),
        ("$90k - $105k", (90_000, 105_000, "USD", None)),
        ("$18 - $22/hr", (18, 22, "USD", "hour")),
        ("$14/hr", (14, 14, "USD", "hour")),
        ("$45,000 - $50,000", (45_000, 50_000, "USD", None)),
        ("USD 5,000 - 9,500", (5000, 9500, "USD", None)),
        ("EUR 3,500 - 3,500", (3500, 3500, "EUR", None)),
        ("€75k–110k", (75_000, 110_000, "EUR", None)),
        ("$150 - 210K USD + equity", (150_000, 210_000, "USD", None)),
        ("Salary up to $185,500 + equity", (None, 185_500, "USD", None)),
        ("£75 per hour", (75, 75, "GBP", "hour")),
        ("20,00 $/heure", (20, 20, "USD", "hour")),
        ("$90,000—$141,000 USD", (90_000, 141_000, "USD", None)),
        ("OTE $25k - $35k", (25_000, 35_000, "USD", None)),
        ("$160k–$180k ($210k for senior band) + Equity", (160_000, 180_000, "USD", None)),
        ("0", None),
        ("0/0", None),
        ("", None),
        # periods
        ("Hourly Range: $10.00-$40.00", (10, 40, "USD", "hour")),
        ("$50/hr - $60/hr", (50, 60, "USD", "hour")),
        ("between $50 and $60 an hour", (50, 60, "USD", "hour")),
        ("£45 ph", (45, 45, "GBP", "hour")),
        ("£35k pa", (35_000, 35_000, "GBP", "year")),
        ("£3,000 pcm", (3000, 3000, "GBP", "month")),
        ("50 k€ / an", (50_000, 50_000, "EUR", "year")),
        ("500€/Tag", (500, 500, "EUR", "day")),
        ("Tagessatz: 600 EUR", (600, 600, "EUR", "day")),
        ("monthly 5000 USD", (5000, 5000, "USD", "month")),
        ("$5,000 a month for 3 months", (5000, 5000, "USD", "month")),
        ("$30/hr, 20 hours per week", (30, 30, "USD", "hour")),
        ("$1,500, 20 hours per week", (1500, 1500, "USD", None)),
        ("$0.05 per word", (0.05, 0.05, "USD", None)),
        ("500 € y beneficios", (500, 500, "EUR", None)),
        ("$500 w/ benefits", (500, 500, "USD", None)),
        ("fixed price, 500 USD", (500, 500, "USD", "fixed")),
        # ends
        ("$150k+", (150_000, None, "USD", None)),
        ("$50/hr+", (50, None, "USD", "hour")),
        ("from €60", (60, None, "EUR", None)),
        ("$0 - $50", (None, 50, "USD", None)),
        ("$60 - $40", (40, 60, "USD", None)),
        # factors
        ("$500 - 1k", (500, 1000, "USD", None)),
        ("$1k - 1500", (1000, 1500, "USD", None)),
        ("$1.2m", (1_200_000, 1_200_000, "USD", None)),
        ("1.500k EUR", (1500, 1500, "EUR", None)),
        ("12 LPA", (1_200_000, 1_200_000, "", "year")),
        # numbers
        ("$5.000,50", (5000.5, 5000.5, "USD", None)),
        ("EUR 1.234.567,89", (1_234_567.89, 1_234_567.89, "EUR", None)),
        ("45 000 - 50 000 €", (45_000, 50_000, "EUR", None)),
        ("₹12,00,000 pa", (1_200_000, 1_200_000, "INR", "year")),
        ("$.50", None),
        # currencies
        ("CA$50", (50, 50, "CAD", None)),
        ("$90k (CAD)", (90_000, 90_000, "CAD", None)),
        ("kr 500/h", (500, 500, "", "hour")),
        ("¥500", (500, 500, "", None)),
        ("45-60 EUR/h", (45, 60, "EUR", "hour")),
        # not pay
        ("-$500", None),
        ("$-500", None),
        ("401k match, $50/hr", (50, 50, "USD", "hour")),
        ("raised $5M, pays $120k-150k", (120_000, 150_000, "USD", None)),
        ("$1,000 sign-on bonus; $50/hr", (50, 50, "USD", "hour")),
        ("10% bonus", None),
        ("2-3 years", None),
        ("40 hours per week", None),
        ("5 positions", None),
        ("Web3, B2B, 24/7", None),
        ("Competitive", None),
    ],
)
def test_what_a_board_says_of_pay_is_read_and_nothing_is_guessed(text, expected) -> None:
    assert read(text) == expected


def test_the_boards_own_words_beside_a_text_count_where_the_text_is_silent() -> None:
    assert read("3000000 - 3500000 per year", currency="JPY") == (3_000_000, 3_500_000, "JPY", "year")
    assert read("$90k", currency="CAD", period="per-year-salary") == (90_000, 90_000, "CAD", "year")
    assert read("€90k", currency="USD", period="hourly") == (90_000, 90_000, "EUR", "hour")
    assert read("$14/hr", period="annual") == (14, 14, "USD", "hour")
    assert read("$0.05 per word", period="hourly") == (0.05, 0.05, "USD", None)
    assert read("45 - 60", currency="EUR") == (45, 60, "EUR", None)


@pytest.mark.parametrize(
    ("word", "period"),
    [("annual", "year"), ("1 YEAR", "year"), ("per-hour-wage", "hour"), ("FIXED_PRICE", "fixed"), ("monthly", "month"),
     ("", None), ("fortnight", None), ("hourly or monthly", None)],
)  # fmt: skip
def test_a_boards_word_for_a_period_is_known_or_none(word, period) -> None:
    assert period_named(word) == period


def test_numbers_that_are_no_price_are_unknown() -> None:
    assert pay_of(0, 0) is None
    assert pay_of(None, None, currency="USD") is None
    assert pay_of(-5, 10) is None
    assert pay_of(float("nan"), float("inf")) is None
    assert pay_of(AMOUNT_MAX * 2, None) is None
    assert pay_of(0, 50, currency="usd", period="annual") == Pay(None, 50, "USD", Period.YEAR)
    assert pay_of(60, 50, currency="?") == Pay(50, 60, "", None)


def test_recorded_budgets_are_all_read() -> None:
    import csv

    with shared("data/upwork/job_pages_2025-03.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["fixed_price"] for row in csv.DictReader(file) if any(c.isdigit() for c in row["fixed_price"])]
    assert len(texts) == 1153
    assert [text for text in texts if (pay := parse_pay(text)) is None or pay.currency != "USD"] == []


def test_one_conversion_agrees_with_the_table_at_both_ends() -> None:
    case = json.loads(shared("cases/B122_table.json").read_text("utf-8"))
    floor = converted(case["user_min"]["amount"], Period(case["user_min"]["period"]), Period.HOUR)
    shown = []
    for text in case["jobs"]:
        pay = parse_pay(text)
        assert pay is not None
        assert pay.high is not None
        assert pay.period is not None
        hourly = converted(pay.high, pay.period, Period.HOUR)
        yearly = converted(pay.high, pay.period, Period.YEAR)
        assert floor is not None
        assert hourly is not None
        assert yearly is not None
        assert (hourly >= floor) is (yearly >= case["user_min"]["amount"])
        shown.append((figure(hourly), figure(yearly), hourly >= floor))
    assert shown == [("50", "104,000", True), ("48.08", "100,000", True), ("49.04", "102,000", True)]


@PATIENT(max_examples=300)
@given(st.floats(0.01, 1e7), st.sampled_from(list(PER_YEAR)), st.sampled_from(list(PER_YEAR)))
def test_a_conversion_there_and_back_is_the_same_and_keeps_the_order(amount, per, to) -> None:
    there = converted(amount, per, to)
    assert there is not None
    back = converted(there, to, per)
    assert back == pytest.approx(amount, rel=1e-12)
    more = converted(amount * 1.01, per, to)
    assert more is not None
    assert more > there
    assert converted(amount, per, Period.FIXED) is None
    assert converted(amount, Period.FIXED, Period.FIXED) == amount


BITS = ["$", "€", "£", "kr", "USD", "eur", "k", "K", "m", "-", "–", " ", " ", ",", ".", "/", "hr", "per", "year", "to",
        "up to", "+", "%", "0", "1", "5", "10", "100", "1,000", "99.50", "fixed", "['", "'", "]", "and", "between",
        "٣", "½", "\ufdfa", "\ud800", "a", "hours"]  # fmt: skip


@PATIENT(max_examples=500)
@given(st.one_of(st.text(max_size=400), st.lists(st.sampled_from(BITS), max_size=60).map("".join)))
@example("9" * 400)
@example("$" * 400)
@example("1," * 200)
@example("1 " * 200)
def test_any_text_is_pay_in_order_or_none(text) -> None:
    pay = parse_pay(text)
    if pay is not None:
        ends = [end for end in (pay.low, pay.high) if end is not None]
        assert ends
        assert all(0 < end <= AMOUNT_MAX for end in ends)
        assert ends == sorted(ends)
        assert said(pay)


@PATIENT(max_examples=200)
@given(
    st.integers(1, 900_000), st.integers(0, 900_000), st.sampled_from(["USD", "EUR", "JPY"]), st.sampled_from(Period)
)
def test_pay_in_our_own_words_reads_back_the_same(low, more, currency, period) -> None:
    pay = Pay(low / 100, (low + more) / 100, currency, period)
    assert parse_pay(said(pay)) == pay


def test_what_stands_beyond_the_limit_is_not_looked_at() -> None:
    assert parse_pay(" " * LINE_MAX_CHARS + "$50/hr") is None
    assert parse_pay("x" * 5_000_000) is None
