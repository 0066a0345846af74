"""Score again: earlier jobs that the model judged against what somebody said of themselves before. Price first."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app import rescore
from app.pages.form import refuse_other_sites
from app.pages.view import page
from app.pages.visitor import Visitor, parts_of, signed_in
from app.parts import Parts
from app.prices import table
from app.rescore import Found

router = APIRouter(default_response_class=HTMLResponse)


@router.get("/me/rescore")
async def price(request: Request) -> Response:
    """How many there are and what it costs at the most; it asks nobody and changes nothing."""
    visitor = await signed_in(request)
    return _shown(request, visitor, found=await _find(parts_of(request), visitor))


@router.post("/me/rescore")
async def again(request: Request) -> Response:
    """Let the next runs ask about them. A second click finds them asked for."""
    refuse_other_sites(request)
    visitor = await signed_in(request, form="/me/rescore")
    parts = parts_of(request)
    found = await _find(parts, visitor)
    return _shown(request, visitor, asked=await rescore.want(parts.store, found, now=visitor.now))


async def _find(parts: Parts, visitor: Visitor) -> Found:
    if parts.judge is None:
        return Found()
    settings = parts.settings
    model_price = table(settings.ai_prices)[settings.ai_model]
    return await rescore.find(parts.store, visitor.user, price=model_price, batch=settings.ai_batch)


def _shown(request: Request, visitor: Visitor, *, found: Found | None = None, asked: int = 0) -> Response:
    has_judge = parts_of(request).judge is not None
    return page(request, "rescore.html", user=visitor.user, has_judge=has_judge, found=found, asked=asked)
