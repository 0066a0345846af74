"""Pay that stands in the title or the text of a posting, on boards that have no field for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.records import Job
from scan.facts import with_facts
from scan.pay import Pay, Period, pay_of_job
from scan.pay_gate import pay_gate, pay_told
from scan.pay_in_text import pay_in_text
from scan.posting import Posting
from scan.reasons import Why
from scan.rules import Rules
from tests.scan.match.people import NOW, PATIENT, a_job

HOUR, MONTH, YEAR = Period.HOUR, Period.MONTH, Period.YEAR


@pytest.mark.parametrize(
    ("title", "pay"),
    [
        ("Python and Django, $20/hr", Pay(20, 20, "USD", HOUR)),
        ("Senior Developer ($90-$170/hr)", Pay(90, 170, "USD", HOUR)),
        ("Editor - €1500-2500 per month", Pay(1500, 2500, "EUR", MONTH)),
        ("Tutor, up to 40 GBP an hour", Pay(None, 40, "GBP", HOUR)),
        ("Writers - $60 per article", None),
        ("Logo for $100", None),
        ("Monthly newsletter, $500", None),
        ("Fix a bug, 20 hours", None),
        ("Help us grow sales to $50,000 a month", None),
        ("Manage ads for $900/day", None),
        ("Voice over, $9,000 an hour", None),
        ("Assistant for $50k/month ecommerce founder", None),
        ("Build a $500/month product", None),
        ("Translator $25/hr", Pay(25, 25, "USD", HOUR)),
    ],
)
def test_a_title_states_pay_where_a_period_stands_beside_the_amount(title, pay) -> None:
    assert pay_in_text(title, "") == pay


@pytest.mark.parametrize(
    ("text", "pay"),
    [
        ("We teach. Pay is £75 per hour, and £40 per hour for preparation. Join us.", Pay(40, 75, "GBP", HOUR)),
        ("The salary range for this role is $3,333 - $6,000 per month.", Pay(3333, 6000, "USD", MONTH)),
        ("The base salary range is $120,000 - $150,000, plus bonus.", Pay(120_000, 150_000, "USD", None)),
        ("The annual salary is CAD $90,000.", Pay(90_000, 90_000, "CAD", YEAR)),
        (
            "In Lima: the salary is $3,000 a month.\nIn Quito: the salary is $3,000 a month.",
            Pay(3000, 3000, "USD", MONTH),
        ),
        ("In Lima: the salary is $3,000 a month.\nIn Quito: the salary is $4,000 a month.", None),
        ("Pay: $500.", None),
        ("The salary is $500.", None),
        ("We raised $20M. Our founders took no salary.", None),
        ("A growth budget of €1,500 a year beside your salary.", None),
        ("Customers pay $99 a month for our product.", None),
        ("We pay out prizes of $500 a week.", None),
        ("The conversion rate rose, and revenue is $90,000 a month at that rate.", None),
        ("We pay well.", None),
        ("", None),
    ],
)
def test_a_text_states_pay_in_one_plain_sentence_or_not_at_all(text, pay) -> None:
    assert pay_in_text("Developer", text) == pay


def facts(**fields) -> Job:
    known = {"platform": "p", "native_id": "1", "title": "Developer", "link": "", "text": ""} | fields
    posting = Posting(**known)
    return with_facts(a_job(pay=posting.pay), posting)


def test_a_boards_own_word_on_pay_counts_before_its_texts() -> None:
    assert facts(title="Developer, $20/hr").pay == "USD 20 an hour"
    assert facts(title="Developer, $20/hr", pay="competitive").pay_max is None
    assert facts(title="Developer, $20/hr", pay="$30/hr").pay_max == 30
    assert facts(title="Developer, $20/hr", text="Do things\nBudget: $500").pay_max == 500


def test_a_low_rate_in_a_title_does_not_pass_a_floor_and_is_told() -> None:
    rules = Rules(min_hourly=100, currency="USD")
    refusal = pay_gate(rules, facts(title="Developer, $20/hr"), NOW)
    assert refusal is not None
    assert refusal.why is Why.PAY_TOO_LOW
    assert pay_told(rules, facts(title="Developer, $120/hr")) == "pays USD 120 an hour"


@pytest.mark.parametrize(
    ("fields", "period"),
    [
        ({"pay": "$45,000 - $50,000"}, YEAR),
        ({"pay": "$160k-$180k"}, YEAR),
        ({"pay": "up to €90k"}, YEAR),
        ({"pay_min": 50_000, "pay_max": 60_000, "currency": "GBP"}, YEAR),
        ({"pay": "$45,000 - $50,000", "contract": "Full-time, Contract"}, YEAR),
        ({"pay": "$45,000", "contract": "Contract"}, None),  # to a freelancer it may be the price of the work
        ({"pay": "$3k - $10k"}, None),
        ({"pay": "$5k - $25k"}, None),
        ({"pay": "project of $50,000"}, None),
        ({"pay": "budget $50,000"}, None),
        ({"pay": "$50,000 OTE"}, None),
        ({"pay": "$5,000,000"}, None),
        ({"pay": "INR 50,000"}, None),  # many are paid that a month
        ({"pay": "JPY 300,000"}, None),
        ({"pay": "$25,000 per month"}, MONTH),
    ],
)
def test_what_nobody_earns_in_less_than_a_year_is_of_a_year(fields, period) -> None:
    pay = pay_of_job(facts(**fields))
    assert pay is not None
    assert pay.period is period


def test_gate_and_letter_read_such_a_year_alike_and_the_record_keeps_what_was_said() -> None:
    job = facts(pay="$20,800 - $41,600")
    assert (job.pay, job.period) == ("$20,800 - $41,600", "")
    rules = Rules(min_hourly=20, currency="USD")
    assert pay_gate(rules, job, NOW) is None
    assert pay_told(rules, job) == "pays USD 20,800 - 41,600 a year, which is USD 10 - 20 an hour"
    assert pay_gate(Rules(min_hourly=21, currency="USD"), job, NOW) is not None


PIECES = st.sampled_from(
    [
        "$20",
        "/hr",
        "salary",
        " per month",
        "€9k",
        "\n",
        ". A",
        "pay",
        "budget",
        "-",
        "–",
        " to ",
        "1e9",
        "USD",
        "\ud800",
    ]
)


@PATIENT(max_examples=300)
@given(st.text(max_size=100), st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map(" ".join)))
def test_any_texts_state_pay_in_order_or_none(title, text) -> None:
    pay = pay_in_text(title, text)
    assert pay is None or (pay.currency and (pay.low is None or pay.high is None or 0 < pay.low <= pay.high))


@pytest.mark.parametrize("unit", ["pay $1 ", "salary $1 a year\n", "$1/hr. A pay", "pay $", "1,"])
def test_a_long_text_is_read(unit) -> None:
    """The suite's own time limit is the bound."""
    pay_in_text(unit * 10_000, unit * 10_000)
