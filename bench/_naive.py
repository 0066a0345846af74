"""The loop that anybody would write first: for each person and each job one read, and one mail after the other.

It is given every advantage that does not change what it is: the jobs and the people are in memory, the texts are in
lower case already, one connection to the mail server is kept, and the ledger is a table of two columns in SQLite.
"""

from __future__ import annotations

import smtplib
import sqlite3
import time
from email.message import EmailMessage
from pathlib import Path

from bench._town import Ad, Town


def seconds_a_person(town: Town, folder: Path, *, people: int, smtp_port: int) -> float:
    """Measured on so many of the town's people, against all of its jobs."""
    ads = [(ad, f"{ad.title} {ad.text}".lower()) for ad in town.ads()]
    db = _ledger(folder / "naive.db")
    sent = 0
    with smtplib.SMTP("127.0.0.1", smtp_port) as server:
        began = time.perf_counter()
        for n in range(people):
            address, keywords = town.address(n), town.keywords(n)
            for ad, text in ads:
                if db.execute("SELECT 1 FROM sent WHERE person = ? AND job = ?", (address, ad.number)).fetchone():
                    continue
                if any(keyword in text for keyword in keywords):
                    server.send_message(_mail(address, ad))
                    db.execute("INSERT INTO sent VALUES (?, ?)", (address, ad.number))
                    db.commit()
                    sent += 1
        took_s = time.perf_counter() - began
    db.close()
    assert sent == people * town.fits, sent
    return took_s / people


def _ledger(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE sent (person TEXT, job INTEGER, PRIMARY KEY (person, job))")
    return db


def _mail(address: str, ad: Ad) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Scout <scout@example.com>"
    mail["To"] = address
    mail["Subject"] = f"New job: {ad.title}"
    mail.set_content(f"{ad.title}\n\nhttps://board0.example/jobs/{ad.number}\n")
    return mail
