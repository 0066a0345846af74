"""A Latin letter with an accent is found without, and the other way round."""

from __future__ import annotations

import pytest

from scan.match import Fit, decide
from scan.tokens import read
from tests.scan.match.people import NOW, a_job, looking_for


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("résumé", "resume"),
        ("Résumé", "resumes"),
        ("resume", "RÉSUMÉ"),
        ("resume", "re\u0301sume\u0301"),
        ("Künstler", "Kunstler"),
        ("Künstler", "KUENSTLER"),
        ("kuenstler", "Künstler"),
        ("kunstler", "Künstler"),
        ("Müller GmbH", "mueller-gmbh"),
        ("straße", "STRASSE"),
        ("łódź", "Lodz"),
        ("são paulo", "Sao Paulo"),
        ("İzmir", "izmir"),
    ],
)
def test_is_found(keyword, text):
    for job in (a_job(text), a_job("", text)):
        decision = decide(looking_for(keyword), job, now=NOW)
        assert isinstance(decision, Fit)
        assert decision.score == (2 if job.title else 1)
        assert decision.reason.startswith(f"{keyword} in the ")


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("ilk", "ılk"),
        ("ılk", "ilk"),
        ("é", "E"),
        ("e", "É"),
        ("и", "й"),
        ("blau", "bleu"),
        ("queue", "quü"),
        ("resume", "résumés, x".replace("é", "è").replace("m", "n")),
    ],
)
def test_is_not_found(keyword, text):
    assert not isinstance(decide(looking_for(keyword), a_job(text, text), now=NOW), Fit)


def test_a_text_counts_by_the_best_place_however_it_is_written_there() -> None:
    decision = decide(looking_for("cafe"), a_job("Café manager", "a cafe"), now=NOW)
    assert isinstance(decision, Fit)
    assert (decision.score, decision.reason) == (2, "cafe in the title")


def test_what_the_skill_list_has_stays_there() -> None:
    decision = decide(looking_for("cafe"), a_job("", "für Köche\nSkills: a, b, c, Café"), now=NOW)
    assert isinstance(decision, Fit)
    assert (decision.score, decision.reason) == (0, "cafe in the skill list")


def test_a_text_without_accents_is_read_once() -> None:
    assert len(read("Dev", "Python \u2014 it\u2019s 東京").ends) == 4
    assert len(read("Dev", "résumé").ends) == 8
    assert len(read("Dev", "Künstler").ends) == 12
