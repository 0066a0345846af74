"""Upwork's GraphQL API, under the owner's own approved key. Off until an entry says that its terms were read.

Tested on data shaped after the published schema only: no recorded answer of the real API was to be had. What
the board says in trouble is passed on by its class, never word for word.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import partial

from ledger.records import Client, Health, SourceState
from scan.fetch import Fetcher
from scan.posting import Answer, Failed, Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import Amounts, posting, reading, with_skills
from scan.sources.item import Item, Unreadable, json_of
from scan.sources.kind import Kind, Option, Secrets, SourceConfig
from scan.sources.upwork_login import Login, NoToken
from scan.sources.upwork_rss import JOB_LINK

QUARTER_S = 900
UID_EPOCH_MS = 1288834974657  # an id is a time and a counter; right within 2 s on 91 % of 14,981 recorded ones
SITE = "https://www.upwork.com/jobs/~02"
WARNING = (
    "Upwork approves each key by hand, forbids passing its jobs on and keeping them beyond 24 hours, and may close"
    " the account of who does otherwise; read its API terms first"
)
QUERY = """
query Scout($filter: MarketplaceJobPostingsSearchFilter) {
  marketplaceJobPostingsSearch(
    marketPlaceJobFilter: $filter, searchType: USER_JOBS_SEARCH, sortAttributes: [{field: RECENCY}]
  ) {
    totalCount
    edges { node {
      id title description ciphertext createdDateTime publishedDateTime
      amount { rawValue currency } hourlyBudgetMin { rawValue currency } hourlyBudgetMax { rawValue currency }
      duration experienceLevel skills { name prettyName } category subcategory
      client { totalSpent { rawValue currency } totalFeedback verificationStatus location { country } }
    } }
  }
}
"""


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    """A search's answer. Errors of GraphQL come with HTTP 200, a missing scope among them."""
    document = json_of(body)
    if isinstance(document, Unreadable):
        return document
    errors = Item(document).raw("errors")
    if errors:
        return Unreadable(f"the board answered with {_class_of(errors)}")
    data = Item(document).item("data")
    nodes = _nodes(data)
    if nodes is None:
        return Unreadable("JSON without a list of jobs")
    return Page(reading(nodes, partial(_posting, now=now)))


def _nodes(data: Item) -> list[object] | None:
    edges = data.item("marketplaceJobPostingsSearch").raw("edges")
    if isinstance(edges, list):
        return [edge.get("node") if isinstance(edge, dict) else None for edge in edges]
    jobs = data.item("publicMarketplaceJobPostingsSearch").raw("jobs")
    return jobs if isinstance(jobs, list) else None


def _class_of(errors: object) -> str:
    first = Item(errors[0]) if isinstance(errors, list) else Item({})
    name = first.item("extensions").text("classification", "code")
    return f"an error of class {name}" if re.fullmatch(r"[A-Za-z_]{1,40}", name) else "an error"


def _posting(item: Item, *, now: datetime) -> Posting | str:
    id_ = item.text("id")
    if not re.fullmatch(r"[0-9]{19}", id_):
        return "no id"
    amount, low, high = (_money(item, name) for name in ("amount", "hourlyBudgetMin", "hourlyBudgetMax"))
    currency = next((money[1] for money in (low, high, amount) if money[1]), "")
    hourly = Amounts(low[0], high[0], currency, "hour")
    is_hourly = bool(hourly.low or hourly.high)
    client = item.item("client")
    skills = [skill.text("prettyName", "name") for skill in item.items("skills")]
    made_at = ((int(id_) >> 22) + UID_EPOCH_MS) / 1000
    return posting(
        "upwork",
        id_,
        name=item.text("title"),
        link=SITE + id_,
        markup=with_skills(item.text("description"), skills),
        now=now,
        amounts=hourly if is_hourly else Amounts(amount[0], amount[0], currency, "fixed"),
        contract="freelance",
        client=_client(client),
        tags=(
            "hourly" if is_hourly else "fixed" if amount[0] else "",
            *skills,
            item.text("category").replace("_", " "),
            item.text("experienceLevel").replace("_", " "),
        ),
        dates=(item.raw("publishedDateTime"), item.raw("createdDateTime"), made_at),
        is_html=False,
    )


def _client(client: Item) -> Client | None:
    """A rating of 0 is that of a new client: none."""
    if not client:
        return None
    status = client.text("verificationStatus").upper()
    hires = client.number("totalHires")
    return Client(
        rating=client.number("totalFeedback") or None,
        spent=_money(client, "totalSpent")[0],
        hires=int(hires) if hires is not None else None,
        payment_verified={"VERIFIED": True, "NOT_VERIFIED": False}.get(status),
    )


def _money(item: Item, name: str) -> tuple[float | None, str]:
    """Money is an object with its amount as text; the public query gives plain numbers."""
    money = item.item(name)
    return (money.number("rawValue"), money.text("currency")) if money else (item.number(name), "")


class UpworkSource(BoardSource):
    """A BoardSource that signs in first, and once more when its token is no longer taken."""

    def __init__(self, config: SourceConfig, *, fetcher: Fetcher, login: Login) -> None:
        super().__init__(config, fetcher=fetcher, first=self._ask, platform="upwork", floor_s=QUARTER_S)
        self._login = login
        self._config = config
        self._token = ""

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        for is_second in (False, True):
            try:
                self._token = await self._login.token(now=now, deadline_s=deadline_s / 4, anew=is_second)
            except NoToken as error:
                return Failed(error.health, str(error))
            answer = await super().poll(state, now=now, deadline_s=deadline_s / 4)
            if not (isinstance(answer, Failed) and answer.health is Health.REFUSED and "HTTP 401" in answer.reason):
                break
        return answer

    def _ask(self, now: datetime) -> Ask:
        options = self._config.options
        wanted = {"searchExpression_eq": options["query"]} if options.get("query") else {}
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if options.get("tenant"):
            headers["X-Upwork-API-TenantId"] = options["tenant"]
        content = json.dumps({"query": QUERY, "variables": {"filter": wanted}}).encode()
        return Ask(self._config.url, partial(parse, now=now), headers, content)


def make(config: SourceConfig, fetcher: Fetcher, secrets: Secrets) -> UpworkSource:
    return UpworkSource(config, fetcher=fetcher, login=Login(config, fetcher=fetcher, secrets=secrets))


KIND = Kind(
    "upwork",
    make,
    ids="the 19-digit number, the same that the job's page and mails carry",
    url="https://api.upwork.com/graphql",
    platform="upwork",
    min_interval_s=QUARTER_S,
    floor_s=QUARTER_S,
    attribution="Upwork",
    terms=WARNING,
    options={
        "terms_read": Option(f"write 'yes' once you have read this: {WARNING}", required=True, pattern="yes"),
        "client_id": Option("the key's id", required=True),
        "client_secret": Option("the key's secret", required=True),
        "refresh_token": Option("what the sign-in gave; renewed in the store from then on", required=True),
        "token_url": Option("where tokens are renewed", default="https://www.upwork.com/api/v3/oauth2/token"),
        "query": Option("a search expression; unset: all jobs that the key may see"),
        "tenant": Option("the organisation's id, for people with several"),
    },
    hosts=(),
    job_link=re.compile(r"//upwork\.com/[^?#]*" + JOB_LINK),
)
