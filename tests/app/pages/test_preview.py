"""The preview decides as a run does, writes nothing, and is quick; "why not?" names what stood in the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.pages.preview import letters, preview
from app.pages.week import LastWeek
from app.quota import OVER
from ledger import deliveries, ids, users
from ledger.collections import JOBS
from ledger.documents import encode
from ledger.lifecycle import Attempt, Outcome, State
from ledger.records import Job, JobState, Mode, Search
from ledger.schedule import Hour, next_due, time_of, zone_of
from ledger.sqlite import SqliteStore
from ledger.verdicts import Verdict, VerdictState
from scan.links import canonical
from scan.match import decide
from tests.app.pages.visits import ANN, save_search, signed_in, text, visiting
from tests.proofs.scene import START, Scene
from tests.world import T0, World, item

HOUR = Hour(time_of("08:00"), zone_of("UTC"))


def job_of(world: World, number: int, **fields: object) -> Job:
    id_ = ids.job_id("board", str(number))
    plain = Job(
        id=id_, platform="board", source="board", title=f"Python developer {number}",
        link=f"https://jobs.example.com/{number}", text="We use Django. " * 150, first_seen=world.now,
        state=JobState.MATCHED, key=id_, fresh_at=world.now,
        link_id=ids.link_id(canonical(f"https://jobs.example.com/{number}")),
    )  # fmt: skip
    return replace(plain, **fields)  # type: ignore[arg-type]


async def store_jobs(world: World, *jobs: Job) -> None:
    await world.store.create(JOBS, {job.id: encode(job) for job in jobs})


async def test_the_preview_holds_exactly_what_runs_would_have_sent_reason_for_reason(world: World) -> None:
    search = {"keywords": "python, go", "must": "remote", "exclude": "php"}
    kept = Search(keywords=("python", "go"), must=("remote",), exclude=("php",))
    await world.user(ANN)
    await users.change(world.store, ids.uid_of(ANN), lambda user: replace(user, searches={"Mine": kept}))
    await world.begin()
    listed = [item("Gardener")]
    for number, title in enumerate(("Python one", "Go engineer", "Python and PHP", "Go and Python", "Python on site")):
        world.after(minutes=20)
        listed.insert(0, item(title, text="On site." if "site" in title else "Remote.", guid=f"n{number}"))
        world.feed(*listed)
        await world.cron()
    rows = await world.rows(ANN)
    before = await world.dump()
    user = (await users.read(world.store, ids.uid_of(ANN))).record  # type: ignore[union-attr]
    week = await LastWeek().jobs(world.store, now=world.now)
    tried = preview(user, week, hour=HOUR, digest_cap=20)
    assert {one.job.title: one.said.reason for one in tried.fits} == {t: row.reason for t, row in rows.items()}  # type: ignore[union-attr]
    assert len(rows) == 3
    assert tried.mails == len(world.mails()) == 3
    assert {one.job.title: one.said.detail for one in tried.near} == {  # type: ignore[union-attr]
        "Python and PHP": "it has php in the title, which is excluded",
        "Python on site": "it lacks remote",
    }
    for told in week:
        said = decide(user, told.job, now=told.job.first_seen)
        assert (told.job.title in rows) == hasattr(said, "reason")
    async with visiting(world) as client:
        await signed_in(client, world)
        signed = await world.dump()
        page = await client.post("/me/search", data=search | {"was": "", "mark": "new", "name": "x", "do": "preview"})
        piece = await client.post("/me/search", data=search | {"do": "preview"}, headers={"x-scout-part": "preview"})
        assert await world.dump() == signed == before
    for answer in (page, piece):
        assert "With this you would have got 3 mails last week" in text(answer.text)
        assert "Not: it lacks remote" in text(answer.text)
    assert piece.text.startswith("<h2")


def test_letters_are_counted_as_they_would_be_sent() -> None:
    came = [T0 + timedelta(hours=h) for h in (0, 0, 2, 26)]
    assert letters(came, Mode.INSTANT, HOUR, digest_cap=20) == (3, 4)
    assert letters(came, Mode.DAILY, HOUR, digest_cap=20) == (len({next_due(HOUR, at).period for at in came}), 4)
    assert letters(came, Mode.WEEKLY, replace(HOUR, weekly=True), digest_cap=20) == (2, 4)
    assert letters([], Mode.DAILY, HOUR, digest_cap=20) == (0, 0)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("batches", [(20,), (21,), (45, 0, 3), (30, 30, 2), (70,)])
async def test_caps_and_carrying_are_counted_as_runs_keep_them(
    sqlite_store: SqliteStore, batches: tuple[int, ...], mode: Mode
) -> None:
    scene = Scene(sqlite_store)
    await scene.run()
    await scene.person(ANN, mode)
    await scene.run()
    for hours, size in zip((1, 26, 30), batches, strict=False):
        await scene.until(START + timedelta(hours=hours), every_min=60)
        scene.later(minutes=15)
        scene.board.jobs = [*scene.board.jobs, *(f"j{hours}x{n:02d}" for n in range(size))]
        await scene.run()
    user = (await users.read(sqlite_store, ids.uid_of(ANN))).record  # type: ignore[union-attr]
    hour = replace(HOUR, weekly=mode is Mode.WEEKLY)
    tried = preview(user, await LastWeek().jobs(sqlite_store, now=scene.now), hour=hour, digest_cap=20)
    scene.now = START.replace(hour=16) + timedelta(days=1)
    await scene.until(scene.now + timedelta(days=15), every_min=60 * 8)
    sent = scene.building.letters
    assert (tried.mails, tried.listed) == (len(sent), sum(letter.listed for letter in sent))


async def test_a_condition_that_is_not_understood_is_named_and_asks_nothing(world: World) -> None:
    await store_jobs(world, job_of(world, 1), job_of(world, 2, title="Python and PHP", pay="$20 an hour", pay_min=20.0,
                                                    pay_max=20.0, currency="USD", period="hour"))  # fmt: skip
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, min_hourly="50", exclude="php")
        typed = {"was": "My search", "keywords": "python", "min_hourly": "abc", "exclude": "x" * 101, "do": "preview"}
        page = await client.post("/me/search", data=typed)
        piece = await client.post("/me/search", data=typed, headers={"x-scout-part": "preview"})
        for answer in (page, piece):
            said = text(answer.text)
            assert "Not counted yet: “None of these” is not understood." in said
            assert "“Lowest pay an hour” is not understood. 'abc' is not an amount; write it as 60" in said
            assert "2 of the 2 jobs" in said, "what is kept of a condition was counted, not what is typed"
        good = await client.post("/me/search", data=typed | {"min_hourly": "50", "exclude": "php"})
        assert "Not counted yet" not in text(good.text)
        assert "1 of the 2 jobs" in text(good.text)


async def test_the_age_gate_is_asked_as_of_the_day_the_job_came(world: World) -> None:
    old = world.now
    await store_jobs(world, job_of(world, 1, first_seen=old, fresh_at=old, published_at=old - timedelta(hours=2)))
    world.after(days=5)
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, max_age_h="3")
        assert "1 mail" in text((await client.get("/me/search", params={"name": "My search"})).text)


async def test_twins_are_one_job_in_the_preview(world: World) -> None:
    first, twin = job_of(world, 1), job_of(world, 2)
    await store_jobs(world, first, replace(twin, key=first.key))
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        assert "1 job in 1 mail" in text((await client.get("/me")).text)


async def test_a_preview_over_two_thousand_jobs_reads_the_store_once_for_many_visitors(world: World) -> None:
    await store_jobs(world, *(job_of(world, n) for n in range(2000)))
    reads: list[str] = []

    async def note(operation: str, collection: str) -> None:
        if collection == JOBS:
            reads.append(operation)

    world.spy(before=note)
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        first = len(reads)
        tried = {"keywords": "django, python", "do": "preview"}
        answers = await asyncio.gather(*(client.post("/me/search", data=tried) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [200] * 3
    assert 0 < first == len(reads) <= 6  # pages of one reading
    assert "2,000" in answers[0].text


WHY = (
    ("https://elsewhere.example.com/x", "Not fetched"),
    ("https://jobs.example.com/python-developer?utm_source=mail#top", "Sent Mon 30 Nov, 07:20 UTC"),
    ("HTTPS://WWW.jobs.example.com/python-and-php/", "it has php in the title, which is excluded"),
    ("jobs.example.com/gardener-two", "none of the keywords is in the title or the text"),
    ("https://jobs.example.com/python-of-old", "on the board already when that was first read"),
    ("https://jobs.example.com/python-late", "about to be decided"),
)


async def test_why_not_names_the_very_thing(world: World) -> None:
    await world.begin(item("Python of old"), item("Gardener"))
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, exclude="php")
        world.after(minutes=20)
        listed = [item(t) for t in ("Python developer", "Python and PHP", "Gardener two", "Python of old", "Gardener")]
        world.feed(*listed)
        await world.cron()
        late = job_of(
            world, 9, title="Python late", link="https://jobs.example.com/python-late", state=JobState.OPEN, link_id="",
        )  # fmt: skip
        await store_jobs(world, late)  # stored before there was an index of links
        before = await world.dump()
        for link, said in WHY:
            assert said in text((await client.get("/me/why", params={"link": link})).text), link
        assert await world.dump() == before


async def test_why_not_knows_the_verdict_the_stop_the_quota_and_the_unclear_letter(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        uid = ids.uid_of(ANN)

        async def asked(link: str) -> str:
            return text((await client.get("/me/why", params={"link": link})).text)

        jobs = [job_of(world, n) for n in range(4)]
        await store_jobs(world, *jobs)
        verdict = Verdict(
            uid=uid, key=jobs[0].key, job_id=jobs[0].id, state=VerdictState.DECIDED, created_at=world.now, fit_score=2,
            fit_reason="python", score=58, reason="Too far from what you do.",
        )  # fmt: skip
        await users.change(world.store, uid, lambda user: replace(user, ai=True, ai_threshold=70))
        await world.store.create("matches", {verdict.id: encode(verdict)})
        assert "Score 58, under your 70. Too far from what you do." in await asked(jobs[0].link)

        held = replace(
            deliveries.offered(uid, jobs[1], score=2, reason="python in the title", now=world.now),
            wake_at=world.now, why=OVER,
        )  # fmt: skip
        await deliveries.queue(world.store, [deliveries.to_digest(held, hour=HOUR, now=world.now)])
        assert (
            "Waiting for your daily mail of Mon 30 Nov, 08:00 UTC; it could not come at once: the mails of the day "
            "were used up." in await asked(jobs[1].link)
        )

        offer = deliveries.offered(uid, jobs[2], score=2, reason="python in the title", now=world.now)
        won = await deliveries.claim(world.store, [offer], [], nonce="n" * 32, now=world.now, lease_s=60)
        await deliveries.settle(world.store, won, Attempt(Outcome.UNCLEAR, "no answer"), hour=HOUR, now=world.now)
        unclear = await asked(jobs[2].link)
        assert "You may or may not have this one: nobody can tell whether the mail arrived" in unclear
        assert "no answer" not in unclear
        assert (await world.rows(ANN))[jobs[2].title].state is State.UNCLEAR

        token = (await users.read(world.store, uid)).record.token  # type: ignore[union-attr]
        await client.post(f"/unsubscribe/{token}")
        assert "No mail is sent to you" in await asked(jobs[3].link)


async def test_why_not_does_not_blame_the_search_alone_for_what_came_while_mail_was_off(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        world.after(minutes=15)
        await world.cron()
        await store_jobs(world, job_of(world, 1))

        async def asked() -> str:
            return text((await client.get("/me/why", params={"link": "https://jobs.example.com/1"})).text)

        assert "but when it came you asked for something else, or mail was off for you." in await asked()
        uid, end = ids.uid_of(ANN), world.now + timedelta(days=2)
        await users.change(world.store, uid, lambda user: replace(user, paused_until=end))
        assert "Paused until Wed 2 Dec, 07:15 UTC. It would fit" in await asked()
        world.now = end
        assert (
            "but it came before your pause ended, Wed 2 Dec, 07:15 UTC: you were paused, or asked for" in await asked()
        )
        await store_jobs(world, job_of(world, 2, link="https://jobs.example.com/2"))
        later = await client.get("/me/why", params={"link": "https://jobs.example.com/2"})
        assert "or mail was off for you" in text(later.text)


@pytest.mark.parametrize("typed", ["javascript:alert(1)", "not a link at all", "https://", "x" * 9000, "http://u@h/"])
async def test_what_is_no_link_is_told_beside_the_field(world: World, typed: str) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        answer = await client.get("/me/why", params={"link": typed})
    assert answer.status_code == 400
    assert 'id="link-error"' in answer.text
