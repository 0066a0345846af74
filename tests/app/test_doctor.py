"""`scout doctor`: what is wrong is said with how to mend it, and nothing is sent."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app import domain
from app.cli import main
from app.doctor import examine
from app.domain import Level, Line, NoDns, records, system_txt
from ledger import ids, sources, users
from ledger.collections import SOURCES
from ledger.documents import encode
from ledger.records import Health, Search, SourceState
from ledger.store import Unreachable
from tests.dns import Names
from tests.http_faults import ERRORS, Answer, FaultyApi
from tests.sinks import Say, ScriptedSmtp, refused_port
from tests.world import FEED, World

GOOD = {
    "scout.dev": ["v=spf1 include:sendgrid.net ~all", "some other text"],
    "s1._domainkey.scout.dev": ["k=rsa; t=s; p=MIGfMA0"],
    "_dmarc.scout.dev": ["v=DMARC1; p=none; rua=mailto:d@scout.dev"],
}
SCOPES = Answer(200, '{"scopes": ["mail.send"]}')


async def silent(_name: str) -> list[str]:
    raise NoDns


@pytest.fixture
async def names(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Names]:
    with Names(GOOD) as server:
        monkeypatch.setattr("dns.asyncresolver.resolve", server.resolver().resolve)
        yield server


async def lines_of(world: World, txt: Any = silent) -> dict[str, Line]:
    return {line.name: line async for line in examine(world.parts, txt=txt)}


async def test_a_scout_in_good_order_has_nothing_to_mend(world: World) -> None:
    await world.begin()
    found = await lines_of(world)
    assert [line for line in found.values() if line.level is Level.FAIL] == []
    assert {found[name].level for name in ("settings", "store", "clock", "runs", "source board")} == {Level.OK}
    assert found["mail outbox"].level is Level.OK
    assert world.mails() == []
    assert await world.dump("locks") == {}


async def test_whoever_is_told_of_trouble_is_named_and_nobody_is_a_warning(tmp_path: Path) -> None:
    async with World(tmp_path, SCOUT_OPERATOR="ops@example.com") as world:
        assert (await lines_of(world))["operator"] == Line(Level.OK, "operator", "ops@example.com")
    async with World(tmp_path) as world:
        assert (await lines_of(world))["operator"].level is Level.WARN


async def test_a_store_that_does_not_answer_is_said_and_what_hangs_on_it_is_left_out(world: World) -> None:
    async def down(operation: str, collection: str) -> None:
        raise Unreachable("nobody answered in time")

    world.spy(down)
    found = await lines_of(world)
    assert found["store"].level is Level.FAIL
    assert "nobody answered in time" in found["store"].what
    assert found["store"].mend
    assert "runs" not in found


async def test_no_run_is_a_warning_and_an_old_one_a_failure(world: World) -> None:
    assert (await lines_of(world))["runs"].level is Level.WARN
    await world.begin()
    world.after(hours=2)
    assert (await lines_of(world))["runs"].level is Level.FAIL
    world.after(hours=-3)
    assert (await lines_of(world))["clock"].level is Level.FAIL  # the last run ended in the future


async def test_a_source_that_fails_is_named_with_its_reason_and_one_that_was_not_asked_is_no_fault(
    world: World,
) -> None:
    assert (await lines_of(world))["source board"].what == "not asked yet"
    world.board.serve(FEED, "<html>moved</html>", status=404)
    await world.cron()
    line = (await lines_of(world))["source board"]
    assert line.level is Level.FAIL
    assert "refused, once: http://" in line.what
    states, _ = await sources.every_state(world.store)
    await world.store.put(SOURCES, {"board": {**encode(states[0]), "failures": "many"}})
    assert (await lines_of(world))["sources"].level is Level.FAIL


async def test_searches_for_sources_that_are_gone_are_a_warning(world: World) -> None:
    async def looks_at(address: str, *names: str) -> None:
        await world.user(address)
        searches = {"default": Search(("python",), sources=names)}
        await users.change(world.store, ids.uid_of(address), lambda user: replace(user, searches=searches))

    await looks_at("ann@example.com", "Board")
    assert "searches" not in await lines_of(world)
    await looks_at("ben@example.com", "board", "oldboard")
    await looks_at("cem@example.com", "oldboard")
    line = (await lines_of(world))["searches"]
    assert line.level is Level.WARN
    assert line.what.endswith("@example.com and 1 more: oldboard")


async def test_an_outbox_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with World(tmp_path, SCOUT_MAIL=f"outbox:///{tmp_path / 'file' / 'outbox'}") as world:
        line = (await lines_of(world))["mail outbox"]
    assert (line.level, line.mend != "") == (Level.FAIL, True)


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (SCOPES, Level.OK),
        (Answer(200, '{"scopes": ["stats.read"]}'), Level.FAIL),
        (Answer(401, ERRORS), Level.FAIL),
        (Answer(403, ERRORS), Level.FAIL),
        (Answer(404, ERRORS), Level.SKIP),
        (Answer(500), Level.SKIP),
    ],
)
async def test_sendgrid_is_asked_about_the_key_and_nothing_is_sent(
    answer: Answer, level: Level, tmp_path: Path
) -> None:
    with FaultyApi(answer) as api:
        settings: dict[str, Any] = {"SCOUT_SENDGRID_URL": api.url, "SENDGRID_API_KEY": "SG.x"}
        async with World(tmp_path, SCOUT_MAIL="sendgrid:", **settings) as world:
            found = await lines_of(world)
        assert found["mail sendgrid"].level is level
        assert [(posted.path, posted.body) for posted in api.received] == [("/v3/scopes", b"")]
        assert api.received[0].headers["authorization"] == "Bearer SG.x"


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (Answer(200, '{"data": []}'), Level.OK),
        (Answer(401, '{"name": "restricted_api_key", "message": "only send"}'), Level.OK),
        (Answer(400, '{"name": "restricted_api_key", "message": "only send"}'), Level.OK),
        (Answer(403, '{"name": "invalid_api_key", "message": "no"}'), Level.FAIL),
        (Answer(403, "<html>"), Level.SKIP),
    ],
)
async def test_resend_is_asked_about_the_key_and_nothing_is_sent(answer: Answer, level: Level, tmp_path: Path) -> None:
    with FaultyApi(answer) as api:
        settings: dict[str, Any] = {"SCOUT_RESEND_URL": api.url, "RESEND_API_KEY": "re_x"}
        async with World(tmp_path, SCOUT_MAIL="resend:", **settings) as world:
            assert (await lines_of(world))["mail resend"].level is level
        assert {posted.path for posted in api.received} == {"/domains"}


async def test_a_provider_that_is_not_there_is_said(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "SCOUT_SENDGRID_URL": f"http://127.0.0.1:{refused_port()}", "SENDGRID_API_KEY": "SG.x",
    }  # fmt: skip
    async with World(tmp_path, SCOUT_MAIL="sendgrid:", **settings) as world:
        assert (await lines_of(world))["mail sendgrid"].level is Level.FAIL


async def test_a_clock_that_is_off_by_the_providers_is_said(tmp_path: Path) -> None:
    late = replace(SCOPES, headers=(("Date", formatdate(time.time() - 3600, usegmt=True)),))
    with FaultyApi([SCOPES, late]) as api:
        settings: dict[str, Any] = {"SCOUT_SENDGRID_URL": api.url, "SENDGRID_API_KEY": "SG.x"}
        async with World(tmp_path, SCOUT_MAIL="sendgrid:", **settings) as world:
            assert (await lines_of(world))["clock"].level is Level.OK
            line = (await lines_of(world))["clock"]
    assert (line.level, line.mend) == (Level.FAIL, "start NTP")


@pytest.mark.parametrize(
    ("script", "level", "mend"),
    [
        ({}, Level.OK, ""),
        ({"connect": Say("421 busy")}, Level.FAIL, "are host and port of SCOUT_MAIL right"),
        ({"ehlo": Say("421 no"), "helo": Say("421 no")}, Level.FAIL, "is that a mail server"),
    ],
)
async def test_a_mail_server_is_greeted_and_nothing_is_sent(
    script: Any, level: Level, mend: str, tmp_path: Path
) -> None:
    with ScriptedSmtp(script) as sink:
        async with World(tmp_path, sink=sink) as world:
            line = (await lines_of(world))["mail smtp"]
        assert (line.level, line.mend.startswith(mend)) == (level, True)
        assert sink.bodies == 0


async def test_a_mail_server_without_encryption_is_answered_with_what_has_it(tmp_path: Path) -> None:
    with ScriptedSmtp() as sink:  # offers no STARTTLS
        async with World(tmp_path, SCOUT_MAIL=f"smtp://me:pa55word@127.0.0.1:{sink.port}") as world:
            line = (await lines_of(world))["mail smtp"]
    assert line.what == f"starttls: the mail server does not offer it (127.0.0.1:{sink.port})"
    assert line.mend.startswith("use port 587 or smtps://")


async def test_spf_dkim_and_dmarc_are_read_from_dns(names: Names) -> None:
    assert [(line.name, line.level) for line in await records("scout.dev", system_txt)] == [
        ("spf", Level.OK),
        ("dkim", Level.OK),
        ("dmarc", Level.OK),
    ]


@pytest.mark.parametrize(
    ("changes", "name", "level", "said"),
    [
        ({"scout.dev": ["v=spf1 a", "v=spf1 mx"]}, "spf", Level.FAIL, "2 SPF records"),
        ({"scout.dev": ["v=spf1 +all"]}, "spf", Level.FAIL, "everybody"),
        ({"scout.dev": ["v=spf10 a"]}, "spf", Level.WARN, "no SPF"),
        ({"scout.dev": []}, "spf", Level.WARN, "no SPF"),
        ({"s1._domainkey.scout.dev": []}, "dkim", Level.WARN, "no DKIM key"),
        ({"s1._domainkey.scout.dev": ["k=rsa; p="]}, "dkim", Level.FAIL, "revoked"),
        ({"_dmarc.scout.dev": []}, "dmarc", Level.WARN, "no DMARC"),
        ({"_dmarc.scout.dev": ["v=DMARC1; rua=x"]}, "dmarc", Level.FAIL, "no policy"),
        ({"_dmarc.scout.dev": ["v=DMARC1; p=none", "v=DMARC1; p=reject"]}, "dmarc", Level.FAIL, "2 records"),
    ],
)
async def test_a_record_that_is_missing_or_wrong_is_said_with_how_to_mend_it(
    changes: dict[str, list[str]], name: str, level: Level, said: str, names: Names
) -> None:
    names.records = {**GOOD, **changes}
    (line,) = [line for line in await records("scout.dev", system_txt) if line.name == name]
    assert (line.level, said in line.what, line.mend != "") == (level, True, True)


async def test_the_policy_of_the_domain_above_holds_for_the_one_below(names: Names) -> None:
    names.records = {**GOOD, "mail.scout.dev": []}
    found = {line.name: line.level for line in await records("mail.scout.dev", system_txt)}
    assert found["dmarc"] is Level.OK


async def test_a_domain_that_dns_does_not_know_is_one_line(names: Names) -> None:
    (line,) = await records("nowhere.dev", system_txt)
    assert line.level is Level.WARN


async def test_where_dns_does_not_answer_nothing_is_claimed(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    names.mute = True
    monkeypatch.setattr(domain, "ANSWER_MAX_S", 0.1)
    assert {line.level for line in await records("scout.dev", system_txt)} == {Level.SKIP}


@pytest.mark.parametrize(
    ("mail_from", "level"),
    [
        ("Scout <a@scout.dev>", Level.OK),
        ("a@scout.example", Level.FAIL),
        ("a@localhost", Level.FAIL),
    ],
)
async def test_a_sender_that_no_mailbox_takes_is_said(
    mail_from: str, level: Level, tmp_path: Path, names: Names
) -> None:
    with ScriptedSmtp() as sink:
        async with World(tmp_path, sink=sink, SCOUT_MAIL_FROM=mail_from) as world:
            assert (await lines_of(world, system_txt))["sender"].level is level


async def test_a_source_state_of_each_health_is_judged(world: World) -> None:
    for health in Health:
        state = SourceState(
            "board", next_poll_at=world.now, polled_at=world.now, health=health, reason="because", failures=2
        )
        await world.store.put(SOURCES, {"board": encode(state)})
        level = (await lines_of(world))["source board"].level
        assert level is (Level.OK if health in (Health.OK, Health.NOT_MODIFIED) else Level.FAIL)


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, **environ: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("SCOUT_")}
    result = CliRunner().invoke(main, ["doctor", *arguments], env=env | environ)
    return result.exit_code, result.output


def test_the_command_ends_with_1_only_if_something_is_to_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = run(tmp_path, monkeypatch)
    assert (code, said.splitlines()[-1]) == (0, "Nothing is in the way.")
    code, said = run(tmp_path, monkeypatch, "--json", SCOUT_CRON_SECRET="x" * 20)
    assert code == 0
    assert {line["level"] for line in json.loads(said)} <= {"ok", "warn", "skip"}
    code, said = run(tmp_path, monkeypatch, SCOUT_MAIL="pigeon:")
    assert code == 1
    assert said.startswith("fail  settings")
    assert said.splitlines()[-1] == "1 thing to mend."
    (tmp_path / "sources.toml").write_text("nonsense = ")
    code, said = run(tmp_path, monkeypatch, SCOUT_SOURCES="sources.toml")
    assert (code, said.startswith("fail  sources")) == (1, True)
    code, said = run(tmp_path, monkeypatch, SCOUT_STORE="sqlite:////proc/nowhere/scout.db")
    assert (code, "fail  store" in said) == (1, True)
