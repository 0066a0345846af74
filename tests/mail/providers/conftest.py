"""Clients of the provider's API, closed at the end; many at a time need not wait for each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from mail.transports.api import ApiTransport
from mail.transports.resend import RESEND
from mail.transports.sendgrid import SENDGRID

KEY = "SG.not-a-real-key"
Made = Callable[..., ApiTransport]


@pytest.fixture
async def sendgrid() -> AsyncIterator[Made]:
    async for made in _made(SENDGRID):
        yield made


@pytest.fixture
async def resend() -> AsyncIterator[Made]:
    async for made in _made(RESEND):
        yield made


async def _made(api: Any) -> AsyncIterator[Made]:
    opened: list[ApiTransport] = []

    def make(url: str, **changes: Any) -> ApiTransport:
        opened.append(ApiTransport(api, KEY, url=url, **changes))
        return opened[-1]

    yield make
    for transport in opened:
        await transport.close()
