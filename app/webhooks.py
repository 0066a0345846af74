"""POST /webhooks/sendgrid: events, signed by SendGrid. The signature is over the raw bytes; it is all that is trusted.

SendGrid repeats an event until it is answered with 2xx, for a day, and often when it was. So whatever cannot be used is
counted and answered with 200; only a wrong signature, or a store that does not answer, is not.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from app.events import Tally, apply
from app.parts import Parts
from app.settings import verification_key
from ledger.events import Event
from ledger.records import Stop
from ledger.store import StoreError
from ledger.users import Contended

log = structlog.get_logger()
router = APIRouter()

BODY_MAX_BYTES = 4 * 1024 * 1024  # SendGrid posts at 768 KB
SIGNATURE = "x-twilio-email-event-webhook-signature"
TIMESTAMP = "x-twilio-email-event-webhook-timestamp"
RECEIPT_MAX_CHARS = 200

_TAKEN = frozenset({"processed", "delivered", "deferred", "bounce"})  # SendGrid had it, whatever came of it
_STOPS = {"spamreport": Stop.COMPLAINED, "unsubscribe": Stop.UNSUBSCRIBED, "group_unsubscribe": Stop.UNSUBSCRIBED}
# Why SendGrid dropped a letter, as far as it is about the person; the other reasons are about us.
_DROPPED = (("unsubscribe", Stop.UNSUBSCRIBED), ("spam report", Stop.COMPLAINED))
_NOT_ABOUT_THE_PERSON = ("quota", "spam content")
_OUTSIDE = re.compile(r"[0-9a-f]{32}")
_STATUS = re.compile(r"[245]\.\d{1,3}\.\d{1,3}")


@router.post("/webhooks/sendgrid")
async def sendgrid(request: Request) -> JSONResponse:
    """200 with what the events came to; 401 wrong signature; 413; 503 no key set, or the store does not answer."""
    parts: Parts = request.app.state.parts
    key = parts.settings.sendgrid_webhook_key
    if key is None:
        return _refused(503, "SCOUT_SENDGRID_WEBHOOK_KEY is not set, so no event can be trusted")
    body = await _body(request)
    if body is None:
        return _refused(413, f"more than {BODY_MAX_BYTES} bytes")
    signature, timestamp = request.headers.get(SIGNATURE, ""), request.headers.get(TIMESTAMP, "")
    if not is_signed(body, signature=signature, timestamp=timestamp, key=key):
        return _refused(401, "wrong or missing signature")
    tally = Tally()
    try:
        await apply(parts, list(read(body, tally)), tally)
    except (StoreError, Contended) as error:
        log.warning("events not applied", reason=str(error))
        return _refused(503, "the store does not answer; send them again")
    log.info("events", **asdict(tally))
    return JSONResponse({"status": "ok", **asdict(tally)})


def is_signed(body: bytes, *, signature: str, timestamp: str, key: str) -> bool:
    """ECDSA P-256 with SHA-256 over timestamp and body; `key` and `signature` are base64 of DER.

    No age is demanded: SendGrid repeats for a day, and a repeat changes nothing.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        signed = base64.b64decode(signature, validate=True)
        verification_key(key).verify(signed, timestamp.encode() + body, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True


def read(body: bytes, tally: Tally) -> Iterable[Event]:
    """The events that mean something to us. Every element is counted, malformed ones as skipped."""
    try:
        elements = json.loads(body)
    except (ValueError, RecursionError):
        elements = None
    if not isinstance(elements, list):
        tally.skipped += 1
        return
    for element in elements:
        tally.events += 1
        event = _event(element) if isinstance(element, dict) else None
        if event is None:
            tally.skipped += 1
        else:
            yield event


def _event(element: dict[str, Any]) -> Event | None:
    kind, address = _text(element, "event"), _text(element, "email")
    if not kind or not address:
        return None
    outside = _text(element, "delivery_id")
    status = _text(element, "status")
    receipt = _text(element, "sg_message_id")[:RECEIPT_MAX_CHARS]
    return Event(
        address=address,
        outside=outside if _OUTSIDE.fullmatch(outside) else None,
        taken=kind in _TAKEN,
        stop=_stop(kind, element),
        detail=f"{kind} {status}" if _STATUS.fullmatch(status) else kind,
        receipt=receipt if receipt.isprintable() and receipt else None,
    )


def _stop(kind: str, element: dict[str, Any]) -> Stop | None:
    if kind == "bounce":
        # "blocked" is the receiving server's refusal for now, of us; it says nothing about the mailbox.
        return None if _text(element, "type") == "blocked" else Stop.BOUNCED
    if kind == "dropped":
        reason = _text(element, "reason").lower()
        if any(word in reason for word in _NOT_ABOUT_THE_PERSON):
            return None
        return next((stop for word, stop in _DROPPED if word in reason), Stop.BOUNCED)
    return _STOPS.get(kind)


def _text(element: dict[str, Any], name: str) -> str:
    value = element.get(name)
    return value if isinstance(value, str) else ""


async def _body(request: Request) -> bytes | None:
    """The raw bytes, or None if they are too many."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_MAX_BYTES:
                return None
    except ClientDisconnect:
        return b""  # no signature is right for it
    return bytes(body)


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"status": "refused", "reason": reason}, status_code=status)
