"""Score again: earlier jobs that the model judged against what somebody said of themselves before. Price first."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app import rescore
from app.pages import words
from app.pages.form import read_form
from app.pages.schema import form_of
from app.pages.view import go, page
from app.pages.visitor import Visitor, parts_of, signed_in
from app.parts import Parts
from app.prices import table
from app.rescore import Found

router = APIRouter(default_response_class=HTMLResponse)


@router.get("/me/rescore")
async def price(request: Request) -> Response:
    """How many there are, what asking costs, and how many wait for it; it asks nobody and changes nothing."""
    visitor = await signed_in(request)
    return _shown(request, visitor, await _find(parts_of(request), visitor))


@router.post("/me/rescore", openapi_extra=form_of("mark"))
async def again(request: Request) -> Response:
    """Let the next runs ask about what was shown. Something else by now: it is shown with its price first."""
    visitor = await signed_in(request, form="/me/rescore")
    form = await read_form(request)
    parts = parts_of(request)
    found = await _find(parts, visitor)
    if found.held and form.text("mark") != found.mark:
        return _shown(request, visitor, found, has_moved=True, status=409)
    await rescore.want(parts.store, found, now=visitor.now)
    return go("/me/rescore")


async def _find(parts: Parts, visitor: Visitor) -> Found:
    if parts.judge is None:
        return Found()
    settings = parts.settings
    model_price = table(settings.ai_prices)[settings.ai_model]
    batch, now = settings.ai_batch, visitor.now
    return await rescore.find(parts.store, visitor.user, price=model_price, batch=batch, now=now)


def _shown(request: Request, visitor: Visitor, found: Found, *, has_moved: bool = False, status: int = 200) -> Response:
    return page(
        request,
        "rescore.html",
        status=status,
        user=visitor.user,
        has_judge=parts_of(request).judge is not None,
        standing=words.standing(visitor.user, visitor.now),
        found=found,
        has_moved=has_moved,
    )
