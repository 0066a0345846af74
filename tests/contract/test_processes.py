"""What every store owes: real processes on the same data have one winner an id."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ledger.store import Store, every

ROOT = Path(__file__).parents[2]
PROCESSES = 4
PATIENCE_S = 60


class Racers:
    def __init__(self, processes: list[Process]) -> None:
        self.processes = processes

    async def all_do(self, task: dict[str, Any]) -> list[Any]:
        """Each process's answer to the same task, begun as nearly at once as pipes allow."""
        line = json.dumps(task).encode() + b"\n"
        for process in self.processes:
            assert process.stdin
            process.stdin.write(line)
        return [json.loads(await self._line(process)) for process in self.processes]

    async def _line(self, process: Process) -> bytes:
        assert process.stdout
        async with asyncio.timeout(PATIENCE_S):
            return await process.stdout.readline()


@pytest.fixture
async def racers(kind: str, place: str) -> AsyncIterator[Racers]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.contract.racer", kind, place]
    processes = [
        await asyncio.create_subprocess_exec(*command, f"p{n}", stdin=PIPE, stdout=PIPE, env=env, cwd=ROOT)
        for n in range(PROCESSES)
    ]
    racers = Racers(processes)
    try:
        assert [await racers._line(process) for process in processes] == [b"ready\n"] * PROCESSES
        yield racers
        for process in processes:
            assert process.stdin
            process.stdin.close()
        assert [await process.wait() for process in processes] == [0] * PROCESSES
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def test_four_processes_race_for_ids_and_for_versions(racers: Racers, store: Store) -> None:
    # The first use makes the file: four processes do so at once, and one id has one winner all the same.
    first = await racers.all_do({"do": "create all", "ids": ["u_j"]})
    assert sorted(map(len, first)) == [0, 0, 0, 1]

    ids = [f"u{i}_j" for i in range(60)]
    won = await racers.all_do({"do": "create each", "ids": ids})
    assert sorted(id_ for some in won for id_ in some) == sorted(ids)

    batch = [f"b{i:03d}_j" for i in range(200)]
    shared = await racers.all_do({"do": "create all", "ids": batch})
    assert sorted(id_ for some in shared for id_ in some) == batch

    winners = {id_: f"p{n}" for some in (first, won, shared) for n, ids in enumerate(some) for id_ in ids}
    assert {s.id: s.data["by"] async for s in every(store, "deliveries", {})} == winners

    await store.create("locks", {"n": {"n": 0}})
    await racers.all_do({"do": "add", "id": "n", "times": 10})
    assert (await store.get("locks", ["n"]))["n"].data == {"n": 10 * PROCESSES}
