"""A process of its own that races for ids: `racer.py KIND PLACE NAME IDS`.

Says `ready`, waits for a line, then does what the line says, and prints what it won as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime

from ledger.firestore import FirestoreStore
from ledger.sqlite import SqliteStore
from ledger.store import Store


async def main(kind: str, place: str, name: str) -> None:
    store: Store = SqliteStore(place, clock=lambda: datetime.now(UTC)) if kind == "sqlite" else FirestoreStore(place)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        task = json.loads(line)
        answer: object
        match task["do"]:
            case "create each":  # many at once, so that processes meet between them
                won = await asyncio.gather(*[store.create("deliveries", {i: {"by": name}}) for i in task["ids"]])
                answer = [id_ for ids in won for id_ in ids]
            case "create all":
                answer = list(await store.create("deliveries", {i: {"by": name} for i in task["ids"]}))
            case "add":  # read, add one, swap, until it worked
                answer = sum([await add_one(store, task["id"]) for _ in range(task["times"])])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    await store.close()


async def add_one(store: Store, id_: str) -> int:
    """How many tries were lost to others."""
    lost = 0
    while True:
        seen = (await store.get("locks", [id_]))[id_]
        if await store.swap("locks", {id_: (seen.version, {"n": seen.data["n"] + 1})}):
            return lost
        lost += 1


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
