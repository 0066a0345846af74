"""The first line of a post in which somebody hires: its parts under what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.places import read_places
from scan.sources.hiring_line import HiringLine, read_line
from tests.scan.match.people import PATIENT


@pytest.mark.parametrize(
    ("line", "company", "roles", "place", "contract", "pay"),
    [
        (
            "Acme | Site Engineer | Remote (EMEA) | Permanent (Full-time) | Salary up to $95,000 + shares",
            "Acme", "Site Engineer", "Remote (EMEA)", "Permanent (Full-time)", "Salary up to $95,000 + shares",
        ),
        ("Acme | Lyon, France | Onsite | Designer | Contract", "Acme", "Designer", "Lyon, France, Onsite", "Contract",
         ""),
        ("Acme | €70k-€90k | Backend Engineer, Payments | Berlin", "Acme", "Backend Engineer, Payments", "Berlin", "",
         "€70k-€90k"),
        ("Acme | https://acme.example | Data Scientist | REMOTE | Visa sponsored", "Acme", "Data Scientist", "REMOTE",
         "", ""),
        ("Paris | Writer | Editor | Remote", "Paris", "Writer | Editor", "Remote", "", ""),
        ("REMOTE | Acme | Rust Developer", "Acme", "Rust Developer", "REMOTE", "", ""),
        ("Remote | React developer", "", "React developer", "Remote", "", ""),
        ("Acme | Engineer (Remote, US) | Part-time", "Acme", "Engineer (Remote, US)", "Engineer (Remote, US)",
         "Part-time", ""),
        ("Acme | Head of Sales, US | Remote", "Acme", "Head of Sales, US", "Remote", "", ""),
        ("Acme | Engineer | raised $20M", "Acme", "Engineer | raised $20M", "", "", ""),
        ("Acme |  | Engineer |", "Acme", "Engineer", "", "", ""),
        ("We hire a developer", "", "We hire a developer", "", "", ""),
        ("Developer, remote, $80/hr", "", "Developer, remote, $80/hr", "Developer, remote, $80/hr", "",
         "Developer, remote, $80/hr"),
        ("", "", "", "", "", ""),
    ],
)  # fmt: skip
def test_every_part_is_what_it_says_and_the_roles_are_the_rest(line, company, roles, place, contract, pay) -> None:
    assert read_line(line) == HiringLine(company, roles, place, contract, pay)


@pytest.mark.parametrize(
    ("line", "areas"),
    [
        ("Acme | Writer | New York, NY | Onsite", ("US",)),
        ("Acme | Writer | Remote | US", ("US",)),
        ("Acme | Writer | Peru | Fully remote", ("PE",)),
        ("Acme | Writer | Berlin | Remote", ()),
        ("Acme | Writer | Berlin | Remote (EU)", ("DE", "EU")),
        ("Acme | Writer | Worldwide", ("WORLD",)),
    ],
)
def test_places_are_joined_as_they_are_meant(line, areas) -> None:
    assert read_places(read_line(line).place) == areas


@pytest.mark.parametrize(
    ("line", "following", "company", "roles"),
    [
        ("Acme Labs", "Open roles: • Tutors • Editors", "Acme Labs", "Tutors • Editors"),
        ("Acme", "Hiring: a tutor", "Acme", "a tutor"),
        ("Acme Labs", "We build things.", "", "Acme Labs"),
        ("Senior Developer", "Open roles: one", "", "Senior Developer"),
        ("Acme " * 20, "Open roles: one", "", ("Acme " * 20).strip()),
    ],
)
def test_a_line_alone_is_the_company_if_roles_follow(line, following, company, roles) -> None:
    found = read_line(line, following)
    assert (found.company, found.roles) == (company, roles)


PARTS = st.sampled_from(["|", "Remote", "Onsite", "US", "Acme", "$90k", "Full-time", "Engineer", " ", "\u202e", "("])


@PATIENT(max_examples=200)
@given(st.lists(PARTS, max_size=30).map(" ".join), st.text(max_size=80))
def test_any_line_is_read(line, following) -> None:
    assert "|" not in read_line(line, following).company
