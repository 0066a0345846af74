"""Calls to Firestore with our own patience: few tries, short pauses, an end within seconds.

The library's own retries are switched off everywhere: they kept an unreachable store going for 290 s.
Held by a contract test, because it leans on the pinned library's `_firestore_api` and `_rpc_metadata`:
there is no public asynchronous BatchWrite. Messages of the server are never repeated: they name
documents, and a document's name may hold an address.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import google.auth
from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from google.cloud.firestore_v1 import AsyncClient
from google.cloud.firestore_v1.types import (
    BatchGetDocumentsRequest,
    BatchWriteRequest,
    CommitRequest,
    RunQueryRequest,
)
from grpc import StatusCode

from ledger.firestore_pb import snapshot, version_text
from ledger.store import Refused, Snapshot, Unreachable, meter

DEFAULT_DATABASE = "(default)"
TRIES_MAX = 3
PAUSES_S = (0.2, 1.0)  # before the second and the third try, times 0.5 to 1.5
TRY_TIMEOUT_S = 6.0
TOTAL_TIMEOUT_S = 12.0
SIGN_IN_TIMEOUT_S = 10.0

NO_EFFECT = frozenset({StatusCode.ALREADY_EXISTS, StatusCode.NOT_FOUND, StatusCode.FAILED_PRECONDITION})
_PASSING = frozenset(
    {
        StatusCode.ABORTED,
        StatusCode.CANCELLED,
        StatusCode.DEADLINE_EXCEEDED,
        StatusCode.INTERNAL,
        StatusCode.RESOURCE_EXHAUSTED,
        StatusCode.UNAVAILABLE,
        StatusCode.UNKNOWN,
    }
)
_BY_NUMBER = {code.value[0]: code for code in StatusCode}
_HINTS = {
    StatusCode.FAILED_PRECONDITION: "an index is missing; deploy firestore.indexes.json",
    StatusCode.NOT_FOUND: "no such database; create it, in Native mode",
    StatusCode.PERMISSION_DENIED: "the account lacks the role Cloud Datastore User",
    StatusCode.UNAUTHENTICATED: "the credentials were not accepted",
    StatusCode.INVALID_ARGUMENT: "a document or a query broke one of Firestore's rules",
    StatusCode.RESOURCE_EXHAUSTED: "a quota may be used up",
}
_INDEX_LINK = re.compile(r"https://console\.(?:firebase\.google|cloud\.google)\.com/[^\s]*create_composite=[^\s]+")

T = TypeVar("T")


class _Again(Exception):
    """This try failed in a way that may pass."""

    def __init__(self, code: StatusCode) -> None:
        super().__init__(code.name)
        self.code = code


class FirestoreRpc:
    """One client an event loop, made inside it: a client used from a second loop dies."""

    def __init__(self, project: str, database: str) -> None:
        self._project = project
        self._database = database
        self._clients: dict[asyncio.AbstractEventLoop, AsyncClient] = {}

    async def batch_write(self, writes: Sequence[Any]) -> list[str | None]:
        """Each write for itself: its new version ("" for a delete), None where it did not take effect."""
        versions: list[str | None] = [None] * len(writes)
        left = list(range(len(writes)))

        async def attempt(client: AsyncClient, timeout_s: float) -> list[str | None]:
            request = _wrap(BatchWriteRequest, database=client._database_string, writes=[writes[i] for i in left])
            answer = _raw(await client._firestore_api.batch_write(request, **_how(client, timeout_s)))
            codes = [_BY_NUMBER.get(status.code, StatusCode.UNKNOWN) for status in answer.status]
            for i, code, result in zip(left, codes, answer.write_results, strict=True):
                if code is StatusCode.OK:
                    versions[i] = version_text(result.update_time) if result.HasField("update_time") else ""
            bad = [
                code for code in codes if code not in NO_EFFECT and code not in _PASSING and code is not StatusCode.OK
            ]
            if bad:
                raise Refused(self._words(bad[0], ""))
            passing = [code for code in codes if code in _PASSING]
            left[:] = [i for i, code in zip(left, codes, strict=True) if code in _PASSING]
            if passing:
                raise _Again(passing[0])
            return versions

        return await self._trying(attempt)

    async def commit(self, writes: Sequence[Any]) -> bool:
        """All of the writes or none: False when a precondition failed."""

        async def attempt(client: AsyncClient, timeout_s: float) -> bool:
            request = _wrap(CommitRequest, database=client._database_string, writes=writes)
            try:
                await client._firestore_api.commit(request, **_how(client, timeout_s))
            except GoogleAPICallError as error:
                if error.grpc_status_code in NO_EFFECT and "The database" not in (error.message or ""):
                    return False
                raise
            return True

        return await self._trying(attempt)

    async def get(self, names: Sequence[str]) -> list[Snapshot]:
        """Those of the named documents that exist."""

        async def attempt(client: AsyncClient, timeout_s: float) -> list[Snapshot]:
            request = _wrap(BatchGetDocumentsRequest, database=client._database_string, documents=names)
            stream = await client._firestore_api.batch_get_documents(request, **_how(client, timeout_s))
            answers = [_raw(answer) async for answer in stream]
            if sum(answer.WhichOneof("result") is not None for answer in answers) < len(names):
                raise _Again(StatusCode.UNKNOWN)  # a stream that ends early is no proof that the rest is absent
            return [snapshot(answer.found, answer.read_time) for answer in answers if answer.HasField("found")]

        return await self._trying(attempt)

    async def query(self, parent: str, query: Any) -> list[Snapshot]:
        """The documents of one page, in order."""

        async def attempt(client: AsyncClient, timeout_s: float) -> list[Snapshot]:
            request = _wrap(RunQueryRequest, parent=parent, structured_query=query)
            stream = await client._firestore_api.run_query(request, **_how(client, timeout_s))
            answers = [_raw(answer) async for answer in stream]
            return [snapshot(answer.document, answer.read_time) for answer in answers if answer.HasField("document")]

        return await self._trying(attempt)

    async def close(self) -> None:
        """Close the connection of the running loop; those of ended loops are dropped."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        self._clients.clear()
        if client is not None:
            await client._firestore_api.transport.close()

    async def _trying(self, attempt: Callable[[AsyncClient, float], Awaitable[T]]) -> T:
        client = await self._client()
        loop = asyncio.get_running_loop()
        ends = loop.time() + TOTAL_TIMEOUT_S
        last = StatusCode.DEADLINE_EXCEEDED
        for nth in range(TRIES_MAX):
            if nth:
                await asyncio.sleep(PAUSES_S[nth - 1] * random.uniform(0.5, 1.5))
            timeout_s = min(TRY_TIMEOUT_S, ends - loop.time())
            if timeout_s <= 0:
                break
            meter().add(round_trips=1)
            try:
                return await attempt(client, timeout_s)
            except _Again as again:
                last = again.code
            except GoogleAPICallError as error:
                code = error.grpc_status_code or StatusCode.UNKNOWN
                if code not in _PASSING:
                    raise Refused(self._words(code, error.message or "")) from None  # its text may name a document
                last = code
            except GoogleAuthError as error:
                raise Unreachable(f"Firestore: no access token ({type(error).__name__})") from None
        raise Unreachable(self._words(last, ""))

    def _words(self, code: StatusCode, message: str) -> str:
        link = _INDEX_LINK.search(message)
        hint = _HINTS.get(code)
        emulator = os.environ.get("FIRESTORE_EMULATOR_HOST")
        if emulator and code in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED):
            hint = f"is an emulator running at {emulator} (FIRESTORE_EMULATOR_HOST)?"
        place = self._project if self._database == DEFAULT_DATABASE else f"{self._project}/{self._database}"
        parts = [f"Firestore, project {place}: {code.name}", hint, link and link[0]]
        return "; ".join(part for part in parts if part)

    async def _client(self) -> AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            credentials = None if os.environ.get("FIRESTORE_EMULATOR_HOST") else await _credentials()
            for ended in [known for known in self._clients if known.is_closed()]:
                del self._clients[ended]
            if loop not in self._clients:  # another task of this loop may have been quicker
                self._clients[loop] = AsyncClient(self._project, credentials, self._database)
        return self._clients[loop]


async def _credentials() -> Any:
    """Looked for in a thread: on a machine without any, the library asks the network for seconds."""
    try:
        async with asyncio.timeout(SIGN_IN_TIMEOUT_S):
            credentials, _ = await asyncio.to_thread(google.auth.default)
    except TimeoutError:
        raise Unreachable("Firestore: the search for credentials took too long") from None
    except GoogleAuthError as error:
        hint = "set GOOGLE_APPLICATION_CREDENTIALS, or FIRESTORE_EMULATOR_HOST for an emulator"
        raise Refused(f"Firestore: no credentials ({type(error).__name__}); {hint}") from None
    return credentials


def _how(client: AsyncClient, timeout_s: float) -> dict[str, Any]:
    return {"metadata": client._rpc_metadata, "retry": None, "timeout": timeout_s}


def _wrap(kind: Any, **content: Any) -> Any:
    return kind.wrap(kind.pb()(**content))


def _raw(answer: Any) -> Any:
    return type(answer).pb(answer)
