from __future__ import annotations

import email
import email.policy
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import listunsub
import pytest

from ledger.lifecycle import Outcome
from mail.envelope import (
    FRAME_MAX_BYTES,
    BadSender,
    Unsendable,
    as_bytes,
    fits,
    headers,
    message_id,
    needs_smtputf8,
    not_sent,
    recipient,
    sender,
)
from mail.letter import LETTER_MAX_BYTES, SUBJECT_MAX_CHARS, Letter
from tests.mail.samples import NOW, letter


def parsed(one: Letter) -> EmailMessage:
    message = email.message_from_bytes(as_bytes(one), policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def content(part: Any) -> str:
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


def test_the_stdlib_reads_back_what_was_written() -> None:
    one = letter(title="Développeur Python – 東京 💼", company="Acme")
    message = parsed(one)
    assert message["Subject"] == one.subject
    assert message["From"] == "Scout <jobs@scout.example.com>"
    assert message["To"] == "ann@example.com"
    assert message["Date"].datetime == NOW
    assert message["Message-ID"] == f"<{one.outside_id}@scout.example.com>" == message_id(one)
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["X-Auto-Response-Suppress"] == "All"
    assert message["Reply-To"] is None
    plain, html = message.iter_parts()
    assert message.get_content_type() == "multipart/alternative"
    assert (plain.get_content_type(), content(plain)) == ("text/plain", one.text)
    assert (html.get_content_type(), content(html)) == ("text/html", one.html)
    assert not [part.defects for part in message.walk() if part.defects]


def test_every_header_stands_once_and_no_line_is_too_long() -> None:
    data = as_bytes(letter(title="Ü" * 5_000))
    names = [name for name, _ in email.message_from_bytes(data).items()]
    assert len(names) == len(set(names))
    assert data.isascii()
    assert all(len(line) <= 998 and b"\r" not in line and b"\n" not in line for line in data.split(b"\r\n"))
    body_lines = data.split(b"\r\n\r\n", 1)[1].split(b"\r\n")
    assert max(map(len, body_lines)) <= 78


@pytest.mark.parametrize(
    "text", ["plain", "é" * 3_000, "=" * 500, "trailing \n.\n..\nFrom here", "a" * 2_000 + "\n", ""]
)
def test_any_body_survives_the_wire(text: str) -> None:
    plain, html = parsed(replace(letter(), text=text, html=text)).iter_parts()
    assert content(plain) == content(html) == text


def test_mostly_foreign_letters_are_sent_in_base64_and_others_readable() -> None:
    assert b"Content-Transfer-Encoding: quoted-printable" in as_bytes(letter())
    data = as_bytes(replace(letter(), text="Инженер" * 200))
    assert b"Content-Transfer-Encoding: base64" in data


def test_a_long_unsubscribe_link_stays_one_raw_line_and_one_click() -> None:
    url = "https://scout.example.com/unsubscribe/" + "x" * 262
    assert len(url) == 300
    data = as_bytes(replace(letter(), unsubscribe_url=url))
    assert f"\r\nList-Unsubscribe: <{url}>\r\n".encode() in data
    assert b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in data
    message = email.message_from_bytes(data)  # the raw fields, as a mail program sees them
    assert listunsub.parse(message["List-Unsubscribe"], strict=True) == [url]
    assert listunsub.is_one_click(message["List-Unsubscribe-Post"])
    problems = listunsub.audit(message.get_all("List-Unsubscribe"), message.get_all("List-Unsubscribe-Post"))
    assert [p for p in problems if "dkim" not in str(p).lower()] == []


def test_an_http_base_gives_the_link_without_one_click() -> None:
    one = replace(letter(), unsubscribe_url="http://127.0.0.1:8080/unsubscribe/x")
    found = dict(headers(one))
    assert found["List-Unsubscribe"] == "<http://127.0.0.1:8080/unsubscribe/x>"
    assert "List-Unsubscribe-Post" not in found


def test_a_letter_that_nobody_subscribed_to_has_no_list_headers() -> None:
    names = {name for name, _ in headers(replace(letter(), unsubscribe_url=None))}
    assert not {name for name in names if name.startswith("List-")}


def test_alert_and_digest_are_two_lists() -> None:
    one = letter()
    assert dict(headers(one))["List-Id"] == "Scout job alerts <alert.scout.scout.example.com>"
    assert dict(headers(replace(one, kind="digest")))["List-Id"] == "Scout job digests <digest.scout.scout.example.com>"


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("Ann@Example.COM", "Ann@example.com"),
        (" ann+jobs@example.com ", "ann+jobs@example.com"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        ("o'neil_x=y@localhost", "o'neil_x=y@localhost"),
        ("jörg@example.com", "jörg@example.com"),
    ],
)
def test_the_recipient_keeps_its_local_part_and_gets_an_ascii_domain(typed: str, sent: str) -> None:
    one = replace(letter(), to=typed)
    assert recipient(one) == sent
    assert as_bytes(one).count(f"\r\nTo: {sent}\r\n".encode()) == 1
    assert needs_smtputf8(sent) == ("ö" in sent)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ann",
        "@example.com",
        "ann@",
        "ann@exa mple.com",
        "ann@example.com, eve@example.com",
        "ann@example.com\r\nBcc: eve@example.com",
        "Ann <ann@example.com>",
        "ann>\r\nRCPT TO:<eve@example.com",
        "a b@example.com",
        ".ann@example.com",
        "an\u202en@example.com",
        "a" * 65 + "@example.com",
        '"ann"@example.com',
    ],
)
def test_what_is_not_exactly_one_address_is_not_sent_to(typed: str) -> None:
    with pytest.raises(Unsendable) as caught:
        as_bytes(replace(letter(), to=typed))
    assert "@" not in str(caught.value)


