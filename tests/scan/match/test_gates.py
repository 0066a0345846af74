"""What a search asks beyond its words: each gate with what is known, unknown, and asked strictly."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.records import Client, Job, Search
from scan.gates import GATES, refused
from scan.match import Fit, NoFit, decide
from scan.pay import Period, converted, parse_pay
from scan.reasons import HOW_FAR, Why
from scan.rules import Rules, asked, rules_of
from tests.scan.match.people import NOW, PATIENT, a_job, looking_for, table


def said(job: Job, **asked_for: Any) -> str:
    """`fits: REASON`, or why not and in which words."""
    decision = decide(looking_for("python", **asked_for), replace(job, title="Python"), now=NOW)
    return f"fits: {decision.reason}" if isinstance(decision, Fit) else f"{decision.why}: {decision.detail}"


def paying(text: str) -> Job:
    pay = parse_pay(text)
    assert pay is not None
    return a_job(pay=text, pay_min=pay.low, pay_max=pay.high, currency=pay.currency, period=pay.period or "")


def why(job: Job, **asked_for: Any) -> Why | None:
    decision = decide(looking_for("python", **asked_for), replace(job, title="Python"), now=NOW)
    return decision.why if isinstance(decision, NoFit) else None


@pytest.mark.parametrize(
    ("text", "asked_for", "expected"),
    [
        # the upper end of a range reaches the floor
        ("$40 - $60 an hour", {"min_hourly": 60}, None),
        ("$40 - $60 an hour", {"min_hourly": 60.01}, Why.PAY_TOO_LOW),
        ("up to $60 an hour", {"min_hourly": 60, "strict": True}, None),
        ("up to $59 an hour", {"min_hourly": 60}, Why.PAY_TOO_LOW),
        ("from $10 an hour", {"min_hourly": 60}, None),
        ("from $10 an hour", {"min_hourly": 60, "strict": True}, Why.PAY_UNKNOWN),
        ("from $60 an hour", {"min_hourly": 60, "strict": True}, None),
        # one conversion for all periods
        ("$104,000 a year", {"min_hourly": 50}, None),
        ("$103,900 a year", {"min_hourly": 50}, Why.PAY_TOO_LOW),
        ("$400 a day", {"min_hourly": 50}, None),
        ("$1,999 a week", {"min_hourly": 50}, Why.PAY_TOO_LOW),
        # rates and fixed prices have a floor each
        ("$100 fixed", {"min_hourly": 50, "strict": True}, None),
        ("$100 fixed", {"min_fixed": 500}, Why.PAY_TOO_LOW),
        ("$500 fixed", {"min_fixed": 500, "strict": True}, None),
        ("$10 an hour", {"min_fixed": 500, "strict": True}, None),
        # unknown, or in another currency
        ("$500", {"min_hourly": 600}, None),
        ("$500", {"min_hourly": 60, "strict": True}, Why.PAY_UNKNOWN),
        ("EUR 10 an hour", {"min_hourly": 60}, None),
        ("EUR 10 an hour", {"min_hourly": 60, "strict": True}, Why.PAY_UNKNOWN),
        ("EUR 10 an hour", {"min_hourly": 60, "currency": "EUR"}, Why.PAY_TOO_LOW),
        ("kr 500 an hour", {"min_hourly": 600}, None),
        ("kr 500 an hour", {"min_hourly": 60, "strict": True}, Why.PAY_UNKNOWN),
        # nothing is asked
        ("$1 an hour", {"strict": True}, None),
    ],
)
def test_pay(text, asked_for, expected) -> None:
    assert why(paying(text), **asked_for) is expected


def test_a_missing_budget_fails_nobody_but_the_strict() -> None:
    assert said(a_job(), min_hourly=60) == "fits: python in the title; pay not stated"
    assert said(a_job(pay="competitive"), min_hourly=60) == "fits: python in the title; pay not stated clearly"
    assert said(a_job(), min_hourly=60, strict=True) == "pay_unknown: its pay is not stated clearly"


def test_what_the_gate_saw_is_what_is_told() -> None:
    assert said(paying("$80k - $104k a year"), min_hourly=50) == (
        "fits: python in the title; pays USD 80,000 - 104,000 a year, which is USD 38.46 - 50 an hour"
    )
    assert said(paying("$60/hr"), min_hourly=50) == "fits: python in the title; pays USD 60 an hour"
    assert said(paying("$100,000 per year"), min_hourly=50) == (
        "pay_too_low: it pays USD 100,000 a year, which is USD 48.08 an hour; the least is USD 50 an hour"
    )
    assert said(paying("$500"), min_hourly=50) == "fits: python in the title; pays USD 500, period not stated"
    assert said(paying("$60/hr")) == "fits: python in the title"


def test_pay_that_reads_like_the_floor_is_not_under_it() -> None:
    """100,000 a year is 48.0769 an hour, shown as 48.08."""
    assert why(paying("$100,000 a year"), min_hourly=48.08) is None
    assert why(paying("$48.08/hr"), min_hourly=100_000 / 2080) is None


def test_the_table_of_two_constants_is_decided_alike_in_every_period() -> None:
    case: Any = table("B122")
    amount, period = case["user_min"]["amount"], Period(case["user_min"]["period"])
    floor = converted(amount, period, Period.HOUR)
    currency = case["user_min"]["currency"]
    assert [why(paying(text), min_hourly=floor, currency=currency) for text in case["jobs"]] == [None, None, None]
    assert why(paying("$47/hr"), min_hourly=floor, currency=currency) is Why.PAY_TOO_LOW
    assert why(paying("$47/hr"), min_hourly=floor, currency="EUR") is None


@pytest.mark.parametrize(
    ("countries", "asked_for", "expected"),
    [
        (("DE",), {"countries": ("DE",)}, None),
        (("EU",), {"countries": ("DE",)}, None),
        (("DE",), {"countries": ("EU",)}, None),
        (("US", "CA"), {"countries": ("EU",)}, Why.OTHER_COUNTRY),
        (("WORLD",), {"countries": ("DE",), "strict": True}, None),
        ((), {"countries": ("DE",)}, None),
        ((), {"countries": ("DE",), "strict": True}, Why.COUNTRY_UNKNOWN),
        (("US",), {"strict": True}, None),
        (("US",), {"countries": ("Germany",)}, Why.OTHER_COUNTRY),
        (("US",), {"countries": ("Atlantis",)}, None),
    ],
)
def test_country(countries, asked_for, expected) -> None:
    assert why(a_job(countries=countries), **asked_for) is expected


@pytest.mark.parametrize(
    ("contracts", "asked_for", "expected"),
    [
        (("freelance",), {"contracts": ("freelance", "part-time")}, None),
        (("full-time",), {"contracts": ("freelance", "part-time")}, Why.OTHER_CONTRACT),
        (("full-time", "freelance"), {"contracts": ("freelance",)}, None),
        ((), {"contracts": ("freelance",)}, None),
        ((), {"contracts": ("freelance",), "strict": True}, Why.CONTRACT_UNKNOWN),
        (("full-time",), {"contracts": ("contractor",)}, Why.OTHER_CONTRACT),
        # part-time are the hours, and no word on the standing
        (("part-time",), {"contracts": ("freelance",)}, None),
        (("part-time",), {"contracts": ("temporary",)}, None),
        (("part-time",), {"contracts": ("freelance",), "strict": True}, Why.CONTRACT_UNKNOWN),
        (("part-time",), {"contracts": ("full-time",)}, Why.OTHER_CONTRACT),
        (("part-time",), {"contracts": ("internship",)}, Why.OTHER_CONTRACT),
        (("part-time", "internship"), {"contracts": ("freelance",)}, Why.OTHER_CONTRACT),
        (("full-time", "part-time"), {"contracts": ("freelance",)}, Why.OTHER_CONTRACT),
    ],
)
def test_kind_of_work(contracts, asked_for, expected) -> None:
    assert why(a_job(contracts=contracts), **asked_for) is expected


NEW = Client(spent=0, hires=0, payment_verified=False)
GOOD = Client(rating=4.5, spent=10_000, hires=20, payment_verified=True)


@pytest.mark.parametrize(
    ("client", "asked_for", "expected"),
    [
        (GOOD, {"min_client_rating": 4.5, "min_client_spend": 10_000, "min_client_hires": 20}, None),
        (GOOD, {"payment_verified_only": True, "strict": True}, None),
        (GOOD, {"min_client_rating": 4.6}, Why.CLIENT_TOO_LOW),
        (GOOD, {"min_client_spend": 10_001}, Why.CLIENT_TOO_LOW),
        (GOOD, {"min_client_hires": 21}, Why.CLIENT_TOO_LOW),
        (NEW, {"min_client_rating": 4.5}, None),
        (NEW, {"min_client_rating": 4.5, "strict": True}, Why.CLIENT_UNKNOWN),
        (NEW, {"min_client_hires": 1}, Why.CLIENT_TOO_LOW),
        (NEW, {"payment_verified_only": True}, Why.CLIENT_TOO_LOW),
        (None, {"min_client_rating": 4.5, "payment_verified_only": True}, None),
        (None, {"payment_verified_only": True, "strict": True}, Why.CLIENT_UNKNOWN),
        (NEW, {"strict": True}, None),
    ],
)
def test_client(client, asked_for, expected) -> None:
    assert why(a_job(client=client), **asked_for) is expected


@pytest.mark.parametrize(
    ("language", "asked_for", "expected"),
    [
        ("en", {"languages": ("en",)}, None),
        ("de", {"languages": ("en",)}, Why.OTHER_LANGUAGE),
        ("de", {"languages": ("en", "German")}, None),
        ("", {"languages": ("en",)}, None),
        ("", {"languages": ("en",), "strict": True}, Why.LANGUAGE_UNKNOWN),
    ],
)
def test_language(language, asked_for, expected) -> None:
    assert why(a_job(language=language), **asked_for) is expected


def test_every_refusal_is_a_sentence_for_people() -> None:
    assert said(a_job(countries=("US", "CA")), countries=("DE", "EU")) == (
        "other_country: the worker must be in United States, Canada, not in Germany, European Union"
    )
    assert (
        said(a_job(contracts=("full-time",)), contracts=("freelance",))
        == "other_contract: it is full-time, not freelance"
    )
    assert said(a_job(contracts=("part-time",)), contracts=("freelance", "temporary"), strict=True) == (
        "contract_unknown: it is part-time, and does not say whether freelance, temporary"
    )
    assert said(a_job(client=GOOD), min_client_rating=4.75) == (
        "client_too_low: the client's rating is 4.50, the least is 4.75"
    )
    assert said(a_job(), min_client_rating=4, payment_verified_only=True, strict=True) == (
        "client_unknown: it does not tell the client's rating, way of paying"
    )
    assert said(a_job(language="de"), languages=("en",)) == "other_language: it is in German, not in English"


def test_every_field_of_a_search_is_a_word_or_among_the_rules() -> None:
    words, for_the_model = {"keywords", "must", "exclude"}, {"ai", "about", "ai_threshold"}
    names = [field.name for field in fields(Search) if field.name not in words | for_the_model]
    values: dict[str, Any] = {name: name for name in names}
    odd = Search(**values)
    assert set(asked(odd)) == set(names)
    assert rules_of(Search()) == Rules(currency="USD")
    assert set(HOW_FAR) == set(Why)


MAYBE = st.sampled_from([None, 1.0, 50.0, 100.0])
SEARCHES = st.builds(
    Search,
    min_hourly=MAYBE,
    min_fixed=MAYBE,
    currency=st.sampled_from(["USD", "EUR"]),
    countries=st.sampled_from([(), ("DE",), ("EU", "US"), ("??",)]),
    contracts=st.sampled_from([(), ("freelance",)]),
    languages=st.sampled_from([(), ("en",)]),
    min_client_rating=st.sampled_from([None, 4.0]),
    min_client_hires=st.sampled_from([None, 1]),
    payment_verified_only=st.booleans(),
    max_age_h=st.sampled_from([None, 5]),
)
JOBS = st.builds(
    a_job,
    pay_min=MAYBE,
    pay_max=MAYBE,
    currency=st.sampled_from(["", "USD", "EUR", "?"]),
    period=st.sampled_from(["", "hour", "year", "fixed", "fortnight"]),
    countries=st.sampled_from([(), ("DE",), ("US",), ("WORLD",), ("??",)]),
    contracts=st.sampled_from([(), ("freelance",), ("full-time",), ("part-time",)]),
    language=st.sampled_from(["", "en", "de"]),
    client=st.one_of(st.none(), st.builds(Client, st.sampled_from([None, 3.0, 5.0]), payment_verified=st.booleans())),
    age_h=st.sampled_from([1, 6]),
)


@PATIENT(max_examples=400)
@given(SEARCHES, JOBS)
def test_strict_refuses_whatever_lenient_refuses_and_else_only_what_is_unknown(search, job) -> None:
    lenient, strict = (refused(rules_of(replace(search, strict=strict)), job, NOW) for strict in (False, True))
    if lenient:
        assert strict
        assert not lenient.why.endswith("_unknown")
    elif strict:
        assert strict.why.endswith("_unknown")
        assert strict.detail


@PATIENT(max_examples=200)
@given(JOBS, st.booleans())
def test_who_asks_nothing_gets_everything(job, strict) -> None:
    assert refused(rules_of(Search(strict=strict)), job, NOW) is None
    unknown = a_job()
    assert all(gate(rules_of(Search(min_hourly=1e6, countries=("DE",))), unknown, NOW) is None for gate in GATES)


@PATIENT(max_examples=200)
@given(JOBS, st.floats(0.01, 1e6), st.floats(0.01, 1e6))
def test_a_lower_floor_never_refuses_what_a_higher_one_lets_pass(job, one, other) -> None:
    low, high = (
        refused(rules_of(Search(min_hourly=floor, min_fixed=floor)), job, NOW) for floor in sorted((one, other))
    )
    assert high or not low
