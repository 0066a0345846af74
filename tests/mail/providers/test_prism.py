"""SendGrid and Resend as their own specifications play them: prism, where it is installed.

`tests/prism.sh` installs it into build/ and runs these; PRISM in the environment names another one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from ledger.lifecycle import Outcome
from mail.transports.sendgrid import request_of
from tests.mail.providers.conftest import Made
from tests.mail.providers.test_sendgrid import LETTERS
from tests.mail.samples import letter
from tests.shared import shared
from tests.sinks import refused_port

START_MAX_S = 60.0
INSTALLED = Path(__file__).parents[3] / "build/prism/node_modules/.bin/prism"


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of SendGrid's specification, played."""
    program = os.environ.get("PRISM") or shutil.which("prism") or str(INSTALLED)
    if not Path(program).exists():
        pytest.skip("prism is not installed: tests/prism.sh does that")
    port = refused_port()
    log = (tmp_path_factory.mktemp("prism") / "log").open("w")
    command = [program, "mock", "--host", "127.0.0.1", "--port", str(port), "--errors"]
    server = subprocess.Popen(
        [*command, str(shared("specs/tsg_mail_v3.json"))], stdout=log, stderr=log, start_new_session=True
    )
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
        log.close()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    until_s = time.monotonic() + START_MAX_S
    while time.monotonic() < until_s and server.poll() is None:
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("prism did not start")


@pytest.mark.parametrize("name", LETTERS)
async def test_every_letter_is_accepted(name: str, prism: str, sendgrid: Made) -> None:
    attempt = await sendgrid(prism).send(LETTERS[name])
    assert attempt.outcome is Outcome.ACCEPTED, attempt


def test_a_request_that_the_specification_forbids_is_refused_so_that_acceptance_means_something(prism: str) -> None:
    request = request_of(letter())
    request["custom_args"] = {"delivery_id": "x"}  # at the top it must be a string
    told = {"Authorization": "Bearer SG.x"}
    with httpx2.Client(trust_env=False) as client:
        refused = client.post(f"{prism}/v3/mail/send", json=request, headers=told)
        unknown = client.post(f"{prism}/v3/mail/send", json=request_of(letter()))
    assert (refused.status_code, unknown.status_code) == (400, 401)
