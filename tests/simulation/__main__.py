"""`python -m tests.simulation [--first N] [--seeds N]`: many simulations; a failing seed is shrunk and printed."""

from __future__ import annotations

import argparse
import logging
import sys

import structlog

from tests.simulation.judge import shrink, simulate
from tests.simulation.plan import make


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=200)
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    letters = failed = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        broken, world = simulate(make(seed))
        letters += len(world.sent)
        if broken:
            failed += 1
            sys.stdout.write(f"\nseed {seed}: {len(broken)} broken, such as {broken[:3]}\n")
            small = shrink(make(seed))
            sys.stdout.write(f"{small}\n" + "\n".join(simulate(small)[1].told[-60:]) + "\n")
        elif seed % 20 == 0:
            sys.stdout.write(f"\rseed {seed}: {letters} letters, {failed} failed ")
            sys.stdout.flush()
    sys.stdout.write(f"\n{asked.seeds} seeds, {letters} letters, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
