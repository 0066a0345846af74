"""Countries and regions of the world: what they are called, and whether two lists of them meet. Pure.

An area is a country (two letters, ISO 3166), a region (REGIONS) or WORLD.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

WORLD = "WORLD"
CACHED_MAX = 4096  # distinct lists of areas
TYPED_MAX_CHARS = 100

# region: (the regions of countries.txt that it holds, further countries, names)
REGIONS: Mapping[str, tuple[str, str, str]] = {
    "EU": ("eu", "", "European Union|EU countries|Europäische Union"),
    "EEA": ("eu", "NO IS LI", "European Economic Area|EEA countries"),
    "EUROPE": ("eu eur", "", "Europe|Europa|European"),
    "EMEA": ("eu eur me naf afr", "", "Europe, Middle East and Africa"),
    "DACH": ("", "DE AT CH", "DACH region"),
    "NORDICS": ("", "SE NO DK FI IS", "Nordics|Nordic countries|Scandinavia"),
    "BENELUX": ("", "BE NL LU", "Benelux"),
    "BALTICS": ("", "EE LV LT", "Baltics|Baltic states"),
    "CEE": ("", "PL CZ SK HU RO BG HR SI RS BA ME MK AL EE LV LT UA MD", "Eastern Europe|Central and Eastern Europe"),
    "AMERICAS": ("nam cam car sam", "", "Americas|The Americas|America"),
    "NORTH_AMERICA": ("", "US CA MX", "North America|Northern America"),
    "LATAM": ("cam car sam", "MX", "Latin America|Latinoamérica|América Latina|Latin America & Caribbean"),
    "SOUTH_AMERICA": ("sam", "", "South America"),
    "CENTRAL_AMERICA": ("cam", "MX", "Central America"),
    "CARIBBEAN": ("car", "", "Caribbean"),
    "ASIA": ("cas sas eas sea me", "", "Asia"),
    "APAC": ("sas eas sea oce", "", "Asia Pacific|Asia-Pacific|Asia/Pacific|APJ"),
    "SOUTHEAST_ASIA": ("sea", "", "Southeast Asia|South East Asia|ASEAN"),
    "SOUTH_ASIA": ("sas", "", "South Asia"),
    "MIDDLE_EAST": ("me", "TR EG CY", "Middle East"),
    "MENA": ("me naf", "TR", "Middle East and North Africa"),
    "GCC": ("", "AE SA QA KW BH OM", "Gulf states"),
    "AFRICA": ("afr naf", "", "Africa"),
    "OCEANIA": ("oce", "", "Oceania"),
    "ANZ": ("", "AU NZ", "Australia and New Zealand"),
}
_WORD = re.compile(r"[^\W_]+")
_LONG_RUN = re.compile(r"([^\w\s\x00-\x7f]{30})[^\w\s\x00-\x7f]+")  # of marks: normalisation is quadratic in it


@dataclass(frozen=True, slots=True)
class Atlas:
    by_name: Mapping[str, tuple[str, ...]]  # as `spelled`
    by_code: Mapping[str, tuple[str, ...]]  # of two and three capitals
    names: Mapping[str, str]  # area -> what we call it
    countries: Mapping[str, frozenset[str]]  # area -> the countries in it


def area_named(typed: str) -> str | None:
    """The one area that somebody calls so: `Germany`, `de`, `LATAM`, `usa`. None: unknown, or more than one."""
    name = spelled(folded(typed[:TYPED_MAX_CHARS]))
    table = atlas()
    areas = table.by_code.get(name.replace(" ", "").upper()) or table.by_name.get(name, ())
    own = [area for area in areas if spelled(folded(table.names.get(area, ""))) == name]
    if len(areas) == 1:
        return areas[0]
    return own[0] if len(own) == 1 else None


def is_area(text: str) -> bool:
    """Whether it is the code or the own name of a country or region, not of a town in it."""
    area = area_named(text)
    own = spelled(folded(text))
    return area is not None and (text.strip().upper() in atlas().by_code or own == spelled(folded(named(area))))


def meet(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether somebody who may work in one of `mine` may take work that is open to `theirs`. Both are known."""
    return WORLD in mine or WORLD in theirs or not _countries(mine).isdisjoint(_countries(theirs))


def are_known(areas: tuple[str, ...]) -> bool:
    return any(area == WORLD or area in atlas().names for area in areas)


def named(area: str) -> str:
    """`Germany`, `Latin America`; an area that we do not know as it is."""
    return "anywhere" if area == WORLD else atlas().names.get(area, area)


@lru_cache(maxsize=CACHED_MAX)
def _countries(areas: tuple[str, ...]) -> frozenset[str]:
    of = atlas().countries
    return frozenset(country for area in areas for country in of.get(area, ()))


def folded(text: str) -> str:
    """In small letters without accents: `Cote d'Ivoire` is written in many ways."""
    apart = unicodedata.normalize("NFKD", _LONG_RUN.sub(r"\1", text))
    return "".join(c for c in apart if not unicodedata.combining(c)).casefold()


def spelled(text: str) -> str:
    """Its words, with one space between."""
    return " ".join(_WORD.findall(text))


@cache
def atlas() -> Atlas:
    by_name: dict[str, dict[str, None]] = {}
    by_code = {"UK": ("GB",), "UAE": ("AE",), "EU": ("EU",)}
    called: dict[str, str] = {}
    regions: dict[str, set[str]] = {}
    countries: dict[str, frozenset[str]] = {}
    for line in files("scan").joinpath("countries.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, long_code, region, names = line.split(" ", 3)
        by_code[code] = by_code[long_code] = (code,)
        called[code] = names.partition("|")[0]
        regions.setdefault(region, set()).add(code)
        countries[code] = frozenset((code,))
        for name in names.split("|"):
            by_name.setdefault(spelled(folded(name)), {})[code] = None
    for region, (held, further, names) in REGIONS.items():
        called[region] = names.partition("|")[0]
        countries[region] = frozenset(further.split()).union(*(regions[part] for part in held.split()))
        for name in (region.replace("_", " "), *names.split("|")):
            by_name.setdefault(spelled(folded(name)), {})[region] = None
    return Atlas({name: tuple(areas) for name, areas in by_name.items()}, by_code, called, countries)
