"""`scout verdict`: how well the model judges, and asking it anew."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click

from app import evaluation, rescore
from app.cli.errors import Mistake, OneLine, Trouble
from app.evaluation import SHIPPED, BadSet, Evaluation, Judged
from app.prices import table as price_table
from app.settings import Settings, load
from app.shown import console, counted, pairs, show_json, table
from app.wiring import judge_of, wired
from ledger import ids
from ledger import users as people

SKETCHED_FORM = "a JSON object of case id -> score"


@click.group(cls=OneLine)
def verdict() -> None:
    """See how well the model judges; ask it anew."""


@verdict.command("eval")
@click.option(
    "--set", "set_", type=click.Path(path_type=Path), default=SHIPPED, help="People and postings. Default: Scout's own."
)
@click.option("--sketched", type=click.Path(path_type=Path), help="Hand-made answers; no model is asked.")
@click.option("--json", "json_", is_flag=True, help="Print it as JSON.")
def eval_(set_: Path, sketched: Path | None, json_: bool) -> None:
    """Put the evaluation set to the model in the settings: agreement, cost, time.

    It costs what its calls cost. With --sketched no model is asked, and no agreement is printed. Exit code 1 if the
    model had no answer at all.

    \b
    Examples:
      scout verdict eval
      SCOUT_AI_MODEL=claude-haiku-4-5 scout verdict eval --json
    """
    try:
        asked = evaluation.read_set(set_)
        drawn = _sketched(sketched) if sketched is not None else None
    except BadSet as error:
        raise Mistake(str(error)) from error
    if drawn is not None:
        _show_sketched(asked, drawn, json_=json_)
        return
    settings = load()
    if settings.anthropic_api_key is None:
        raise Mistake("ANTHROPIC_API_KEY is not set: there is no model to ask; with --sketched FILE none is needed")
    judged = asyncio.run(_ask(settings, asked))
    _show(asked, judged, settings, json_=json_)
    if not judged.opinions:
        raise Trouble(f"the model had no answer: {next(iter(judged.faults.values()), 'the set has no case')}")


async def _ask(settings: Settings, asked: Evaluation) -> Judged:
    judge = judge_of(settings)
    assert judge is not None
    try:
        return await evaluation.ask(judge, asked, batch=settings.ai_batch)
    finally:
        await judge.close()


def _sketched(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadSet(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict) or not all(type(score) is int and 0 <= score <= 100 for score in found.values()):
        raise BadSet(f"{path}: it must be {SKETCHED_FORM}, from 0 to 100")
    return found


def _show_sketched(asked: Evaluation, drawn: dict[str, int], *, json_: bool) -> None:
    """Numbers that somebody made up agree with whatever they were made for: so none is drawn from them."""
    if json_:
        show_json({"model": None, "sketched": True, "scores": drawn})
        return
    rows = [(case.id, f"{case.band[0]} to {case.band[1]}", drawn.get(case.id)) for case in asked.case]
    console().print(table(("case", "expected", "sketched"), rows))
    click.echo("No model was asked: these answers are sketched by hand, and say nothing about any model.")


def _show(asked: Evaluation, judged: Judged, settings: Settings, *, json_: bool) -> None:
    scores = {id_: opinion.score for id_, opinion in judged.opinions.items()}
    agreed = sum(evaluation.in_band(case, scores[case.id]) for case in asked.case if case.id in scores)
    moved = evaluation.moved_by_orders(asked, scores)
    bill = price_table(settings.ai_prices)[settings.ai_model].bill(judged.usage)
    if json_:
        show_json(
            {
                "model": settings.ai_model, "sketched": False, "cases": len(asked.case), "answered": len(scores),
                "agreed": agreed, "moved_by_orders": moved, "scores": scores, "faults": dict(judged.faults),
                "calls": judged.calls, "input_tokens": judged.usage.all_input_tokens,
                "output_tokens": judged.usage.output_tokens, "usd": bill.micros / 1e6,
                "took_s": round(judged.took_s, 2),
            }
        )  # fmt: skip
        return
    rows: list[tuple[Any, ...]] = []
    for case in asked.case:
        score = scores.get(case.id)
        ok = "no answer" if score is None else "yes" if evaluation.in_band(case, score) else "NO"
        said = judged.opinions[case.id].reason if score is not None else judged.faults.get(case.id, "")
        rows.append((case.id, f"{case.band[0]} to {case.band[1]}", score, ok, said))
    console().print(table(("case", "expected", "score", "agrees", "reason"), rows))
    worst = max(moved.values(), key=abs, default=0)
    console().print(
        pairs(
            [
                ("model", settings.ai_model),
                ("agreement", _agreement(agreed, len(scores), len(asked.case))),
                ("orders", f"moved a score by {worst:+d} points at most, in {counted(len(moved), 'posting')}"),
                ("cost", f"${bill.micros / 1e6:.4f} for {counted(judged.calls, 'call')}: "
                         f"{judged.usage.all_input_tokens:,} + {judged.usage.output_tokens:,} tokens"),
                ("time", f"{judged.took_s:.1f} s"),
            ]
        )
    )  # fmt: skip


def _agreement(agreed: int, answered: int, cases: int) -> str:
    said = f"{agreed} of {answered} in the expected band ({agreed / answered:.0%})" if answered else "unknown"
    return said + (f"; {cases - answered} without an answer" if answered < cases else "")


@verdict.command("rescore")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask.")
def rescore_(email: str, yes: bool) -> None:
    """Ask anew about jobs that an older profile was judged against and that were not sent.

    Shows how many and what it will cost; the next runs do it, within the limits.

    \b
    Example:
      scout verdict rescore ann@example.com
    """
    try:
        uid = ids.uid_of(email)
    except ids.BadAddress as error:
        raise Mistake(str(error)) from error
    found = asyncio.run(_find(uid))
    if found is None:
        raise Mistake(f"no such person: {email.strip()[:80]}; see: scout users list")
    if found.waiting:
        click.echo(f"{counted(found.waiting, 'job')} wait for the model already: scout cron")
    if not found.held:
        if found.waiting:
            return
        click.echo("Every stored verdict is for the profile as it is now, or its job was sent: nothing to ask anew")
        return
    more = f", the newest of {len(found.held) + found.more:,}" if found.more else ""
    click.echo(
        f"{counted(len(found.held), 'job')} to ask anew about{more}: about ${found.about_micros / 1e6:.4f}, "
        f"more if the model has to be asked again (so far they cost ${found.spent_micros / 1e6:.4f})"
    )
    if not yes:
        if not sys.stdin.isatty():
            raise Mistake("this costs money and asks first, and nobody is here to answer; add --yes")
        click.confirm("Ask anew?", abort=True)
    click.echo(f"{counted(asyncio.run(_want(found)), 'job')} wait for the next run: scout cron")


async def _find(uid: str) -> rescore.Found | None:
    settings = load()
    async with wired(settings) as parts:
        if parts.judge is None:
            raise Mistake("ANTHROPIC_API_KEY is not set: there is no model to ask")
        user = await people.read(parts.store, uid)
        if user is None:
            return None
        if not user.record.ai:
            raise Mistake("no model judges for this person; switch it on: scout users add --ai")
        if not user.record.active:
            raise Mistake("no mail is sent to this person, so nothing would come of it; see: scout users show")
        price = price_table(settings.ai_prices)[settings.ai_model]
        return await rescore.find(parts.store, user.record, price=price, batch=settings.ai_batch, now=parts.clock())


async def _want(found: rescore.Found) -> int:
    async with wired(load()) as parts:
        return await rescore.want(parts.store, found, now=parts.clock())
