"""How a run deals with the judge's provider: so many calls at once, waits it asks for, and when to leave it alone."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

import structlog

from app.parts import Run
from app.purse import Over
from scan.verdict import End, Judge, Question, Reply

log = structlog.get_logger()

CALLS_MAX = 16  # at once
CALL_S = 30.0  # one call in all
STAGE_SHARE = 0.5  # of the time that is left when the asking begins: the letters need the rest
BUSY_TRIES_MAX = 3  # of one call that provably was not done
BUSY_WAIT_S = (1.0, 4.0)  # where the provider does not say how long
FAULTS_MAX = 5  # calls in a row without an answer; then nothing further is asked in this run
TROUBLE_WAIT = timedelta(minutes=10)

OUT_OF_TIME = Over("time was up")


class Patience:
    """One run's calls. Made when the asking begins: from then its share of the time counts."""

    def __init__(self, run: Run, judge: Judge) -> None:
        self._run, self._judge = run, judge
        self._until_s = run.deadline.elapsed_s() + run.deadline.left_s() * STAGE_SHARE
        self._not_before_s = 0.0  # by the loop's clock
        self._faults = 0
        self._stopped: Over | None = None
        self.slots = asyncio.Semaphore(CALLS_MAX)

    def over(self) -> Over | None:
        """Why no call may begin, or None: one whole call fits after whatever wait the provider asked for."""
        deadline = self._run.deadline
        wait_s = self._wait_s()
        fits = deadline.elapsed_s() + wait_s + self._call_s <= self._until_s
        if self._stopped is not None or (fits and deadline.allows(wait_s + self._call_s)):
            return self._stopped
        if wait_s > 0:
            return Over("the model's provider asked to wait", self._run.parts.clock() + timedelta(seconds=wait_s))
        return OUT_OF_TIME

    def stop(self, why: str) -> None:
        """Nothing further is asked in this run."""
        self._stopped = self._stopped or Over(why, self._run.parts.clock() + TROUBLE_WAIT)

    async def ask(self, asked: Question) -> Reply:
        """One call; again only where the first was provably not done, and only while there is time."""
        reply = Reply(End.BUSY, reason="the provider asked to wait longer than this run lasts")
        for attempt in range(BUSY_TRIES_MAX):
            if not await self._waited():
                break
            reply = await self._once(asked)
            if reply.end is not End.BUSY:
                break
            self._put_off(reply.retry_after_s, attempt)
        self._note(reply)
        return reply

    @property
    def _call_s(self) -> float:
        return self._run.deadline.share_s(CALL_S)

    async def _waited(self) -> bool:
        """Wait as long as the provider wants, if a call fits in after that; asked again after the wait."""
        while (wait_s := self._wait_s()) > 0:
            if self.over() is not None:
                return False
            await self._run.deadline.sleep(wait_s)
            if self.over() is not None:
                return False
        return True

    def _wait_s(self) -> float:
        return max(0.0, self._not_before_s - asyncio.get_running_loop().time())

    def _put_off(self, wanted_s: float | None, attempt: int) -> None:
        """Everybody's next call waits: a provider that is busy is so for all."""
        wait_s = wanted_s
        if wait_s is None:
            wait_s = BUSY_WAIT_S[min(attempt, len(BUSY_WAIT_S) - 1)] * random.uniform(0.5, 1.5)
        self._not_before_s = max(self._not_before_s, asyncio.get_running_loop().time() + wait_s)

    async def _once(self, asked: Question) -> Reply:
        if self._run.deadline.is_over():  # suspended since the claim: by now another run may have asked
            return Reply(End.BUSY, reason="the run's time was over before it was asked")
        self._run.report.matches.ai_calls += 1
        try:
            reply = await self._judge.ask(asked, at_most_s=self._call_s)
        except Exception as error:  # a judge that raises has a bug, and then nobody can tell
            log.exception("the judge raised", model=self._judge.model)
            reply = Reply(End.UNCLEAR, reason=f"the judge raised {type(error).__name__}")
        log.info(
            "judged",
            end=reply.end.value,
            reason=reply.reason,
            input_tokens=reply.usage.all_input_tokens,
            cached_tokens=reply.usage.cache_read_tokens,
            output_tokens=reply.usage.output_tokens,
        )
        return reply

    def _note(self, reply: Reply) -> None:
        if reply.end in (End.ANSWERED, End.CUT, End.DECLINED):
            self._faults = 0
            return
        self._faults += 1
        if reply.end is End.REFUSED:
            self.stop(f"the model's account or settings are at fault: {reply.reason}")
        elif self._faults >= FAULTS_MAX:
            self.stop(f"{self._faults} calls in a row had no answer; the last: {reply.reason}")
