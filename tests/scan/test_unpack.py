"""Content-Encoding undone under a cap."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from scan.unpack import TooLarge, Unpacker


def test_a_bomb_is_never_unpacked_beyond_the_cap() -> None:
    bomb = gzip.compress(bytes(100_000_000), compresslevel=9)
    unpacker = Unpacker("gzip", max_bytes=100_000)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            unpacker.feed(bomb)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2_000_000


def test_a_stream_that_unpacks_to_nothing_ends_at_the_cap_too() -> None:
    unpacker = Unpacker("gzip", max_bytes=10_000)
    empty = gzip.compress(b"")
    with pytest.raises(TooLarge):
        unpacker.feed(empty * (10_000 // len(empty) + 1))


def test_a_body_of_exactly_the_cap_is_whole() -> None:
    for encoding, body in (("", b"x" * 1000), ("gzip", gzip.compress(b"x" * 1000))):
        unpacker = Unpacker(encoding, max_bytes=1000)
        unpacker.feed(body)
        assert unpacker.body() == b"x" * 1000


def test_pieces_of_any_size_give_the_same_body() -> None:
    packed = gzip.compress(b"one") + gzip.compress(b"two")
    unpacker = Unpacker("gzip", max_bytes=1000)
    for n in range(len(packed)):
        unpacker.feed(packed[n : n + 1])
    assert unpacker.body() == b"onetwo"
