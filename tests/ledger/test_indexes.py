"""What is searched, what Firestore indexes, and what it removes by itself: one list, kept in step."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger import collections
from ledger.collections import INDEXES
from ledger.firestore_pb import find_query, range_query

ROOT = Path(__file__).parents[2]
FILE = json.loads((ROOT / "firestore.indexes.json").read_text())
GROWING = {
    "jobs",
    "aliases",
    "fingerprints",
    "deliveries",
    "matches",
    "digests",
    "runs",
    "sign_ins",
    "sessions",
    "limits",
    "feedback",
    "spend",
}
T0 = datetime(2026, 11, 30, 8, tzinfo=UTC)
NAMES = {name: value for name, value in vars(collections).items() if name.isupper() and isinstance(value, str)}


def test_no_composite_index_is_deployed() -> None:
    assert FILE["indexes"] == []
    assert set(FILE) == {"indexes", "fieldOverrides"}


def test_the_fields_without_an_index_are_those_that_the_records_name() -> None:
    assert all(override["indexes"] == [] for override in FILE["fieldOverrides"])
    deployed = [(override["collectionGroup"], override["fieldPath"]) for override in FILE["fieldOverrides"]]
    assert len(deployed) == len(set(deployed))
    assert set(deployed) == {(name, field) for name, index in INDEXES.items() for field in index.exempt}


def test_every_growing_collection_removes_its_expired_documents_and_no_other_does() -> None:
    ttl = {(o["collectionGroup"], o["fieldPath"]) for o in FILE["fieldOverrides"] if o["ttl"]}
    assert ttl == {(name, "expire_at") for name in GROWING}


def test_no_searched_field_is_exempt_and_every_index_is_of_a_known_collection() -> None:
    assert set(INDEXES) == set(NAMES.values())
    for index in INDEXES.values():
        assert not {*index.equal, *index.ranged} & set(index.exempt)


@pytest.mark.parametrize("after", [None, "a"])
@pytest.mark.parametrize("collection", INDEXES)
def test_find_asks_for_equalities_ordered_by_name_only(collection: str, after: str | None) -> None:
    where = dict.fromkeys(INDEXES[collection].equal, "x")
    query = find_query("root", collection, where, after=after, limit=500)
    filters = query.where.composite_filter.filters
    assert {f.field_filter.field.field_path for f in filters} == set(where)
    assert {kind(query, f) for f in filters} <= {"EQUAL"}
    assert orders(query) == [("__name__", "ASCENDING")]


@pytest.mark.parametrize("after", [None, (T0, "a")])
@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("at_most", [None, T0])
def test_find_range_asks_for_one_field_and_orders_by_it_and_by_name_in_one_direction(
    after: Any, newest_first: bool, at_most: datetime | None
) -> None:
    query = range_query(
        "root", "jobs", "fresh_at", at_least=None, at_most=at_most, newest_first=newest_first, after=after, limit=500
    )
    filters = query.where.composite_filter.filters
    assert {f.field_filter.field.field_path for f in filters} == {"fresh_at"}
    assert {kind(query, f) for f in filters} <= {"GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL"}
    direction = "DESCENDING" if newest_first else "ASCENDING"
    assert orders(query) == [("fresh_at", direction), ("__name__", direction)]


def test_every_search_in_the_code_is_for_a_declared_field() -> None:
    asked = list(searches())
    assert len(asked) >= 5
    for where, call, collection, field in asked:
        known = [INDEXES[collection]] if collection else list(INDEXES.values())
        declared = {f for index in known for f in (index.ranged if call == "find_range" else index.equal)}
        assert field in declared, f"{where} searches {field}, which ledger/collections.py INDEXES does not name"


def searches() -> Iterator[tuple[str, str, str | None, str]]:
    """(place, call, collection if it is spelled there, field) of each literal search in our code."""
    for path in (p for room in ("app", "ledger", "scan", "mail") for p in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            args = node.args[1:] if name == "every" else node.args
            if name not in {"find", "find_range", "every"} or len(args) < 2:
                continue
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            collection = NAMES.get(getattr(args[0], "id", getattr(args[0], "attr", "")))
            if isinstance(args[1], ast.Constant) and isinstance(args[1].value, str):
                yield where, name, collection, args[1].value
            elif isinstance(args[1], ast.Dict):
                for key in args[1].keys:
                    if isinstance(key, ast.Constant):
                        yield where, name, collection, str(key.value)


def kind(query: Any, term: Any) -> str:
    return str(type(query).FieldFilter.Operator.Name(term.field_filter.op))


def orders(query: Any) -> list[tuple[str, str]]:
    return [(order.field.field_path, type(query).Direction.Name(order.direction)) for order in query.order_by]


def test_the_document_on_deploying_sets_the_expiry_of_every_growing_collection() -> None:
    text = (ROOT / "docs/deploy.md").read_text().replace("\\\n", " ")
    named = text.partition("for group in ")[2].partition(";")[0].split()
    assert set(named) == GROWING
