"""Where the worker may be: what boards write, to countries and regions, or to unknown."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.areas import WORLD, are_known, area_named, atlas, meet, named
from scan.places import areas_of, read_places, remote_places
from tests.scan.match.people import PATIENT
from tests.shared import shared


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        # as recorded on boards
        ("Anywhere in the World", {WORLD}),
        ("Worldwide", {WORLD}),
        ("Global", {WORLD}),
        ("Anywhere", {WORLD}),
        ("Anywhere in the World, Germany", {WORLD}),
        ("Remote", set()),
        ("", set()),
        ("Remote, Italy", {"IT"}),
        ("Remote, US", {"US"}),
        ("Remote (US)", {"US"}),
        ("US only", {"US"}),
        ("us", {"US"}),
        ("Japan - Remote", {"JP"}),
        ("EMEA,  LATAM,  Canada,  USA", {"EMEA", "LATAM", "CA", "US"}),
        ("USA, CST (UTC-6)", {"US"}),
        ("Americas, Europe, Asia, Africa, Oceania", {"AMERICAS", "EUROPE", "ASIA", "AFRICA", "OCEANIA"}),
        ("Northern America, Europe, UK, France, European timezones", {"NORTH_AMERICA", "EUROPE", "GB", "FR"}),
        ("Adelaide, Adelaide, South Australia, Australia", {"AU"}),
        ("Austin, Austin, Texas, United States", {"US"}),
        ("Only freelancers located in the U.S. may apply.", {"US"}),
        ("Virgin Islands, British", {"VG"}),
        ("Congo, The Democratic Republic of the", {"CD"}),
        ("GBR", {"GB"}),
        ("Anywhere in the US", {"US"}),
        # names within names
        ("New Mexico", {"US"}),
        ("Guinea-Bissau", {"GW"}),
        ("Papua New Guinea", {"PG"}),
        ("South Sudan", {"SS"}),
        ("Cote d’Ivoire", {"CI"}),
        ("São Paulo", {"BR"}),
        ("Heidelberg, Onsite", {"DE"}),
        ("Nassau", {"BS"}),
        ("Distrito Nacional", {"DO"}),
        # what may be two things is both
        ("Georgia", {"GE", "US"}),
        ("Springfield, GA", {"GA", "US"}),
        # but for what the neighbours tell
        ("Atlanta, GA", {"US"}),
        ("San Francisco, CA", {"US"}),
        ("Denver, CO; Chicago, IL", {"US"}),
        ("USA - TN", {"US"}),
        ("Toronto, CA", {"CA"}),
        ("Remote India, IN", {"IN"}),
        ("Tbilisi, GA", {"GE", "GA", "US"}),
        # clocks are no places
        ("USA (EST)", {"US"}),
        ("USA, EST", {"US"}),
        ("Remote (PT)", set()),
        ("California (PT)", {"US"}),
        ("Canada (EST/PST)", {"CA"}),
        ("Brazil, ET time", {"BR"}),
        ("Lisbon, PT", {"PT"}),
        # what cannot be read without guessing is unknown
        ("Schilda", set()),
        ("Onsite", set()),
        ("Ulm / Berlin", set()),
        ("San Francisco or Remote", set()),
        ("San Francisco or Berlin", {"US", "DE"}),
        ("Remote (US, CA)", {"US", "CA"}),
        ("US, CA, MX", {"US", "CA", "MX"}),
        ("Remote: US, IN, UK", {"US", "IN", "GB"}),
        ("Worldwide, except the US", set()),
        ("Remote (not in Germany)", set()),
        ("European timezones", set()),
        ("client in Germany", set()),
        ("Germany, Austria, Switz…", set()),
    ],
)
def test_a_place_is_read_as_areas_or_unknown(text, areas) -> None:
    assert set(read_places(text)) == areas


@pytest.mark.parametrize(
    ("line", "areas"),
    [
        ("Remote - US", {"US"}),
        ("Peru, Remote; Chile, Remote", {"PE", "CL"}),
        ("London, Remote-US", {"GB", "US"}),
        ("Texas, USA, Remote", {"US"}),
        ("Remote in Lisbon", {"PT"}),
        ("Atlantis; Remote - EMEA", {"EMEA"}),
        ("London", set()),
        ("Remote", set()),
        ("London, Chicago, Remote", set()),
        ("London, Remote; Remote", set()),
        ("Remote, except in the US", set()),
    ],
)
def test_remote_work_has_a_place_only_where_the_line_gives_it_one(line, areas) -> None:
    assert set(remote_places(line)) == areas


def test_every_area_is_read_from_its_own_code() -> None:
    assert [area for area in atlas().names if areas_of((area,)) != (area,)] == []


def test_a_list_with_one_unknown_place_is_unknown() -> None:
    assert areas_of(("Germany", "Austria")) == ("DE", "AT")
    assert areas_of(("Germany", "Atlantis")) == ()
    assert areas_of(("Germany", "Worldwide")) == (WORLD,)
    assert areas_of(()) == ()


def test_every_recorded_country_is_known() -> None:
    told: set[str] = set()
    for name in ("himalayas_60of500_2026-08-03", "himalayas_2026-07"):
        found = json.loads(shared(f"data/boards/{name}.json").read_text("utf-8"))
        jobs = found if isinstance(found, list) else found["jobs"]
        told |= {country for job in jobs for country in job["locationRestrictions"] or ()}
    assert len(told) > 140
    assert {country: read_places(country) for country in told if len(read_places(country)) != 1} == {
        "Georgia": ("GE", "US")
    }


def test_every_country_of_the_standard_is_there_once() -> None:
    table = files("tzdata").joinpath("zoneinfo/iso3166.tab").read_text("utf-8")
    codes = {line.split("\t")[0] for line in table.splitlines() if line and not line.startswith("#")}
    lines = files("scan").joinpath("countries.txt").read_text("utf-8").splitlines()
    ours = [line.split(" ")[0] for line in lines if not line.startswith("#")]
    assert len(ours) == len(set(ours))
    assert set(ours) == codes | {"XK"}
    assert len({line.split(" ")[1] for line in lines if not line.startswith("#")}) == len(ours)


@pytest.mark.parametrize("typed", ["Germany", "germany", "de", "DE", "deu", "Deutschland", "Allemagne"])
def test_a_country_has_many_names(typed) -> None:
    assert area_named(typed) == "DE"


def test_every_area_goes_by_its_own_name_and_code() -> None:
    assert {area: area_named(named(area)) for area in atlas().names if area_named(named(area)) != area} == {}
    assert [area for area in atlas().names if area_named(area.replace("_", " ")) != area] == []
    assert [area for area, countries in atlas().countries.items() if not countries] == []
    assert {"DE", "AT", "CH"} == atlas().countries["DACH"]
    assert area_named("Atlantis") is None
    assert area_named("") is None


def test_areas_meet_where_they_share_a_country() -> None:
    assert meet(("DE",), ("EU",))
    assert meet(("EU",), ("DE",))
    assert meet(("EUROPE",), ("EMEA", "US"))
    assert meet(("US",), (WORLD,))
    assert not meet(("CH",), ("EU",))
    assert not meet(("EU",), ("US", "CA"))
    assert not are_known(("??",))


@PATIENT(max_examples=500)
@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(
    ["US", "us", "EU", "Remote", "Germany", ",", "/", " or ", "(", ")", "not", " ", "in", "Georgia", "GA", "\u0301",
     "İ", "ß", "\ud800", "UTC", "(EST/PT)", "IN"]), max_size=40).map("".join)))  # fmt: skip
def test_any_text_is_areas_or_unknown(text) -> None:
    for areas in (read_places(text), remote_places(text)):
        assert all(area == WORLD or area in atlas().names for area in areas)
        assert len(set(areas)) == len(areas)


@pytest.mark.parametrize(
    "unit", ["a" * 50, "US, ", "\u0315\u0300", "Guinea ", "(", "/", "- ", "(EST", "EST/", "EST or ", "X, CA, "]
)
def test_a_long_text_is_read(unit) -> None:
    """The suite's own time limit is the bound."""
    read_places(unit * 200_000)
    remote_places(unit * 200_000 + "remote")
    remote_places("remote" + unit * 200_000)


def test_regions_are_told_by_name() -> None:
    assert [named(area) for area in ("DE", "LATAM", WORLD, "??")] == ["Germany", "Latin America", "anywhere", "??"]
