"""What a source's board hands out and takes back, such as a token that changes with each use.

Kept among the sources, under an id that no source can have. Never in a log, a report or an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ledger.collections import SOURCES
from ledger.store import Store

PREFIX = "~secrets "  # no source's name begins with ~


@dataclass(frozen=True, slots=True)
class HeldSecret:
    values: Mapping[str, str] = field(repr=False)
    version: str


class StoredSecrets:
    """One document of texts per name, changed by create and swap only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, name: str) -> HeldSecret | None:
        """Raises StoreError."""
        id_ = PREFIX + name
        snapshot = (await self._store.get(SOURCES, [id_])).get(id_)
        if snapshot is None:
            return None
        values = {key: value for key, value in snapshot.data.items() if isinstance(value, str)}
        return HeldSecret(values, snapshot.version)

    async def swap(self, name: str, old: HeldSecret | None, values: Mapping[str, str]) -> HeldSecret | None:
        """Put `values` where `old` was read (None: where nothing was). None: somebody else was first.

        `values` must hold a fresh nonce: a change that took effect and lost its answer is read back by it.
        Raises StoreError.
        """
        id_ = PREFIX + name
        document = dict(values)
        if old is None:
            taken = await self._store.create(SOURCES, {id_: document})
        else:
            taken = await self._store.swap(SOURCES, {id_: (old.version, document)})
        if id_ in taken:
            return HeldSecret(document, taken[id_])
        found = await self.get(name)
        return found if found is not None and found.values == document else None
