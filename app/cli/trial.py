"""What a poll brought, for people: ten jobs as they were read, and why others were not."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import click

from app.shown import console, counted, table
from scan.posting import Answer, Failed, Items, NotModified, Posting

JOBS_SHOWN = 10
ID_SHOWN = 40


def show_answer(answer: Answer, *, now: datetime) -> None:
    match answer:
        case Failed():
            click.echo(f"{answer.health.value}: {answer.reason}")
        case NotModified():
            click.echo("Nothing has come since the last poll.")
        case Items():
            _show_items(answer, now=now)


def interval(seconds: int | None) -> str:
    """`60 min`; None: as the feed says."""
    if seconds is None:
        return "as the feed says, 30 min or longer"
    return f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"


def _show_items(items: Items, *, now: datetime) -> None:
    click.echo(f"{counted(len(items.postings), 'job')}, {len(items.skipped)} skipped.")
    if items.postings:
        heads = ("title", "company", "place", "pay", "posted", "id")
        console().print(table(heads, [_row(posting, now=now) for posting in items.postings[:JOBS_SHOWN]]))
    for reason, count in Counter(skipped.reason for skipped in items.skipped).most_common(3):
        click.echo(f"skipped: {reason}" + (f" ({count} times)" if count > 1 else ""))


def _row(posting: Posting, *, now: datetime) -> tuple[object, ...]:
    id_ = posting.native_id
    return (
        posting.title[:60],
        posting.company[:30],
        posting.place[:30],
        posting.pay[:30] or _amounts(posting),
        _age(posting, now=now),
        id_ if len(id_) <= ID_SHOWN else id_[: ID_SHOWN - 1] + "…",
    )


def _amounts(posting: Posting) -> str:
    stated = [f"{amount:,.0f}" for amount in dict.fromkeys((posting.pay_min, posting.pay_max)) if amount]
    return f"{posting.currency} {' - '.join(stated)} {posting.period}".strip() if stated else ""


def _age(posting: Posting, *, now: datetime) -> str:
    if posting.published_at is None:
        return "undated"
    hours = max(0.0, (now - posting.published_at).total_seconds()) / 3600
    return f"{hours:.0f} h ago" if hours < 48 else f"{hours / 24:.0f} days ago"
