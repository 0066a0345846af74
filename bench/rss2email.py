"""Against rss2email 3.14, which mails the same feed to one subscriber for each person, through the same 50 ms server.

rss2email is installed into a folder that is thrown away; it runs as its own documentation says, one `[feed.X]` with
`to =` a subscriber, once with a mail for each job (its default) and once with one for all (`digest`). What it takes to
start is measured apart and left out; Scout's cycle is counted whole.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench import Finding, Line, Skipped, sized
from bench._town import BACKLOG_JOBS, Town, feed
from bench._world import smtp_sink, web, with_news

RSS2EMAIL = "rss2email==3.14"
DELAY_S = 0.05
TOWN = Town(people=sized(1_000, least=64), jobs=5, fits=5)
SUBSCRIBERS = sized(40, least=8)  # what one mail costs does not depend on how many there are
INSTALL_MAX_S = 120
RUN_MAX_S = 300


def run() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as name, smtp_sink(delay_s=DELAY_S) as port:
        folder = Path(name)
        if not _installed(folder / "packages"):
            yield Skipped("Scout against rss2email", f"{RSS2EMAIL} could not be installed here")
            return
        ours_s = asyncio.run(_scout_s_a_letter(folder / "scout", port))
        mails = TOWN.jobs + BACKLOG_JOBS
        each_s = _theirs_s(folder, port, digest=False) / (SUBSCRIBERS * mails)
        digest_s = _theirs_s(folder, port, digest=True) / SUBSCRIBERS
    yield Line("rss2email", each_s * 1000, "ms a mail", note=f"{SUBSCRIBERS} subscribers, a mail for each job")
    yield Line("rss2email with its digests", digest_s * 1000, "ms a mail", note="a mail for each subscriber")
    yield Line("Scout", ours_s * 1000, "ms a letter", note=f"{TOWN.people:,} people, {TOWN.fits} jobs a letter")
    yield Line("rss2email against Scout, a mail", each_s / ours_s, "x", at_least=10)
    yield Line("rss2email with its digests against Scout, a mail", digest_s / ours_s, "x", at_least=10)
    yield Line("rss2email against Scout, a job told to a person", each_s * TOWN.fits / ours_s, "x")


async def _scout_s_a_letter(folder: Path, port: int) -> float:
    folder.mkdir()
    async with with_news(folder, TOWN, mail={"SCOUT_MAIL": f"smtp://127.0.0.1:{port}"}) as world:
        report, took_s = await world.run()
        assert report.mail.sent == TOWN.people, report.as_json()
        return took_s / TOWN.people


def _installed(target: Path) -> bool:
    quietly = ("-q", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *quietly, "--target", str(target), RSS2EMAIL]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_MAX_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _theirs_s(folder: Path, port: int, *, digest: bool) -> float:
    """Seconds of `r2e run` for all subscribers, beyond those that it takes to start."""
    place = folder / ("digests" if digest else "mails")
    place.mkdir()
    with web(place, delay_s=0.0) as board:
        (place / "board0.rss").write_bytes(feed(TOWN.ads(), name="board0", now=datetime.now(UTC)))
        settings = (
            f"[DEFAULT]\nfrom = scout@example.com\nemail-protocol = smtp\nsmtp-server = 127.0.0.1\n"
            f"smtp-port = {port}\ndigest = {digest}\n"
        )
        feeds = "".join(
            f"[feed.f{n}]\nurl = http://127.0.0.1:{board}/board0.rss\nto = {TOWN.address(n)}\n"
            for n in range(SUBSCRIBERS)
        )
        (place / "rss2email.cfg").write_text(settings + feeds)
        start_s = _r2e_s(folder, place, "list")
        run_s = _r2e_s(folder, place, "run")
        known = (place / "rss2email.json").read_text().count('"board0-')
        assert known == SUBSCRIBERS * (TOWN.jobs + BACKLOG_JOBS), f"rss2email took in {known} jobs"
    shutil.rmtree(place)
    return run_s - start_s


def _r2e_s(folder: Path, place: Path, command: str) -> float:
    tool = [sys.executable, str(folder / "packages" / "bin" / "r2e")]
    files = ["-c", str(place / "rss2email.cfg"), "-d", str(place / "rss2email.json")]
    began = time.perf_counter()
    subprocess.run(
        [*tool, *files, command],
        check=True,
        capture_output=True,
        timeout=RUN_MAX_S,
        env={**os.environ, "PYTHONPATH": str(folder / "packages")},
    )
    return time.perf_counter() - began
