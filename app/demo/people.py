"""The demo's people: how they want their letters, where they live, what they look for."""

from __future__ import annotations

from dataclasses import dataclass

from app.profile import Changes
from app.typed import keywords_of
from ledger.records import Mode


@dataclass(frozen=True, slots=True)
class Person:
    address: str
    mode: Mode
    keywords: str
    exclude: str = ""
    must: str = ""
    at: str | None = None
    zone: str | None = None

    @property
    def changes(self) -> Changes:
        """What somebody would type on the command line."""
        return Changes(
            keywords=keywords_of(self.keywords, "keywords"),
            exclude=keywords_of(self.exclude, "not"),
            must=keywords_of(self.must, "must"),
            mode=self.mode,
            at=self.at,
            zone=self.zone,
        )


PEOPLE = (
    Person("ana.silva@example.com", Mode.INSTANT, "python, fastapi, django", exclude="wordpress"),
    Person("ben.okafor@example.com", Mode.INSTANT, "react, typescript, node.js", exclude='"full-stack"'),
    Person("chen.wei@example.com", Mode.INSTANT, '"machine learning", pytorch', must="python"),
    Person("dora.kiss@example.com", Mode.INSTANT, '"technical writer", documentation'),
    Person("lena.fischer@example.com", Mode.INSTANT, "cobol, mainframe"),
    Person("emil.berg@example.com", Mode.DAILY, "go, kubernetes, terraform", at="08:00", zone="Europe/Stockholm"),
    Person("fatima.noor@example.com", Mode.DAILY, 'figma, "ux designer"', at="08:00", zone="Europe/London"),
    Person("george.hall@example.com", Mode.DAILY, "c#, .net, c++", at="07:30", zone="Europe/Dublin"),
    Person("hanna.weber@example.com", Mode.DAILY, "java, kotlin", at="08:00", zone="Europe/Berlin"),
    Person("ivan.petrov@example.com", Mode.DAILY, "playwright, owasp", at="08:00", zone="America/New_York"),
    Person("julia.rossi@example.com", Mode.WEEKLY, "seo, copywriter", at="08:00", zone="Europe/Rome"),
    Person("kofi.mensah@example.com", Mode.WEEKLY, '"data engineer", spark', at="09:00", zone="Africa/Accra"),
)
