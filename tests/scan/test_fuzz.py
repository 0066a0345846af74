"""Any bytes through every parser: a list or a reason, never an exception, each within a second."""

from __future__ import annotations

import pytest

from tests import fuzz

EXAMPLES = 500  # `python -m tests.fuzz` tries 10,000


@pytest.mark.filterwarnings("default")  # parsers of third parties warn about what they are fed here
@pytest.mark.parametrize("name", fuzz.PARSERS)
def test_any_bytes_are_a_list_or_a_reason(name: str) -> None:
    fuzz.run(name, EXAMPLES)


@pytest.mark.parametrize("name", fuzz.PARSERS)
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 500_000,
        b'{"jobs":' * 200_000,
        b'{"jobs": [' + b'{"id": 1, "title": "x"},' * 100_000 + b"{}]}",
        b'{"jobs": [{"id": ' + b"9" * 100_000 + b', "title": "x"}]}',
        b'[{"id": "1", "title": "x", "description": "' + b"<div>" * 100_000 + b'"}]',
        b'{"hits": [{"objectID": "1", "comment_text": "' + b"<p>|" * 100_000 + b'"}]}',
        b"From: a@upwork.com\r\nContent-Type: text/html\r\n\r\n" + b"<a href='x" * 50_000,
        b"From: a@upwork.com\r\nContent-Type: text/html\r\n\r\n" + b"<a " * 50_000,
        b"From: a@upwork.com\r\n\r\n" + b"https://" * 60_000,
        b"From: a@upwork.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 10_000,
    ],
    ids=["lists", "objects", "items", "number", "divs", "bars", "anchors", "tags", "links", "parts"],
)
def test_large_hostile_answers_end_within_seconds(name: str, body: bytes) -> None:
    found = fuzz.PARSERS[name](body)
    assert found is not None
