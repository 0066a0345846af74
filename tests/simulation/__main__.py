"""`python -m tests.simulation [--first N] [--seeds N] [--long] [--processes N]`: many simulations.

Prints how many were run and how quickly; a failing one is made small and printed as Python, with what happened in it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.simulation.judge import shrink, simulate
from tests.simulation.making import make, make_long
from tests.simulation.plan import Plan, as_python
from tests.simulation.running import swiftly

CHUNK_SEEDS = 100  # one process's at a time
SHOWN_MAX = 3  # failing plans that are made small
TOLD_MAX = 80  # lines of what happened


@dataclass(frozen=True, slots=True)
class Ran:
    seeds: int
    steps: int
    letters: int
    cpu_s: float
    failed: tuple[int, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=20_000)
    parser.add_argument("--long", action="store_true", help="four days each instead of a few calls")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--stop", action="store_true", help="at the first that fails")
    asked = parser.parse_args()
    planned = make_long if asked.long else make
    began_s = time.monotonic()
    ran: list[Ran] = []
    for one in _all(asked.first, asked.seeds, is_long=asked.long, processes=asked.processes):
        ran.append(one)
        if sys.stdout.isatty():
            sys.stdout.write(f"\r{_line(ran)} ")
            sys.stdout.flush()
        if asked.stop and one.failed:
            break
    sys.stdout.write(f"{_line(ran)}, {time.monotonic() - began_s:.0f} s\n")
    failed = sorted(seed for one in ran for seed in one.failed)
    for seed in failed[:SHOWN_MAX]:
        _show(planned, seed)
    return 1 if failed else 0


def _all(first: int, seeds: int, *, is_long: bool, processes: int) -> Iterator[Ran]:
    chunks = [range(at, min(at + CHUNK_SEEDS, first + seeds)) for at in range(first, first + seeds, CHUNK_SEEDS)]
    if processes == 1:
        yield from (_run(chunk, is_long) for chunk in chunks)
        return
    with ProcessPoolExecutor(processes) as pool:
        try:
            yield from pool.map(_run, chunks, [is_long] * len(chunks))
        finally:
            pool.shutdown(cancel_futures=True)


def _run(seeds: range, is_long: bool) -> Ran:
    began_s = time.process_time()
    planned = make_long if is_long else make
    steps = letters = 0
    failed: list[int] = []
    with swiftly():
        for seed in seeds:
            broken, world = simulate(planned(seed))
            steps, letters = steps + world.steps, letters + len(world.sent)
            if broken:
                failed.append(seed)
    return Ran(len(seeds), steps, letters, time.process_time() - began_s, tuple(failed))


def _line(ran: list[Ran]) -> str:
    steps, cpu_s = sum(one.steps for one in ran), sum(one.cpu_s for one in ran)
    letters, failed = sum(one.letters for one in ran), sum(len(one.failed) for one in ran)
    return (
        f"{sum(one.seeds for one in ran)} schedules, {steps} steps, {letters} letters, {failed} failed; "
        f"{60 * steps / cpu_s / 1e6:.2f} million steps a minute per core"
    )


def _show(planned: Callable[[int], Plan], seed: int) -> None:
    with swiftly():
        broken, _ = simulate(planned(seed))
        small = shrink(planned(seed))
        still, world = simulate(small, is_loud=True)
    lines = [f"\nseed {seed}: {len(broken)} broken, such as {broken[:2]}", "the smallest like it:", as_python(small)]
    sys.stdout.write("\n".join([*lines, f"breaks {still}", *world.told[-TOLD_MAX:]]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
