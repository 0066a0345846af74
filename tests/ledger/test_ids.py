"""Golden strings of every id: a changed one would mail known jobs again, or lose a user."""

from __future__ import annotations

import json
import re

import pytest

from ledger import ids
from ledger.store import Store
from ledger.values import ID_MAX_BYTES, check_id
from tests.shared import shared

UID = "dXNlckBleGFtcGxlLmNvbQ"  # printf user@example.com | base64
HASH = "6bc8cc07123b5b0b53de5bdd3efed154"  # printf 'upwork\n01ba65a17a3ce250bb' | sha256sum


def test_the_id_of_everything_is_spelled_like_this() -> None:
    assert ids.uid_of("user@example.com") == UID
    assert ids.job_id("upwork", "01ba65a17a3ce250bb") == f"j1{HASH}"
    assert ids.pair_id(UID, f"j1{HASH}") == f"{UID}_j1{HASH}"
    assert ids.digest_id(UID, "2026-11-30") == f"{UID}_2026-11-30"
    assert ids.digest_id(UID, "2026-W49") == f"{UID}_2026-W49"
    assert ids.alias_id("feed:My board", "guid:x") == "a1dd80e27b618db0ee80e7bfc4c1f1fda5"
    assert ids.fingerprint_id("acme|python developer|we need") == "f15982bd448f7d17b7702d68dff2669acf"
    assert ids.source_hash("01ba65a17a3ce250bb") == "47ee7f7fe445f36e"
    assert ids.outside_id("0" * 32) == "84e0c0eafaa95a34c293f278ac52e45c"


def test_the_same_native_id_on_two_boards_is_two_jobs() -> None:
    assert ids.job_id("greenhouse:gitlab", "1") != ids.job_id("greenhouse:other", "1")


def test_a_job_id_has_34_characters_and_no_underscore_or_slash() -> None:
    for native in ("", "x", "a/b_c", "求" * 2000, "\ud800"):
        assert re.fullmatch(r"j1[0-9a-f]{32}", ids.job_id("feed:x", native))


def test_a_pair_is_split_at_its_last_underscore() -> None:
    uid = ids.uid_of("ab?c@example.com")
    assert "_" in uid
    assert ids.split_pair(ids.pair_id(uid, f"j1{HASH}")) == (uid, f"j1{HASH}")


def test_nonces_are_fresh_and_carry_no_meaning() -> None:
    made = {ids.new_nonce() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{32}", nonce) for nonce in made)


def test_an_outside_id_tells_nothing_of_the_address_inside() -> None:
    outside = ids.outside_id(ids.digest_id(UID, "2026-11-30"))
    assert re.fullmatch(r"[0-9a-f]{32}", outside)
    assert UID not in outside


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        (" User@Example.COM\t", "user@example.com"),
        ("rene\u0301@example.com", "ren\u00e9@example.com"),
        ("REN\u00c9@example.com", "ren\u00e9@example.com"),
        ("jo@B\u00fccher.example", "jo@xn--bcher-kva.example"),
        ("jo@xn--bcher-kva.EXAMPLE", "jo@xn--bcher-kva.example"),
        ("jo+tag@example.com", "jo+tag@example.com"),
        ('"a@b"@example.com', '"a@b"@example.com'),
        ("stra\u00dfe@example.com", "stra\u00dfe@example.com"),  # casefold would make it somebody else's
    ],
)
def test_an_address_has_one_canonical_form(typed: str, canonical: str) -> None:
    assert ids.canonical_address(typed) == canonical
    assert ids.canonical_address(canonical) == canonical
    assert ids.address_of(ids.uid_of(typed)) == canonical


@pytest.mark.parametrize(
    "typed",
    ["", "@", "a@", "@b.de", "no-at.example.com", "a b@c.de", "a@b..c", "a\r\nBcc: x@y.zz", "a\ud800@b.de", "a@-.de"],
)
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ids.BadAddress):
        ids.uid_of(typed)


def test_an_address_longer_than_mail_allows_is_refused_so_that_every_id_fits_the_store() -> None:
    longest = "a" * 242 + "@example.com"
    assert len(longest) == ids.ADDRESS_MAX_BYTES
    assert len(ids.pair_id(ids.uid_of(longest), f"j1{HASH}")) < ID_MAX_BYTES
    with pytest.raises(ids.BadAddress, match="254 bytes"):
        ids.uid_of("a" + longest)


def test_spellings_of_one_address_are_one_user() -> None:
    spellings = json.loads(shared("cases/B81_users.json").read_text())
    assert {ids.uid_of(typed) for typed in spellings} == {UID, ids.uid_of("ren\u00e9@example.com")}


async def test_an_overlong_native_id_makes_a_short_id_that_the_store_takes(store: Store) -> None:
    natives = json.loads(shared("cases/B49_ids.json").read_text())
    assert all(len(native.encode()) > ID_MAX_BYTES for native in natives)
    docs = {ids.job_id("feed:x", native): {"native": native} for native in natives}
    assert set(await store.create("jobs", docs)) == set(docs)
    assert all(len(id_) == 34 for id_ in docs)


async def test_slashes_in_native_ids_and_addresses_make_no_path(store: Store) -> None:
    case = json.loads(shared("cases/B50_ids.json").read_text())
    jobs = [ids.job_id("feed:x", guid) for guid in case["guids"]]
    users = [ids.uid_of(address) for address in case["emails"]]
    for collection, made in (
        ("jobs", jobs),
        ("users", users),
        ("deliveries", [ids.pair_id(uid, job) for uid in users for job in jobs]),
        ("matches", [ids.pair_id(uid, job) for uid in users for job in jobs]),
        ("digests", [ids.digest_id(uid, "2026-W49") for uid in users]),
        ("aliases", [ids.alias_id("feed:x", guid) for guid in case["guids"]]),
    ):
        assert len(set(made)) == len(made)
        for id_ in made:
            check_id(id_)
        assert set(await store.create(collection, {id_: {"n": 1} for id_ in made})) == set(made)
        assert [s.id for s in (await store.find(collection, {})).items] == sorted(made)
