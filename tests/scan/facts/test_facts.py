"""What a posting says, as a search can ask for it."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.records import Client, Job
from scan.areas import WORLD
from scan.contracts import Contract, contract_named, contracts_among, contracts_in_title, read_contracts
from scan.facts import with_facts
from scan.posting import Posting
from scan.text import plain
from tests.scan.match.people import PATIENT, a_job
from tests.shared import shared


def facts(**fields) -> Job:
    known = {"platform": "p", "native_id": "1", "title": "Developer", "link": "", "text": ""} | fields
    posting = Posting(**known)
    return with_facts(a_job(pay=posting.pay, place=posting.place), posting)


def test_a_posting_that_says_nothing_leaves_everything_unknown() -> None:
    assert facts() == a_job()


def test_pay_and_place_are_read_from_their_texts() -> None:
    job = facts(pay="$18 - $22/hr", place="USA, Canada", tags=("python", "Contract"))
    assert (job.pay, job.pay_min, job.pay_max, job.currency, job.period) == ("$18 - $22/hr", 18, 22, "USD", "hour")
    assert (job.countries, job.contracts) == (("US", "CA"), ("freelance",))


def test_a_boards_own_fields_count_before_its_texts() -> None:
    job = facts(
        pay="competitive", pay_min=50, pay_max=60, currency="EUR", period="annual", place="Berlin", tags=("Contract",),
        countries=("Poland", "EU"), contract="FullTime", language="en-US", client=Client(rating=4.5),
    )  # fmt: skip
    assert (job.pay, job.pay_min, job.pay_max, job.currency, job.period) == ("competitive", 50, 60, "EUR", "year")
    assert (job.countries, job.contracts, job.language) == (("PL", "EU"), ("full-time",), "en")
    assert job.client == Client(rating=4.5)


def test_pay_in_numbers_alone_is_stated_in_the_boards_own_period() -> None:
    assert (
        facts(pay_min=184_000, pay_max=356_500, currency="USD", period="annual").pay == "USD 184,000 - 356,500 a year"
    )
    assert facts(pay_max=50, currency="USD", period="hourly").pay == "up to USD 50 an hour"
    assert facts(pay_min=0, pay_max=0).pay == ""


def test_a_text_that_is_no_pay_is_kept_for_people_and_read_as_unknown() -> None:
    job = facts(pay="competitive", text="Budget: $500")
    assert (job.pay, job.pay_min, job.pay_max) == ("competitive", None, None)


def test_what_a_marketplace_puts_at_the_end_of_a_text_is_read() -> None:
    hourly = facts(text="Do things\n\nHourly Range: $10.00-$40.00\nCountry: India")
    assert (hourly.pay, hourly.pay_min, hourly.pay_max) == ("Hourly Range: $10.00-$40.00", 10, 40)
    assert (hourly.period, hourly.countries) == ("hour", ())
    fixed = facts(text="Do things\nBudget: $500")
    assert (fixed.pay_max, fixed.period, fixed.contracts) == (500, "fixed", ("freelance",))
    assert facts(text="Budget: tight\nTeam of 5").pay == ""


def test_every_budget_of_the_recorded_feed_is_read() -> None:
    found: Counter[str] = Counter()
    with shared("data/upwork/rss_items_2024-05_to_2024-08.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            job = facts(text=plain(json.loads(line)["description"]))
            found[job.period] += 1
            assert bool(job.pay) is (job.pay_max is not None)
    assert found == {"hour": 567, "fixed": 285, "": 359}  # one states its rate in a sentence


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Contractor", ["freelance"]),
        ("full_time", ["full-time"]),
        ("FullTime", ["full-time"]),
        ("Full Time, Contract", ["full-time", "freelance"]),
        ("Part-Time", ["part-time"]),
        ("Fixed-price", ["freelance"]),
        ("Fixed-term contract", ["temporary"]),
        ("Intern", ["internship"]),
        ("professional / experienced", []),
        ("", []),
    ],
)
def test_a_boards_word_for_a_kind_of_work_is_known_or_none(text, kinds) -> None:
    assert list(read_contracts(text)) == kinds


def test_a_tag_counts_only_if_it_says_nothing_else() -> None:
    assert contracts_among(("Contract Law", "Temporary works", "python")) == ()
    assert contracts_among(("python", "full_time", "Contract")) == (Contract.FULL_TIME, Contract.FREELANCE)
    assert contract_named("contractor") is Contract.FREELANCE
    assert contract_named("contract or internship") is None


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("Editor (Part-Time Contract)", ["part-time", "freelance"]),
        ("Freelance Illustrator", ["freelance"]),
        ("Tutor - Freelance Maths Coach", ["freelance"]),
        ("Translator (Freelance, 100% Remote)", ["freelance"]),
        ("Python Freelancer", ["freelance"]),
        ("Sales Contractor", ["freelance"]),
        ("Course designer-contractor", ["freelance"]),
        ("Editor - 6 month contract", ["freelance"]),
        ("Recruiter (Fixed Term)", ["temporary"]),
        ("Marketing Internship", ["internship"]),
        ("Security Working Student (m/w/d)", ["internship"]),
        ("Praktikum Grafik (m/w/d)", ["internship"]),
        ("FULL TIME: Developer", ["full-time"]),
        ("Backend Engineer, Full-time or Part-time", ["full-time", "part-time"]),
        ("Contract Manager", []),
        ("Auditor, Contract Compliance", []),
        ("Smart contract developer", []),
        ("Head of Sales, B2B", []),
        ("Freelancer Success Manager", []),
        ("Contractor Relations Lead", []),
        ("Temporary Works Engineer", []),
        ("Internal Auditor", []),
        ("Full-Stack Developer", []),
        ("Intern Coordinator", []),
        ("", []),
    ],
)
def test_a_title_names_a_kind_of_work_or_a_profession(title, kinds) -> None:
    assert list(contracts_in_title(title)) == kinds


def test_a_title_adds_to_what_the_board_says_of_a_kind_of_work() -> None:
    assert facts(title="Tutor (Freelance)", contract="Part Time").contracts == ("part-time", "freelance")
    assert facts(title="Part-time Tutor", text="Help\nBudget: $500").contracts == ("freelance", "part-time")
    assert facts(title="Tutor (Freelance)", tags=("Full-Time",)).contracts == ("full-time", "freelance")


def test_one_place_in_the_world_makes_the_others_idle() -> None:
    assert facts(countries=("Germany", "Worldwide")).countries == (WORLD,)


TEXT = st.text(max_size=200)


@PATIENT(max_examples=200)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "pay": TEXT,
            "place": TEXT,
            "text": TEXT,
            "contract": TEXT,
            "language": TEXT,
            "currency": TEXT,
            "period": TEXT,
            "tags": st.lists(TEXT, max_size=3).map(tuple),
            "countries": st.lists(TEXT, max_size=3).map(tuple),
            "pay_min": st.floats(),
            "pay_max": st.floats(),
        },
    )
)
def test_any_posting_becomes_a_job(fields) -> None:
    job = facts(**fields)
    assert (job.title, job.text) == ("", "")
    assert job.pay_min is None or job.pay_min > 0
