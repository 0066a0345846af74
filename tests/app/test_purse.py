"""Hard caps on what judging costs: a run, a day, a person's day; tokens and money; all processes together."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.environment import BadSetting
from app.prices import BadPrices, Price, read_prices, table
from app.purse import Caps, Purse, caps_of
from app.settings import load
from ledger import spend
from ledger.collections import SPEND
from ledger.spend import Bill
from ledger.store import Store, every
from scan.verdict import Usage

T0 = datetime(2026, 11, 30, 23, 50, tzinfo=UTC)
PLENTY = Bill(10**9, 10**9)
CALL = Bill(100, 1000)
COST, USED = Bill(40, 400), Usage(30, 10)


def purse(store: Store, *, now: datetime = T0, **caps: Bill) -> Purse:
    whole = {"run": PLENTY, "day": PLENTY, "person": PLENTY} | caps
    return Purse(store, caps=Caps(**whole), clock=lambda: now)


async def spend_all(money: Purse, uid: str, *, tries: int = 100) -> int:
    """Calls, one after the other, until there is none left."""
    for made in range(tries):
        if await money.take(uid, CALL) is not None:
            return made
        money.settle(uid, CALL, COST, USED, calls=1)
    return tries


@pytest.mark.parametrize("dimension", ["tokens", "micros"])
@pytest.mark.parametrize(
    ("cap", "why"), [("run", "one run"), ("day", "the day's limit is"), ("person", "the day's limit for one person")]
)
async def test_no_cap_is_ever_passed_and_the_last_call_is_the_one_that_still_fits_whole(
    store: Store, cap: str, why: str, dimension: str
) -> None:
    limit = Bill(1000, 10**9) if dimension == "tokens" else Bill(10**9, 10_000)
    caps: dict[str, Any] = {cap: limit}
    money = purse(store, **caps)
    assert await spend_all(money, "ann") == 23  # 22 x 40 = 880 leaves 120, one more of at most 100; then 80 are too few
    over = await money.take("ann", CALL)
    assert over is not None
    assert why in over.why
    assert over.until == (None if cap == "run" else datetime(2026, 12, 1, tzinfo=UTC))
    await money.close()
    (today,) = await spend.by_day(store, last=1, today=T0.date())
    assert (today.bill, today.calls) == (Bill(23 * 40, 23 * 400), 23)
    assert (today.input_tokens, today.output_tokens) == (23 * 30, 23 * 10)


async def test_the_days_cap_holds_over_runs_and_is_new_the_next_day(store: Store) -> None:
    made = []
    for minutes in (0, 5, 10, 15):
        money = purse(store, now=T0 + timedelta(minutes=minutes), day=Bill(1000, 10**9))
        made.append(await spend_all(money, "ann", tries=15))
        await money.close()
    assert made == [15, 8, 15, 8]


async def test_one_person_at_the_limit_leaves_the_others_theirs(store: Store) -> None:
    money = purse(store, person=Bill(200, 10**9))
    assert await spend_all(money, "ann") == 3
    assert await spend_all(money, "bob") == 3


async def test_a_run_that_dies_keeps_what_it_reserved_and_nothing_is_spent_beyond_the_cap(store: Store) -> None:
    dead = purse(store, day=Bill(1000, 10**9))
    assert await dead.take("ann", CALL) is None  # and it dies, with a block reserved
    money = purse(store, day=Bill(1000, 10**9))
    assert await spend_all(money, "bob") == 0


async def test_many_processes_at_once_stay_within_the_days_cap_together(store: Store) -> None:
    purses = [purse(store, day=Bill(2500, 10**9)) for _ in range(6)]
    made = await asyncio.gather(*(spend_all(each, f"p{n}", tries=5) for n, each in enumerate(purses)))
    await asyncio.gather(*(each.close() for each in purses))
    (today,) = await spend.by_day(store, last=1, today=T0.date())
    assert today.calls == sum(made) > 0
    assert today.tokens == sum(made) * 40 <= 2500


async def test_what_is_kept_names_nobody(store: Store) -> None:
    money = purse(store)
    await spend_all(money, "YW5uQGV4YW1wbGUuY29t", tries=1)
    await money.close()
    kept = [str(s) async for s in every(store, SPEND, {})]
    assert len(kept) == 2
    assert not any("YW5u" in text for text in kept)


async def test_a_document_that_cannot_be_read_counts_as_a_spent_day(store: Store) -> None:
    await store.put(SPEND, {"2026-11-30": {"day": "2026-11-30", "tokens": "many"}})
    assert await spend_all(purse(store), "ann") == 0


class Unreliable:
    """Every write happens, and every other one is said not to have."""

    def __init__(self, inner: Store) -> None:
        self._inner, self._writes = inner, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def create(self, *args: Any) -> dict[str, str]:
        return await self._lost(await self._inner.create(*args))

    async def swap(self, *args: Any) -> dict[str, str]:
        return await self._lost(await self._inner.swap(*args))

    async def _lost(self, done: dict[str, str]) -> dict[str, str]:
        self._writes += 1
        return {} if self._writes % 2 else done


async def test_a_lost_answer_counts_nothing_twice(store: Store) -> None:
    money = purse(Unreliable(store))  # type: ignore[arg-type]
    await spend_all(money, "ann", tries=30)
    await money.close()
    (today,) = await spend.by_day(store, last=1, today=T0.date())
    assert (today.bill, today.calls) == (Bill(1200, 12_000), 30)


def test_a_price_for_a_million_is_millionths_for_one() -> None:
    price = Price(Decimal("0.10"), Decimal("0.50"), Decimal("0.125"), Decimal("0.01"))
    usage = Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000)
    assert price.bill(usage) == Bill(4_000_000, 100_000 + 500_000 + 125_000 + 10_000)
    assert price.bill(Usage(1)).micros == 1  # rounded up: never for nothing


def test_prices_of_the_settings_stand_before_the_known_ones_and_caching_has_a_default() -> None:
    own = read_prices("claude-haiku-5-5=1/5, other = 2/8/2.5/0.2")
    assert own["claude-haiku-5-5"] == Price(Decimal(1), Decimal(5), Decimal("1.25"), Decimal("0.1"))
    assert table("other=2/8")["claude-haiku-5-5"].output == Decimal("0.50")
    with pytest.raises(BadPrices):
        read_prices("other=2")


def test_a_model_without_a_price_stops_the_start() -> None:
    with pytest.raises(BadSetting, match=r"^SCOUT_AI_PRICES has no price for other; add one"):
        load({"SCOUT_AI_MODEL": "other"})
    assert load({"SCOUT_AI_MODEL": "other", "SCOUT_AI_PRICES": "other=1/5"}).ai_model == "other"


def test_the_caps_come_from_the_settings() -> None:
    caps = caps_of(load({"SCOUT_AI_MAX_DAY_TOKENS": "7", "SCOUT_AI_MAX_DAY_USD": "0.25"}))
    assert caps.day == Bill(7, 250_000)
