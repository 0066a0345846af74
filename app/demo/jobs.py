"""The demo's jobs, made up from a seed: titles, firms, pay and texts as freelance boards have them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from html import escape

LISTING = ("lantern-jobs", "freelance-harbor", "remote-orchard", "stackhouse")
BACKLOG = 96
BACKLOG_MIN_AGE = timedelta(hours=25)  # older than what a new profile catches up on
BACKLOG_MAX_AGE = timedelta(days=20)
NEW_MAX_AGE = timedelta(minutes=14)

ROLES: tuple[tuple[str, str], ...] = (  # (title, what the text asks for)
    ("Python Developer", "FastAPI, PostgreSQL, pytest"),
    ("Backend Engineer", "Python, Django, Celery"),
    ("React Developer", "TypeScript, React Query, Vite"),
    ("Full-stack Developer", "Node.js, React, PostgreSQL"),
    ("Machine Learning Engineer", "Python, PyTorch, CUDA"),
    ("Data Engineer", "Spark, Airflow, dbt"),
    ("Data Analyst", "SQL, Looker, Excel"),
    ("Technical Writer", "API documentation, Markdown, Git"),
    ("UX Designer", "Figma, user interviews, prototyping"),
    ("Product Designer", "Figma, design systems, Storybook"),
    ("DevOps Engineer", "Kubernetes, Terraform, AWS"),
    ("Go Developer", "Go, gRPC, Kubernetes"),
    ("Java Developer", "Java 21, Spring Boot, Kafka"),
    ("Android Developer", "Kotlin, Jetpack Compose, Gradle"),
    ("iOS Developer", "Swift, SwiftUI, Combine"),
    (".NET Developer", "C#, ASP.NET Core, Azure"),
    ("JavaScript Developer", "JavaScript, Vue, CSS"),
    ("SEO Specialist", "keyword research, content audits, Search Console"),
    ("Copywriter", "landing pages, newsletters, brand voice"),
    ("WordPress Developer", "PHP, WooCommerce, custom themes"),
    ("QA Engineer", "Playwright, Python, test plans"),
    ("Security Consultant", "penetration tests, OWASP, reporting"),
    ("Embedded Engineer", "C++, FreeRTOS, CAN bus"),
    ("Virtual Assistant", "calendars, travel, invoicing"),
)
HEADS = ("", "", "Senior ", "Freelance ", "Lead ", "Contract ")
TAILS = (
    "",
    "",
    " (remote)",
    " for a climate start-up",
    " - 3 months",
    ", part-time",
    " for an online shop",
    " (m/f/x)",
)
COMPANIES = (
    "Alder & Finch", "Brightwater Labs", "Cobalt Kitchen", "Dunemoor", "Elmtree Health", "Fernway", "Gull & Co.",
    "Hexagon Bakery", "Inkwell Media", "Juniper Freight", "Kestrel Energy", "Larkspur Bank", "Moss & Stone",
    "Northlight", "Otterworks", "Pinecone Games",
)  # fmt: skip
PAYS = ("$45 - $70 / hour", "EUR 550 a day", "Fixed price: $2,400", "GBP 70k - 85k", "$120,000 - $150,000", "")
PLACES = ("Anywhere", "Europe", "USA only", "Berlin or remote", "UK, remote", "EMEA time zones", "")
OPENINGS = (
    "We are a team of {n} and ship every week.",
    "Our customers rely on us every day, and the backlog has grown faster than the team of {n}.",
    "After {n} quiet years we are rebuilding the product from the ground up.",
    "You would join {n} people in four countries who write more than they meet.",
)
CLOSINGS = (
    "Send a short note and one piece of work that you are proud of.",
    "We answer everybody within a week.",
    "No agencies, please.",
    "The first step is a paid trial task of half a day.",
)


@dataclass(frozen=True, slots=True)
class Ad:
    number: int
    board: str
    title: str
    company: str
    pay: str
    place: str
    html: str
    at: datetime  # when the board published it

    @property
    def html_with_terms(self) -> str:
        """For boards without elements of their own for pay and place."""
        terms = "".join(
            f"<p><b>{k}:</b> {escape(v)}</p>" for k, v in (("Budget", self.pay), ("Where", self.place)) if v
        )
        return self.html + terms


def backlog(seed: int, *, at: datetime) -> list[Ad]:
    """What the boards already list, newest first: all of it older than a day."""
    rng = random.Random(seed)
    span_s = (BACKLOG_MAX_AGE - BACKLOG_MIN_AGE).total_seconds()
    ads = []
    for number in range(1, BACKLOG + 1):
        role = ROLES[number % len(ROLES)]
        published = at - BACKLOG_MIN_AGE - timedelta(seconds=int(span_s * rng.random()))
        ads.append(_ad(rng, 41_000 + number, LISTING[number % len(LISTING)], role, published))
    return sorted(ads, key=lambda ad: ad.at, reverse=True)


def arrivals(seed: int, *, at: datetime) -> list[Ad]:
    """What was published in the quarter of an hour before `at`: one of each role, and one ad on two boards."""
    rng = random.Random(seed + 1)
    ads = []
    for number, role in enumerate(ROLES):
        published = at - timedelta(seconds=rng.randrange(30, int(NEW_MAX_AGE.total_seconds())))
        ads.append(_ad(rng, 52_000 + number, LISTING[number % 4], role, published))
    first = ads[0]
    twin = replace(first, number=59_001, board="remote-orchard", at=first.at + timedelta(seconds=20))
    return sorted([*ads, twin], key=lambda ad: ad.at, reverse=True)


def _ad(rng: random.Random, number: int, board: str, role: tuple[str, str], at: datetime) -> Ad:
    name, asks = role
    skills = asks.split(", ")
    opening = rng.choice(OPENINGS).format(n=rng.randrange(4, 40))
    wishes = "".join(f"<li>{escape(skill)}</li>" for skill in skills)
    html = (
        f"<p>{opening} For the next months we look for a <strong>{escape(name)}</strong> who works on their own, "
        f"talks to our customers and leaves things better than they were.</p><p>You know your way around:</p>"
        f"<ul>{wishes}</ul><p>{rng.choice(CLOSINGS)} R&amp;D budget included.</p>"
    )
    return Ad(
        number=number,
        board=board,
        title=f"{rng.choice(HEADS)}{name}{rng.choice(TAILS)}",
        company=rng.choice(COMPANIES),
        pay=rng.choice(PAYS),
        place=rng.choice(PLACES),
        html=html,
        at=at,
    )
