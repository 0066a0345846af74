"""Ask: the calls to the judge. Several jobs of one person go in one call; many people's calls run at once.

A pair's document is claimed before its call and filled after it, and a call carries only pairs that were won:
nobody pays twice for a pair. What comes back without an answer is let go, and its document carries it on.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from app.ending import all_of, to_its_end
from app.parts import Run
from app.patience import Patience
from app.prices import Price
from app.purse import Over, Purse
from app.steps.pairs import Pair, batches
from ledger import ids, verdicts
from ledger.records import User
from ledger.spend import Bill
from ledger.store import StoreError
from ledger.verdicts import Held, Verdict
from scan.opinion import Opinion, heard
from scan.prompt import PROMPT_VERSION, profile_version, question
from scan.verdict import End, Judge, Question, Reply, Usage

log = structlog.get_logger()

ROOM_AGAIN = 3  # times the room, for what a cut answer left out


@dataclass(slots=True)
class Asking:
    """The asking of one run."""

    run: Run
    judge: Judge
    price: Price
    purse: Purse
    patience: Patience = field(init=False)
    failure: StoreError | None = None

    def __post_init__(self) -> None:
        self.patience = Patience(self.run, self.judge)

    async def all(self, wanted: Sequence[tuple[User, Sequence[Pair]]]) -> None:
        """Ask about every pair that time and money allow. Raises StoreError, once all that began has ended."""
        await all_of(self._person(user, pairs) for user, pairs in wanted)
        if self.failure is not None:
            raise self.failure
        await self.purse.close()

    async def _person(self, user: User, pairs: Sequence[Pair]) -> None:
        """The first call alone, so that the provider's cache holds the profile for the others."""
        first, *others = batches(pairs, size=self.run.parts.settings.ai_batch)
        await self._call(user, first)
        await all_of(self._call(user, batch) for batch in others)

    async def _call(self, user: User, pairs: Sequence[Pair]) -> None:
        async with self.patience.slots:
            try:
                await self._claim_and_ask(user, {secrets.token_hex(4): pair for pair in pairs})
            except StoreError as error:
                self.failure = self.failure or error
                self.patience.stop("the store cannot be used")
            except Exception as error:  # one person's fault, ours or theirs, never stops the rest; it comes again
                self.run.report.error("verdicts", f"one call could not be made: {type(error).__name__}")
                log.exception("call failed")
                for pair in pairs:
                    pair.left = Over("its call could not be made")

    async def _claim_and_ask(self, user: User, named: Mapping[str, Pair]) -> None:
        """The guarantee: the documents exist before the call, and it carries exactly those that were won."""
        most = self.price.at_most(_question(user, named))
        over = self.patience.over() or await self.purse.take(user.uid, most)
        if over is not None:
            for pair in named.values():
                pair.left = over
            return
        try:
            won = await self._claim(named)
        except StoreError:
            self.purse.settle(user.uid, most, Bill(), Usage(), calls=0)
            raise
        if not won:
            self.purse.settle(user.uid, most, Bill(), Usage(), calls=0)
            return
        first = await self._paid(user, _question(user, won), most)
        opinions, faults = _heard(first, won, user)
        replies = [first]
        try:
            if first.end is End.CUT and faults:
                missing = {name: won[name] for name in faults}
                if (second := await self._with_more_room(user, missing)) is not None:
                    more, faults = _heard(second, missing, user)
                    opinions |= more
                    replies.append(second)
        finally:  # what was heard is paid for, whatever becomes of the rest, and of the run
            usage = sum((reply.usage for reply in replies), Usage())
            await to_its_end(self._fill(user, won, opinions, faults, usage=usage))

    async def _claim(self, named: Mapping[str, Pair]) -> dict[str, Pair]:
        pairs = named.values()
        held = await verdicts.claim(
            self.run.store,
            [pair.verdict for pair in pairs if pair.version is None],
            [pair.held for pair in pairs if pair.version is not None],
            nonce=ids.new_nonce(),
            now=self.run.parts.clock(),
            lease_s=self.run.lease_s,
        )
        by_id = {mine.record.id: mine for mine in held}
        for pair in pairs:
            pair.becomes(by_id.get(pair.verdict.id))
        return {name: pair for name, pair in named.items() if pair.is_ours}

    async def _with_more_room(self, user: User, missing: Mapping[str, Pair]) -> Reply | None:
        """Once more for what a cut answer left out; None if there is no time or money for it."""
        wide = _question(user, missing, room=ROOM_AGAIN)
        most = self.price.at_most(wide)
        if self.patience.over() is not None or await self.purse.take(user.uid, most) is not None:
            return None
        return await self._paid(user, wide, most)

    async def _paid(self, user: User, asked: Question, most: Bill) -> Reply:
        """One call, and what it cost; where nobody can tell, it counts as the most that it can have cost."""
        reply = await self.patience.ask(asked)
        cost = self.price.bill(reply.usage)
        self.run.report.spent(reply.usage.all_input_tokens, reply.usage.output_tokens, cost.micros)
        is_unclear = reply.end is End.UNCLEAR and reply.usage == Usage()
        self.purse.settle(user.uid, most, most if is_unclear else cost, reply.usage, calls=1)
        return reply

    async def _fill(
        self,
        user: User,
        won: Mapping[str, Pair],
        opinions: Mapping[str, Opinion],
        faults: Mapping[str, str],
        *,
        usage: Usage,
    ) -> None:
        now = self.run.parts.clock()
        profile = profile_version(user)
        answers: list[tuple[Held, Verdict]] = []
        for place, (name, pair) in enumerate(won.items()):
            mine = self._with_share(pair.verdict, usage, place=place, of=len(won))
            if (opinion := opinions.get(name)) is None:
                new = verdicts.tried(mine, why=faults.get(name, "no answer"), now=now)
            else:
                told = replace(
                    mine,
                    score=opinion.score,
                    reason=opinion.reason,
                    caveat=opinion.caveat,
                    tags=opinion.tags,
                    model=self.judge.model,
                    prompt_version=PROMPT_VERSION,
                    profile_version=profile,
                )
                new = verdicts.decided(told, is_fit=opinion.score >= user.ai_threshold, now=now)
            answers.append((pair.held, new))
        written = {held.record.id: held for held in await verdicts.fill(self.run.store, answers)}
        for pair in won.values():
            pair.becomes(written.get(pair.verdict.id))
        if refused := len(won) - len(written):
            self.run.report.error("verdicts", f"{refused} answers came after others had taken their pairs over")

    def _with_share(self, verdict: Verdict, usage: Usage, *, place: int, of: int) -> Verdict:
        """The pair's part of what its call cost: all parts together are the whole."""
        micros = self.price.bill(usage).micros

        def part(total: int) -> int:
            return total // of + (place < total % of)

        return replace(
            verdict,
            input_tokens=verdict.input_tokens + part(usage.all_input_tokens),
            output_tokens=verdict.output_tokens + part(usage.output_tokens),
            cost_micros=verdict.cost_micros + part(micros),
        )


def _question(user: User, named: Mapping[str, Pair], *, room: int = 1) -> Question:
    return question(user, [(name, pair.job) for name, pair in named.items()], room=room)


def _heard(reply: Reply, named: Mapping[str, Pair], user: User) -> tuple[dict[str, Opinion], dict[str, str]]:
    """What was said of each, and why the others are still open."""
    if reply.end not in (End.ANSWERED, End.CUT):
        return {}, dict.fromkeys(named, reply.reason)
    result = heard(reply.said, list(named), about=user.about)
    faults = result.faults if reply.end is End.ANSWERED else dict.fromkeys(result.faults, reply.reason)
    return dict(result.opinions), dict(faults)
