"""We Work Remotely: a feed with elements of its own; each of its categories is a feed as well.

A text begins with where the firm sits. Firms write there too where their people may be, under a board that then says
"Anywhere in the World": the narrower of the two counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import SplitResult

from scan.areas import WORLD
from scan.fetch import Fetcher
from scan.places import read_places, remote_places
from scan.posting import Posting
from scan.sources.feed import FeedSource, feed_source
from scan.sources.fields import short
from scan.sources.kind import Kind, Secrets, SourceConfig

HOUR_S = 3600
HEAD = re.compile(r"Headquarters:([^\n]{0,200})(?:\n|\Z)(?:URL:[^\n]{0,500}(?:\n|\Z))?")


def finished(posting: Posting) -> Posting:
    """The text without its head; the place of remote work that stands there, if the board says anywhere."""
    head = HEAD.match(posting.text)
    if head is None:
        return posting
    cut = replace(posting, text=posting.text[head.end() :])
    line = head[1].strip(" -")
    areas = remote_places(line) if read_places(posting.place) == (WORLD,) else ()
    if not areas or WORLD in areas:
        return cut
    return replace(cut, place=short(line), countries=areas)


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> FeedSource:
    return feed_source(config, fetcher, finish=finished)


def recognise(url: SplitResult) -> Mapping[str, str] | None:
    if (url.hostname or "").removeprefix("www.") != "weworkremotely.com":
        return None
    return {"url": url.geturl()} if url.path.endswith(".rss") else {}


KIND = Kind(
    "weworkremotely",
    make,
    ids="the last part of the link; -1 and -2 there are listings of their own",
    url="https://weworkremotely.com/remote-jobs.rss",
    platform="weworkremotely",
    min_interval_s=HOUR_S,
    id_rule=r"regex:/remote-jobs/([^/?#]+)$",
    title_form="{company}: {title}",
    attribution="We Work Remotely",
    terms="The feed asks for an hour between two polls (ttl 60).",
    hosts=("weworkremotely.com",),
    job_link=re.compile(r"//weworkremotely\.com/remote-jobs/([^/?#]+)(?:[?]|$)"),
    recognise=recognise,
)
