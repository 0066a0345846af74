"""A mailbox of job alerts: what is read of it, how often, and what a mail may not do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from ledger.records import Health, SourceState
from scan.posting import NotModified
from scan.sources.alertmail import ALERT_SENDERS, parse
from scan.sources.entries import Reading
from scan.sources.item import Unreadable
from tests.imap_server import ImapServer
from tests.scan.boards.made import NOW, failure, items, made, polled

UID = 1899999999999999999


def mail(markup: str, *, sender: str = "Upwork <donotreply@upwork.com>", id_: str = "<1@upwork.com>") -> bytes:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "ann@example.com"
    message["Subject"] = "New jobs for: python"
    message["Message-ID"] = id_
    message["Date"] = "Mon, 30 Nov 2026 09:00:00 +0000"
    message.set_content("See the other part.")
    message.add_alternative(markup, subtype="html")
    return message.as_bytes()


def job(number: int, title: str = "Build a bot", text: str = "Hourly: $20-$40. We need Python.") -> str:
    link = f"https://www.upwork.com/jobs/~02{UID + number}?referrer_url_path=mail&amp;frkscc=abc"
    return f'<tr><td><a href="{link}"><b>{title} {number}</b></a><p>{text}</p><a href="{link}">View job</a></td></tr>'


def jobs_of(data: bytes, senders: frozenset[str] = ALERT_SENDERS) -> Reading:
    found = parse(data, platform="mailbox:x", senders=senders, now=NOW)
    assert isinstance(found, Reading)
    return found


@pytest.fixture
def box() -> Iterator[ImapServer]:
    with ImapServer() as box:
        yield box


def entry(box: ImapServer, **more: str) -> dict[str, str]:
    return {"kind": "mailbox", "url": box.url, "user": "ann", "password": "s3cret", **more}


def test_the_jobs_in_a_mail_have_the_ids_that_their_board_gives_them() -> None:
    found = jobs_of(
        mail(f"<h1>3 new jobs</h1><table>{job(0)}{job(1)}{job(0)}</table><a href='https://upwork.com/u'>Stop</a>")
    )
    assert [(p.platform, p.native_id) for p in found.postings] == [("upwork", str(UID)), ("upwork", str(UID + 1))]
    first = found.postings[0]
    assert first.title == "Build a bot 0"
    assert "We need Python." in first.text
    assert "Build a bot 1" not in first.text
    assert first.published_at is not None


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("https://www.linkedin.com/comm/jobs/view/3812345678/?trackingId=x", ("linkedin", "3812345678")),
        ("https://de.indeed.com/rc/clk/dl?jk=0123456789abcdef&amp;from=ja", ("indeed", "0123456789abcdef")),
        ("https://remoteok.com/remote-jobs/dev-acme-1093456?utm_source=mail", ("remoteok", "1093456")),
        ("https://www.freelancer.com/projects/python/build-a-bot-39999999?w=f", ("freelancer", "39999999")),
    ],
)
def test_other_boards_links_are_known_too(link: str, name: tuple[str, str]) -> None:
    (posting,) = jobs_of(mail(f'<a href="{link}">A developer for us</a> in Berlin')).postings
    assert (posting.platform, posting.native_id) == name
    assert posting.title == "A developer for us"


def test_a_mail_without_links_to_jobs_is_one_posting_under_its_message_id() -> None:
    found = jobs_of(
        mail("<p>We have a <a href='https://upwork.com/x'>job</a>: build a bot.</p>", id_="<Abc.1@upwork.com>")
    )
    (posting,) = found.postings
    assert (posting.platform, posting.native_id) == ("mailbox:x", "Abc.1@upwork.com")
    assert (posting.title, posting.text) == ("New jobs for: python", "We have a job: build a bot.")


def test_a_plain_text_mail_gives_the_line_before_a_link_as_the_title() -> None:
    message = EmailMessage()
    message["From"], message["Subject"], message["Message-ID"] = "a@upwork.com", "New", "<2@upwork.com>"
    message.set_content(f"Hi\n\nBuild a bot\nhttps://www.upwork.com/jobs/~02{UID}?x=1\n\nWe need Python.\n")
    (posting,) = jobs_of(message.as_bytes()).postings
    assert (posting.title, posting.native_id) == ("Build a bot", str(UID))


def test_a_stranger_cannot_put_jobs_into_the_mailbox_by_writing_to_it() -> None:
    for sender in ("x@evil.example", "upwork.com <x@evil.example>", "x@upwork.com.evil.example", "x@notupwork.com", ""):
        found = parse(mail(job(0), sender=sender), platform="mailbox:x", senders=ALERT_SENDERS, now=NOW)
        assert found == Unreadable("from a sender that is not listed")
    assert len(jobs_of(mail(job(0), sender="x@mail.upwork.com")).postings) == 1
    assert len(jobs_of(mail(job(0), sender="x@evil.example"), frozenset("*")).postings) == 1


def test_only_links_to_http_are_jobs_and_a_button_is_no_title() -> None:
    hostile = "<a href='javascript:alert(1)//upwork.com/jobs/~021899999999999999999'>x</a>"
    (posting,) = jobs_of(
        mail(hostile + f"<a href='https://upwork.com/jobs/~02{UID}'>Apply now</a> Go developer")
    ).postings
    assert posting.link == f"https://upwork.com/jobs/~02{UID}"
    assert posting.title == "Apply now Go developer"


async def test_a_poll_reads_what_came_since_the_last_one_and_marks_nothing_as_seen(
    box: ImapServer, tmp_path: Path
) -> None:
    box.deliver(mail(job(0)))
    async with made(tmp_path, **entry(box)) as source:
        first = await items(source)
        assert ([p.native_id for p in first.postings], first.etag) == ([str(UID)], "7:1")
        state = SourceState("x", None, etag=first.etag)
        assert isinstance(await polled(source, state), NotModified)
        box.deliver(mail(job(1), id_="<2@upwork.com>"))
        second = await items(source, state)
        assert ([p.native_id for p in second.postings], second.etag) == ([str(UID + 1)], "7:2")
    assert not any("STORE" in command or "SELECT" in command for command in box.commands)
    assert all("BODY.PEEK[]" in command for command in box.commands if "BODY" in command)


async def test_an_empty_folder_is_a_fine_answer_and_the_first_mail_after_it_is_read(
    box: ImapServer, tmp_path: Path
) -> None:
    async with made(tmp_path, **entry(box)) as source:
        first = await items(source)
        assert (first.postings, first.is_whole) == ((), False)
        box.deliver(mail(job(0)))
        assert len((await items(source, SourceState("x", None, etag=first.etag))).postings) == 1


async def test_a_folder_that_was_made_anew_is_read_from_its_start(box: ImapServer, tmp_path: Path) -> None:
    box.deliver(mail(job(0)))
    async with made(tmp_path, **entry(box)) as source:
        assert len((await items(source, SourceState("x", None, etag="6:99"))).postings) == 1


async def test_many_mails_are_read_fifty_at_a_time_oldest_first(box: ImapServer, tmp_path: Path) -> None:
    box.deliver(mail(job(0)))
    for number in range(1, 71):
        box.deliver(mail(job(number), id_=f"<{number}@upwork.com>"))
    async with made(tmp_path, **entry(box)) as source:
        second = await items(source, SourceState("x", None, etag="7:1"))
        assert (len(second.postings), second.etag) == (50, "7:51")
        third = await items(source, SourceState("x", None, etag=second.etag))
        assert (len(third.postings), third.etag) == (20, "7:71")


async def test_a_mail_that_is_too_large_is_counted_and_passed_over(box: ImapServer, tmp_path: Path) -> None:
    box.deliver(mail("x" * 3_000_000))
    box.deliver(mail(job(1)))
    async with made(tmp_path, **entry(box)) as source:
        found = await items(source)
        assert [p.native_id for p in found.postings] == [str(UID + 1)]
        assert [skipped.reason for skipped in found.skipped] == ["larger than what is read"]


async def test_what_goes_wrong_is_told_without_user_password_and_mail(
    box: ImapServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    where = f"127.0.0.1:{box.port}"
    async with made(tmp_path, **entry(box, password="s3cret-wrong")) as source:
        failed = await failure(source)
        assert failed.health is Health.REFUSED
        assert failed.reason == f"the mail server does not take the user and password: {where}"
    async with made(tmp_path, **entry(box, folder="None")) as source:
        assert (await failure(source)).reason == f"there is no such folder: {where}"
    box.greeting = b"HTTP/1.1 400 no\r\n"
    async with made(tmp_path, **entry(box)) as source:
        assert (await failure(source)).health is Health.MALFORMED
    async with made(tmp_path, **entry(box) | {"url": "imap://mail.example.com"}) as source:
        assert "would send the password in the clear" in (await failure(source)).reason
    assert "ann" not in caplog.text
    assert "s3cret" not in caplog.text


async def test_a_server_that_drips_is_given_up_at_the_deadline(tmp_path: Path) -> None:
    with ImapServer(drip_s=0.05) as box:
        box.deliver(mail(job(0)))
        async with made(tmp_path, **entry(box)) as source:
            assert (await failure(source, deadline_s=0.5)).health is Health.SLOW
