"""Hacker News: the two monthly threads in which people hire, read through its search API.

Jobs are the top-level comments; their authors' names are read nowhere and kept nowhere.
"""

from __future__ import annotations

import html
import re
from datetime import datetime
from functools import partial
from urllib.parse import urlencode

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.entries import Reading
from scan.sources.fields import posting, reading
from scan.sources.hiring_line import read_line
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind, Secrets, SourceConfig
from scan.text import one_line, plain

PAGE_ITEMS = 1000  # the API's own maximum; the largest thread has about 800 comments
STORIES = 12  # three threads a month: this month's and some before
TEXT_MIN_CHARS = 60
LINE_MAX_CHARS = 2000
TITLE_MAX_CHARS = 100  # of one that is made from the text
ITEM = "https://news.ycombinator.com/item?id="

THREADS = (
    re.compile(r"Ask HN: Who is hiring\?", re.IGNORECASE),
    re.compile(r"Ask HN: Freelancer\? Seeking freelancer\?", re.IGNORECASE),
)
# In the second thread most comments are people who look for work.
SEEKS_WORK = re.compile(r"\W{0,3}seeking\s+(?:work|freelance\s+work|a\s+job)\b|\W{0,3}location\s*:", re.IGNORECASE)
SEEKS_SOMEBODY = re.compile(r"\W{0,3}seeking\s+(?:a\s+)?freelancers?\b[\s|:,-]{0,5}", re.IGNORECASE)
LINE_END = re.compile(r"<p>|\n")


def parse(body: bytes, *, now: datetime, root: str = "") -> Page | Unreadable:
    """The newest thread of each kind among the stories, to be asked for next."""
    stories = items_at(body, "hits")
    if isinstance(stories, Unreadable):
        return stories
    found: list[str] = []
    for thread in THREADS:
        titled = (Item(story) for story in stories if isinstance(story, dict))
        ids = (story.text("objectID", "story_id") for story in titled if thread.match(story.text("title")))
        found += [id_ for id_ in ids if re.fullmatch(r"[0-9]{1,12}", id_)][:1]
    if not found:
        return Unreadable("no hiring thread among the stories")
    return Page(Reading((), ()), tuple(_comments(root, id_, now=now) for id_ in found))


def _comments(root: str, story: str, *, now: datetime) -> Ask:
    query = urlencode({"tags": f"comment,story_{story}", "hitsPerPage": str(PAGE_ITEMS)})
    return Ask(f"{root}?{query}", partial(parse_comments, now=now))


def parse_comments(body: bytes, *, now: datetime) -> Page | Unreadable:
    """The jobs among a thread's comments; replies are none, and neither are people who look for work."""
    hits = items_at(body, "hits")
    if isinstance(hits, Unreadable):
        return hits
    return Page(reading(hits, partial(_posting, now=now), names=False))


def _posting(item: Item, *, now: datetime) -> Posting | str | None:
    id_, story = item.text("objectID", "id"), item.text("story_id")
    if not id_.isascii() or not id_.isdigit():
        return "no id"
    if story and item.text("parent_id") != story:
        return None
    markup = item.text("comment_text", "text")
    text = plain(markup)
    if SEEKS_WORK.match(text):
        return None
    if len(text) < TEXT_MIN_CHARS:
        return "no job: a few words only"
    first, following = (*map(_line, LINE_END.split(markup, maxsplit=2)[:2]), "")[:2]
    line = read_line(SEEKS_SOMEBODY.sub("", first, count=1), following)
    standing = "freelance" if SEEKS_SOMEBODY.search(first) else ""
    return posting(
        "hackernews",
        id_,
        name=line.roles or one_line(following or text, max_chars=TITLE_MAX_CHARS),
        link=ITEM + id_,
        markup=text,
        now=now,
        company=line.company,
        place=line.place,
        pay=line.pay,
        contract=", ".join(filter(None, (standing, line.contract))),
        dates=(item.raw("created_at"), item.raw("created_at_i")),
        is_html=False,
    )


def _line(markup: str) -> str:
    return html.unescape(plain(markup[:LINE_MAX_CHARS]).partition("\n")[0])


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    first = f"{config.url}?{urlencode({'tags': 'story,author_whoishiring', 'hitsPerPage': str(STORIES)})}"
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: Ask(first, partial(parse, now=now, root=config.url)),
        platform=KIND.platform,
        pages_max=1 + len(THREADS),
    )


KIND = Kind(
    "hackernews",
    make,
    ids="the comment's number",
    url="https://hn.algolia.com/api/v1/search_by_date",
    platform="hackernews",
    min_interval_s=1800,
    attribution="Hacker News",
    terms="A public search API without a key; comments belong to their authors and hold their names and addresses.",
    hosts=("news.ycombinator.com", "hn.algolia.com"),
    job_link=re.compile(r"//news\.ycombinator\.com/item\?id=([0-9]{1,12})(?:&|$)"),
)
