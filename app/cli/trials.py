"""`scout sources add` and `test`: what a board would tell, and one more in the list."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from app.cli.errors import Mistake, Trouble
from app.cli.trial import interval, show_answer
from app.parts import Parts, utc_now
from app.settings import Settings, load
from app.shown import console, pairs
from app.sourcefile import file_of, text_of, with_entry, write
from app.wiring import looking, wired
from ledger.records import SourceState
from scan.posting import Answer, Failed, Source
from scan.sources.config import parse
from scan.sources.kind import SourceConfig

ADD_ONE = "Add one: scout sources add URL; without SCOUT_SOURCES the shipped list is watched"
LOOK_S = 20.0  # a look at a URL, and a poll


@click.command()
@click.argument("name")
def test(name: str) -> None:
    """Poll one source now and show ten jobs.

    Nothing is stored and nobody is told; the board is asked once. Exit code 1 if there is no readable answer.

    \b
    Examples:
      scout sources test remotive
    """
    source, answer = asyncio.run(_tested(name))
    console().print(pairs([("board", source.platform), ("interval", interval(source.min_interval_s))]))
    show_answer(answer, now=utc_now())
    if isinstance(answer, Failed):
        raise Trouble(f"{name} has no readable answer")


@click.command()
@click.argument("url")
@click.option("--name", help="What to call it; part of the jobs' ids of a feed. Default: after the board or the host.")
@click.option("--id-rule", metavar="RULE", help="Of a feed: auto, guid, link, title+date or regex:PATTERN.")
@click.option("--dry-run", is_flag=True, help="Show everything, write nothing.")
def add(url: str, name: str | None, id_rule: str | None, dry_run: bool) -> None:
    """Find out what a URL is, show ten jobs, and add it.

    A feed, a board that scout knows, a company's careers page, or a page that links a feed. The entry goes to the
    file in SCOUT_SOURCES; without one a sources.toml is written here that begins with the shipped list.

    \b
    Examples:
      scout sources add https://example.com/jobs.rss
      scout sources add https://jobs.lever.co/example
      scout sources add https://example.com/jobs.rss --id-rule 'regex:/jobs/([0-9]+)' --dry-run
    """
    if "://" not in url and not url.startswith("file:"):
        raise Mistake(f"{url[:200]!r} is no URL; write https://...")
    settings = load()
    file = file_of(settings.sources)
    before = text_of(file)
    taken = [config.name for config in parse(before, where=file.name)]
    if name in taken:
        raise Mistake(f"--name: {name!r} is taken; see: scout sources")
    entry, how, ids, config, answer = asyncio.run(_looked_at(settings, url, name, id_rule, taken))
    whole = with_entry(before, entry, where=file.name)
    facts = [("found", how), ("name", config.name), ("kind", config.kind), ("ids", ids),
             ("interval", interval(config.min_interval_s)), ("attribution", config.attribution),
             ("terms", config.terms)]  # fmt: skip
    console().print(pairs(facts))
    show_answer(answer, now=utc_now())
    if isinstance(answer, Failed):
        raise Trouble("nothing was written, for want of a readable answer")
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
        return
    write(file, whole)
    click.echo(f"Wrote {config.name} to {file}. Its first poll is a silent baseline.")
    if settings.sources is None:
        click.echo(f"To watch that list instead of the shipped one, set SCOUT_SOURCES={file} (in .env, say).")


def must_be_there(name: str, parts: Parts) -> Source:
    """The configured source of that name. Raises Mistake, which lists the names."""
    source = parts.sources.get(name)
    if source is None:
        there = f"there are {', '.join(parts.sources)}" if parts.sources else f"none is configured. {ADD_ONE}"
        raise Mistake(f"there is no source {name!r}; {there}")
    return source


async def _tested(name: str) -> tuple[Source, Answer]:
    async with wired(load()) as parts:
        source = must_be_there(name, parts)
        return source, await source.poll(SourceState(name, None), now=utc_now(), deadline_s=LOOK_S)


async def _looked_at(
    settings: Settings, url: str, name: str | None, id_rule: str | None, taken: list[str]
) -> tuple[dict[str, Any], str, str, SourceConfig, Answer]:
    from scan.sources.discover import Found, discover, name_for
    from scan.sources.registry import source_of

    async with looking(settings) as (fetcher, secrets):
        found = await discover(url, fetcher, now=utc_now(), deadline_s=LOOK_S)
        if isinstance(found, Failed):
            raise Trouble(found.reason)
        if not isinstance(found, Found):
            raise Mistake(f"that URL cannot be read: {found}")
        entry: dict[str, Any] = {"name": name or name_for(found.entry, taken), **found.entry}
        if id_rule is not None:
            entry["id_rule"] = id_rule
        (config,) = parse(with_entry("", entry, where="the new entry"), where="the new entry")
        source = source_of(config, fetcher, secrets)
        answer = await source.poll(SourceState(config.name, None), now=utc_now(), deadline_s=LOOK_S)
        return entry, found.how, id_rule or found.ids, config, answer
