"""HTTPS: by address on the wire, by name for the certificate."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ledger.records import Health
from scan.exchange import Fetched
from scan.fetch import Fetcher
from scan.posting import Failed
from tests.boards import Board


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for board.example, with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "board.example")])
    begins = datetime.now(UTC) - timedelta(days=1)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("board.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path / "board.pem"
    path.write_bytes(signed.public_bytes(pem) + private)
    return path


def _server(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def _fetcher(trusted: Path | None) -> Fetcher:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    def transport() -> httpx2.AsyncBaseTransport:
        return httpx2.AsyncHTTPTransport(verify=ssl.create_default_context(cafile=str(trusted)), trust_env=False)

    if trusted is None:
        return Fetcher(user_agent="t", allow_loopback=True, resolver=resolver)
    return Fetcher(user_agent="t", allow_loopback=True, resolver=resolver, transport_factory=transport)


async def test_the_certificate_is_checked_against_the_name_though_the_address_is_dialled(
    certificate: Path, now: datetime
) -> None:
    with Board(tls=_server(certificate)) as board:
        board.serve("/f", b"x")
        async with _fetcher(certificate) as fetcher:
            good = await fetcher.fetch(f"https://board.example:{board.port}/f", now=now, deadline_s=10)
            wrong = await fetcher.fetch(f"https://other.example:{board.port}/f", now=now, deadline_s=10)
    assert isinstance(good, Fetched)
    assert isinstance(wrong, Failed)
    assert wrong.health is Health.UNREACHABLE
    assert wrong.reason == f"the certificate is not trusted: https://other.example:{board.port}/f"
    assert [seen.headers["host"] for seen in board.requests] == [f"board.example:{board.port}"]


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path, now: datetime) -> None:
    with Board(tls=_server(certificate)) as board:
        async with _fetcher(None) as fetcher:
            answer = await fetcher.fetch(f"https://board.example:{board.port}/f", now=now, deadline_s=10)
    assert isinstance(answer, Failed)
    assert answer.health is Health.UNREACHABLE
    assert board.requests == []