@pytest.mark.parametrize(
    ("mail_from", "name", "address"),
    [
        ("scout@example.com", "", "scout@example.com"),
        ("Scout <scout@bücher.example>", "Scout", "scout@xn--bcher-kva.example"),
        ('"Jobs, Inc." <scout@example.com>', "Jobs, Inc.", "scout@example.com"),
        ("Jöbs <scout@example.com>", "Jöbs", "scout@example.com"),
    ],
)
def test_the_sender_may_have_a_name(mail_from: str, name: str, address: str) -> None:
    one = replace(letter(), mail_from=mail_from)
    assert sender(one) == address
    found = parsed(one)["From"].addresses
    assert [(a.display_name, a.addr_spec) for a in found] == [(name, address)]


@pytest.mark.parametrize("subject", ["a\r\nBcc: eve@example.com", "a\nb", "a\x00b", "a\u2028b", "a\u202eb"])
def test_a_subject_that_was_not_cleaned_is_refused_and_never_injects(subject: str) -> None:
    with pytest.raises(Unsendable):
        as_bytes(replace(letter(), subject=subject))


def test_a_subject_that_looks_encoded_is_shown_as_it_is() -> None:
    assert parsed(replace(letter(), subject="=?utf-8?q?Bcc:_x?= job"))["Subject"] == "=?utf-8?q?Bcc:_x?= job"


def test_the_size_check_never_says_yes_to_a_letter_that_is_too_long() -> None:
    for text in ("a", "é", "=", "💼", "a\n"):
        for size in range(10_000, 90_000, 7_000):
            one = replace(letter(), text=text * (size // len(text.encode())), html="")
            if fits(one.text, one.html):
                assert len(as_bytes(one)) <= LETTER_MAX_BYTES


def test_the_frame_allowance_covers_the_longest_headers() -> None:
    one = replace(
        letter("a" * 64 + "@" + "b" * 60 + ".example"),
        subject="💼" * SUBJECT_MAX_CHARS,
        unsubscribe_url="https://scout.example.com/" + "u" * 950,
        text="",
        html="",
    )
    assert len(as_bytes(one)) <= FRAME_MAX_BYTES


def test_a_bad_sender_is_the_operators_fault_not_the_letters() -> None:
    assert not_sent(Unsendable("x")).outcome is Outcome.REJECTED
    for mail_from in ("", "scout", "scout@"):
        with pytest.raises(BadSender) as caught:
            as_bytes(replace(letter(), mail_from=mail_from))
        assert not_sent(caught.value).outcome is Outcome.PAUSED
