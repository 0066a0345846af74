"""The matcher against a slow and plain one, on texts made of what goes wrong."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from ledger.records import Client, Search
from scan.match import Fit, Matcher, NoFit, decide
from scan.reasons import Why
from tests.scan.match import reference
from tests.scan.match.people import NOW, PATIENT, a_job, a_user
from tests.scan.match.reference_words import stands_in, usable

BITS = [
    *"cCrRgGoOaqİIıißéÉ7_東ひ",
    "\u0301",
    "\u0307",
    "\u00ad",
    "\u2011",
    *"++##&&..--  (\n",
    "Go",
    "C++",
    "R&D",
    "java",
    ".NET",
]
PIECES = st.lists(st.sampled_from(BITS), max_size=7).map("".join)
SPELLED = ["full stack", "Full-Stack", "fullstack", "node.js", "NodeJS", "node js dev", "ui/ux", "UX & UI", "ux and ui"]
SPELLED += [
    "ui ux lead",
    "golang",
    "dotnet",
    "sql/css",
    "css/ sql",
    "e-mail",
    "email",
    "full",
    "stack",
    "and",
    "&",
    "js",
]
WORDS = st.one_of(
    PIECES,
    st.sampled_from(["go", "c", "c#", "c++", "r&d", "r", "java", ".net", "java c", "東"]),
    st.sampled_from(SPELLED),
    st.lists(st.sampled_from(SPELLED), min_size=2, max_size=2).map(" ".join),
)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from([" ", "-", ", ", "/"])), max_size=14).map("".join)
SKILLS = ["java", "Go", "C++", "sql", "agencies", "full stack", "c"]


def with_list(both: tuple[str, list[str]]) -> str:
    return f"{both[0]}\nSkills: {', '.join(both[1])}"


@st.composite
def keyword_and_text(draw):
    """Half of the keywords are cut out of the text, so that many are found."""
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    cut = text[start : start + draw(st.integers(1, 8))]
    return draw(st.one_of(WORDS, st.just(cut), st.just(cut.swapcase()))), text


SEARCHES = st.builds(
    Search,
    keywords=st.lists(WORDS, max_size=4).map(tuple),
    must=st.one_of(st.just(()), st.lists(WORDS, max_size=2).map(tuple)),
    exclude=st.one_of(st.just(()), st.lists(WORDS, max_size=2).map(tuple)),
    max_age_h=st.sampled_from([None, None, None, 5]),
    sources=st.sampled_from([(), (), (), ("upwork",), ("Greenhouse",), ("GREENHOUSE:gitlab", ""), (" ",)]),
    min_hourly=st.sampled_from([None, None, 10.0, 60.0]),
    min_fixed=st.sampled_from([None, None, 500.0]),
    currency=st.sampled_from(["USD", "EUR"]),
    countries=st.sampled_from([(), (), ("DE",), ("US",), ("EU", "US")]),
    contracts=st.sampled_from([(), (), ("freelance",)]),
    languages=st.sampled_from([(), (), ("en",)]),
    min_client_rating=st.sampled_from([None, None, 4.0]),
    payment_verified_only=st.sampled_from([False, False, True]),
    strict=st.sampled_from([False, False, True]),
)
PEOPLE = st.lists(st.lists(SEARCHES, max_size=3), min_size=1, max_size=6).map(
    lambda all_: [a_user(f"u{n}", **{f"s{i}": s for i, s in enumerate(some)}) for n, some in enumerate(all_)]
)
JOBS = st.builds(
    a_job,
    TEXTS,
    st.one_of(TEXTS, st.tuples(TEXTS, st.lists(st.sampled_from(SKILLS), min_size=1)).map(with_list)),
    age_h=st.sampled_from([1, 5, 6]),
    platform=st.sampled_from(["upwork", "greenhouse:gitlab"]),
    published_at=st.sampled_from([None, None, NOW - timedelta(hours=5), NOW - timedelta(hours=6)]),
    pay_min=st.sampled_from([None, 5.0, 50.0]),
    pay_max=st.sampled_from([None, 50.0, 600.0, 1e5, 2e5]),
    currency=st.sampled_from(["USD", "USD", "EUR", ""]),
    period=st.sampled_from(["hour", "year", "fixed", ""]),
    countries=st.sampled_from([(), ("DE",), ("US",), ("WORLD",)]),
    contracts=st.sampled_from([(), ("freelance",), ("full-time",)]),
    language=st.sampled_from(["", "en", "de"]),
    client=st.sampled_from([None, Client(rating=4.5, payment_verified=True), Client(payment_verified=False)]),
)


@PATIENT(max_examples=400)
@given(keyword_and_text())
def test_a_keyword_is_found_where_the_plain_reading_finds_it(pair):
    keyword, text = pair
    user = a_user("u", only=Search(keywords=(keyword,)))
    assert isinstance(decide(user, a_job("", text), now=NOW), Fit) is (usable(keyword) and stands_in(keyword, text))


@PATIENT(max_examples=150)
@given(PEOPLE, JOBS)
def test_everyone_gets_what_the_plain_loop_gives(people, job):
    expected = {u.uid: best for u in people if (best := reference.best(u, job, NOW))}
    fits = Matcher.of(iter(people)).match(job, now=NOW)
    assert {f.uid: (f.search, f.score) for f in fits} == expected
    assert [f.uid for f in fits] == list(expected)


@PATIENT(max_examples=100)
@given(PEOPLE, JOBS)
def test_one_pair_is_decided_as_all_are(people, job):
    together = {f.uid: f for f in Matcher.of(people).match(job, now=NOW)}
    explained = {d.uid: d for d in Matcher.of(people).explain(job, now=NOW)}
    for user in people:
        alone = decide(user, job, now=NOW)
        if isinstance(alone, NoFit):
            assert user.uid not in together
            assert alone.detail
            assert explained.get(user.uid, alone) == alone
            assert (alone.why is Why.NO_KEYWORDS) is (user.uid not in explained)
        else:
            assert together[user.uid] == explained[user.uid] == alone
