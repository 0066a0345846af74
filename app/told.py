"""A run report in words, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOTES_MAX = 10


def headline(report: Mapping[str, Any]) -> str:
    """`completed in 0.4 s`, or why not."""
    why = report.get("reason") or report.get("skipped") or ""
    return f"{report['status']} in {report['took_s']:.1f} s" + (f": {why}" if why else "")


def lines(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(what, figures) line by line; `note` for each thing that went wrong."""
    if "sources" not in report:  # skipped: another run holds the lease
        return [("held by", f"{report['holder']} since {report['since']}")]
    jobs, mail, cost, left = report["jobs"], report["mail"], report["cost"], report["remaining"]
    matches, sources = report["matches"], report["sources"]
    told = [
        ("sources", f"{sources['ok']} read, {sources['not_modified']} unchanged, {sources['not_due']} not due, "
                    f"{len(sources['failed'])} failed"),
        ("jobs", f"{jobs['seen']} seen, {jobs['new']} new, {_count(jobs['twins'], 'twin')}, {jobs['stale']} stale, "
                 f"{jobs['skipped']} skipped"),
        ("matches", f"{matches['fit']} fit of {_count(matches['pairs'], 'pair')}"),
        *_verdicts(matches, cost),
        ("letters", f"{mail['sent']} sent: {_count(mail['alerts'], 'alert')}, {_count(mail['digests'], 'digest')}"),
        ("rows", ", ".join(f"{mail[name]} {name}" for name in ("queued", "failed", "deferred", "unclear", "expired"))),
        ("cost", f"{_count(cost['reads'], 'read')}, {_count(cost['writes'], 'write')}, "
                 f"{_count(cost['deletes'], 'delete')}, {_count(cost['round_trips'], 'round trip')}"),
    ]  # fmt: skip
    if any(left.values()):
        told.append(
            ("left", ", ".join(_count(n, name.removesuffix("s")) for name, n in left.items()) + ", for the next call")
        )
    notes = [f"{failed['name']}: {failed['reason']}" for failed in sources["failed"]] + list(report["errors"])
    told += [("note", note) for note in notes[:NOTES_MAX]]
    if len(notes) > NOTES_MAX:
        told.append(("note", f"and {len(notes) - NOTES_MAX} more; see the report as JSON"))
    return told


def _verdicts(matches: Mapping[str, Any], cost: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where a model had a part: calls, stored verdicts, what waits, tokens and money."""
    if not any(matches[name] for name in ("ai_calls", "ai_cached", "undecided")):
        return []
    tokens = f"{cost['ai_input_tokens']:,} + {cost['ai_output_tokens']:,} tokens"
    return [("verdicts", f"{_count(matches['ai_calls'], 'call')}, {matches['ai_cached']} stored, "
                         f"{matches['undecided']} undecided; {tokens}, ${cost.get('ai_usd', 0):.4f}")]  # fmt: skip


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
