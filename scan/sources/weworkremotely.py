"""We Work Remotely: a feed with elements of its own; each of its categories is a feed as well."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult

from scan.sources.feed import make
from scan.sources.kind import Kind

HOUR_S = 3600


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
