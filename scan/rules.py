"""The part of a search that the gates read, made comparable once for all who ask the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ledger.records import Client, Search
from scan.areas import area_named
from scan.contracts import contract_named
from scan.language import language_named
from scan.money import currency_named


@dataclass(frozen=True, slots=True)
class Rules:
    """What a search asks beyond its words. A default asks nothing."""

    sources: tuple[str, ...] = ()  # folded names of sources or boards
    max_age_h: int | None = None
    min_hourly: float | None = None
    min_fixed: float | None = None
    currency: str = ""
    countries: tuple[str, ...] = ()
    contracts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    client: Client | None = None  # the least of each
    strict: bool = False


# As kept, to see at a glance that two searches have the same rules.
asked: Callable[[Search], tuple[Any, ...]] = attrgetter(
    "sources", "max_age_h", "min_hourly", "min_fixed", "currency", "countries", "contracts", "languages",
    "min_client_rating", "min_client_spend", "min_client_hires", "payment_verified_only", "strict",
)  # fmt: skip


def rules_of(search: Search) -> Rules:
    """What is kept in other words than ours is read as far as it is understood."""
    names = dict.fromkeys(folded for name in search.sources if (folded := folded_name(name)))
    client = Client(
        rating=search.min_client_rating,
        spent=search.min_client_spend,
        hires=search.min_client_hires,
        payment_verified=True if search.payment_verified_only else None,
    )
    return Rules(
        sources=tuple(names),
        max_age_h=search.max_age_h,
        min_hourly=search.min_hourly,
        min_fixed=search.min_fixed,
        currency=currency_named(search.currency) or search.currency,
        countries=_each(area_named, search.countries),
        contracts=_each(contract_named, search.contracts),
        languages=_each(language_named, search.languages),
        client=None if client == Client() else client,
        strict=search.strict,
    )


def _each(named: Callable[[str], str | None], kept: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(named(one) or one for one in kept))


def folded_name(typed: str) -> str:
    """Of a source or board."""
    return typed.strip().casefold()
