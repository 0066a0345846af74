"""Faults of mail that others met in the field, each as a fact about our letters and transports."""

from __future__ import annotations

import asyncio
import email
import email.policy
import json
import mailbox
import random
from email.message import EmailMessage
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ledger.ids import outside_id
from ledger.lifecycle import ALERT_AFTER, DIGEST_AFTER, Outcome, State
from mail.letter import SUBJECT_MAX_CHARS, Letter
from mail.render import render_alert, render_digest
from mail.transports.outbox import OutboxTransport
from mail.transports.smtp import SmtpTransport
from tests.mail.samples import NOW, SITE, letter, row, user
from tests.shared import shared
from tests.sinks import HOST, OK, Hang, Received, Say, ScriptedSmtp, refused_port


def read(received: Received) -> EmailMessage:
    message = email.message_from_bytes(received.data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def part(message: EmailMessage, subtype: str) -> str:
    found = message.get_body((subtype,))
    assert found is not None
    text: str = found.get_content()
    return text


def hostile_titles() -> list[str]:
    feed = ElementTree.parse(shared("cases/B68_feed.xml"))
    titles = [item.findtext("title") or "" for item in feed.iter("item")]
    return [*titles, "Senior Dev\r\nBcc: victim@example.com", "x" * 3_000, "a\u2028b\x00c\u202ed", "\x00\u200b", ""]


async def test_b16_an_alert_that_was_provably_not_taken_is_never_marked_sent() -> None:
    nobody = SmtpTransport(HOST, refused_port())
    refused = await nobody.send(letter())
    await nobody.close()
    with ScriptedSmtp({"mail": Say("530 5.7.0 authentication required")}) as server:
        transport = SmtpTransport(HOST, server.port)
        account = await transport.send(letter())
        await transport.close()
    assert (refused.outcome, account.outcome) == (Outcome.DEFERRED, Outcome.PAUSED)
    assert refused.reason
    assert "530" in account.reason
    assert ALERT_AFTER[refused.outcome].state is ALERT_AFTER[account.outcome].state is State.QUEUED
    assert server.bodies == 0


@pytest.mark.parametrize(("phase", "alert"), [("connect", State.QUEUED), ("dot", State.UNCLEAR)])
async def test_b66_a_server_that_never_answers_is_cut_and_the_others_are_served(phase: str, alert: State) -> None:
    with ScriptedSmtp({phase: [Hang(), *[OK] * 20]}) as server:
        transport = SmtpTransport(HOST, server.port, deadline_s=1.0, dot_deadline_s=1.0)
        attempts = await asyncio.gather(*(transport.send(letter(number=n)) for n in range(10)))
        await transport.close()
    cut = [a for a in attempts if a.outcome is not Outcome.ACCEPTED]
    assert len(cut) == 1
    assert ALERT_AFTER[cut[0].outcome].state is alert
    assert DIGEST_AFTER[cut[0].outcome].state is State.QUEUED
    assert server.bodies == (10 if phase == "dot" else 9)
    assert server.accepted == 9


async def test_b68_a_hostile_title_is_one_trimmed_line_and_reaches_one_recipient() -> None:
    titles = hostile_titles()
    letters = [letter(number=n, title=title) for n, title in enumerate(titles)]
    with ScriptedSmtp() as server:
        transport = SmtpTransport(HOST, server.port)
        for one in letters:
            assert (await transport.send(one)).outcome is Outcome.ACCEPTED
        await transport.close()
    assert server.bodies == len(titles) >= 5
    for received in server.received:
        message = read(received)
        assert received.recipients == ("ann@example.com",)
        assert message.get_all("To") == ["ann@example.com"]
        assert message["Bcc"] is message["Cc"] is None
        subject = message["Subject"]
        assert subject.isprintable()
        assert len(subject) <= SUBJECT_MAX_CHARS


async def test_b70_a_digest_of_150_jobs_is_not_clipped_and_counts_the_rest() -> None:
    rows = [row(n, title="Разработчик 💼 " * 20, reason="é" * 5_000) for n in range(150)]
    one = render_digest(
        user(), rows[:20], more=130, period="2026-11-30", outside_id=outside_id("b70"), at=NOW, site=SITE
    )
    with ScriptedSmtp() as server:
        transport = SmtpTransport(HOST, server.port)
        assert (await transport.send(one)).outcome is Outcome.ACCEPTED
        await transport.close()
    (received,) = server.received
    message = read(received)
    html = part(message, "html")
    assert len(received.data) < 85_100
    assert len(html.encode()) < 85_000
    assert html.count("<h2") == one.listed == 20
    assert "and 130 more" in html
    assert "and 130 more" in part(message, "plain")
    assert message["List-Unsubscribe"] == f"<{one.unsubscribe_url}>"
    assert html.index("/unsubscribe/") < 10_000


def test_b71_markup_is_text_and_only_web_links_are_links() -> None:
    job = json.loads(shared("cases/B71_job.json").read_text())
    for link in job["links"]:
        one = letter(
            title=job["title"], company=job["company"], reason=job["ai_reason"], link=link, twin_links=job["links"]
        )
        assert "<img" not in one.html
        assert "<script" not in one.html
        assert "&lt;img src=x onerror=alert(1)&gt;" in one.html
        assert "<img src=x onerror=alert(1)>" in one.text
        for tag in one.html.split("<a ")[1:]:
            href = tag.partition('href="')[2].partition('"')[0]
            assert href.startswith(("https://jobs.example.com/", "https://scout.example.com/"))
            attributes = tag.partition(">")[0]
            assert "onmouseover" not in attributes.replace(href, "")
        for scheme in ("javascript:", "data:"):
            assert scheme not in one.text + one.html


async def test_b76_three_people_and_one_job_are_three_letters_with_one_recipient_each(tmp_path: Path) -> None:
    people = ["ann@example.com", "bob@example.com", "eve@example.com"]
    letters = [letter(address, number=n) for n, address in enumerate(people)]
    outbox = OutboxTransport(tmp_path)
    with ScriptedSmtp() as server:
        transport = SmtpTransport(HOST, server.port)
        for one in letters:
            assert (await transport.send(one)).outcome is Outcome.ACCEPTED
            assert (await outbox.send(one)).outcome is Outcome.ACCEPTED
        await transport.close()
        await outbox.close()
    assert [received.recipients for received in server.received] == [(address,) for address in people]
    for address, received in zip(people, server.received, strict=True):
        assert [other for other in people if other.encode() in received.data] == [address]
    assert sorted(message["To"] for message in mailbox.Maildir(tmp_path)) == people


def test_b83_the_text_part_is_complete_on_its_own() -> None:
    one = render_digest(
        user(), [row(1), row(2)], more=5, period="2026-W49", outside_id=outside_id("b83"), at=NOW, site=SITE
    )
    assert '<meta name="color-scheme" content="light dark">' in one.html
    for fact in (
        "7 jobs fit",
        "https://jobs.example.com/1",
        "https://jobs.example.com/2",
        "and 5 more",
        "Unsubscribe:",
    ):
        assert fact in one.text


async def test_b88_concurrent_letters_hold_their_own_jobs_name_and_token_only() -> None:
    dice = random.Random(88)

    def own(n: int) -> Letter:
        rows = [row(n * 100 + k, title=f"Job {n}-{k}.", link=f"https://jobs.example.com/{n}-{k}.") for k in range(5)]
        who = user(f"user{n}@example.com", token=f"token-{n}.")
        return render_alert(who, rows, outside_id=outside_id(str(n)), at=NOW, site=SITE)

    async def send(transport: SmtpTransport, n: int) -> Outcome:
        await asyncio.sleep(dice.random() / 20)
        one = await asyncio.to_thread(own, n)
        await asyncio.sleep(dice.random() / 20)
        return (await transport.send(one)).outcome

    with ScriptedSmtp({"mail": [Say(delay_s=dice.random() / 20) for _ in range(20)]}) as server:
        transport = SmtpTransport(HOST, server.port)
        outcomes = await asyncio.gather(*(send(transport, n) for n in range(20)))
        await transport.close()
    assert outcomes == [Outcome.ACCEPTED] * 20
    assert sorted(server.recipients) == sorted(f"user{n}@example.com" for n in range(20))
    for received in server.received:
        n = int(received.recipients[0].removeprefix("user").partition("@")[0])
        message = read(received)
        assert message["To"] == received.recipients[0]
        for shown in (part(message, "plain"), part(message, "html")):
            assert [k for k in range(5) if f"Job {n}-{k}." in shown] == list(range(5))
            assert [m for m in range(20) if f"Job {m}-" in shown] == [n]
            assert [m for m in range(20) if f"token-{m}." in shown] == [n]
