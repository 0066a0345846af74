"""What only Firestore's adapter owes: loops, statuses, what it asks for, and what it leaves unsaid."""

from __future__ import annotations

import asyncio
import importlib.metadata
import io
import os
import subprocess
import sys
import tokenize
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.cloud.firestore_v1.types import BatchWriteRequest, BatchWriteResponse

from ledger.firestore import FirestoreStore
from ledger.store import Create, Refused, Swap, Unreachable, counted

ROOT = Path(__file__).parents[2]
ADAPTER = ("ledger/firestore.py", "ledger/firestore_pb.py", "ledger/firestore_rpc.py")
UID = "dXNlckBleGFtcGxlLmNvbQ"
NAMED = f"no permission on projects/p/databases/(default)/documents/users/{UID}"


class Scripted(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A gRPC server on a real socket that answers as a test says, one answer a request; keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[Callable[[bytes], bytes] | grpc.StatusCode] = []
        self.says = NAMED
        self.asked: list[bytes] = []

    def service(self, details: Any) -> Any:
        streams = details.method.endswith(("/RunQuery", "/BatchGetDocuments"))
        if streams:
            return grpc.unary_stream_rpc_method_handler(self._stream)
        return grpc.unary_unary_rpc_method_handler(self._one)

    async def _one(self, request: bytes, context: Any) -> bytes:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, grpc.StatusCode):
            await context.abort(answer, self.says)
        return answer(request)

    async def _stream(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield await self._one(request, context)


def statuses(*codes: int) -> Callable[[bytes], bytes]:
    """One status for each write of the request."""

    def answer(_: bytes) -> bytes:
        pb = BatchWriteResponse.pb()()
        for code in codes:
            pb.status.add(code=code, message=NAMED)
            result = pb.write_results.add()
            if code == 0:
                result.update_time.seconds = 7
        return bytes(pb.SerializeToString())

    return answer


@pytest.fixture
async def scripted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scripted]:
    handler = Scripted()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{port}")
    monkeypatch.setattr("ledger.firestore_rpc.PAUSES_S", (0.0, 0.0))
    yield handler
    await server.stop(None)


@pytest.fixture
async def store(scripted: Scripted) -> AsyncIterator[FirestoreStore]:
    store = FirestoreStore("p")
    yield store
    await store.close()


async def test_only_the_write_that_met_contention_is_sent_again(scripted: Scripted, store: FirestoreStore) -> None:
    scripted.answers = [statuses(0, 10, 6), statuses(0)]
    with counted() as counts:
        assert set(await store.create("jobs", {id_: {"n": 1} for id_ in "abc"})) == {"a", "b"}
    sent = [[w.update.name[-1] for w in BatchWriteRequest.deserialize(asked).writes] for asked in scripted.asked]
    assert sent == [["a", "b", "c"], ["b"]]
    assert (counts.writes, counts.round_trips) == (2, 2)


async def test_a_write_that_meets_contention_every_time_is_unreachable(
    scripted: Scripted, store: FirestoreStore
) -> None:
    scripted.answers = [statuses(10)] * 9
    with pytest.raises(Unreachable, match=r"^Firestore, project \S+: ABORTED$"):
        await store.swap("jobs", {"a": ("1.000000000", {"n": 1})})
    assert len(scripted.asked) == 3


async def test_a_write_that_breaks_a_rule_is_refused_at_once_and_its_document_stays_unnamed(
    scripted: Scripted, store: FirestoreStore
) -> None:
    scripted.answers = [statuses(0, 3)]
    with pytest.raises(Refused, match="INVALID_ARGUMENT") as refused:
        await store.create("users", {UID: {"n": 1}, "b": {"n": 1}})
    assert UID not in str(refused.value)
    assert refused.value.__cause__ is None
    assert len(scripted.asked) == 1


@pytest.mark.parametrize("code", [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED])
async def test_a_refused_read_raises_once_with_a_hint_and_without_the_servers_words(
    scripted: Scripted, store: FirestoreStore, code: grpc.StatusCode
) -> None:
    scripted.answers = [code]
    with pytest.raises(Refused, match=f"{code.name}; the") as refused:
        await store.get("users", [UID])
    assert UID not in str(refused.value)
    assert len(scripted.asked) == 1


async def test_a_missing_index_is_refused_with_googles_link(scripted: Scripted, store: FirestoreStore) -> None:
    link = "https://console.firebase.google.com/v1/r/project/p/firestore/indexes?create_composite=Cj9wcm9q"
    scripted.answers = [grpc.StatusCode.FAILED_PRECONDITION]
    scripted.says = f"The query requires an index. You can create it here: {link}"
    with pytest.raises(Refused, match="an index is missing") as refused:
        await store.find("jobs", {"state": "open"})
    assert str(refused.value).endswith(link)


async def test_a_missing_database_is_no_failed_precondition(scripted: Scripted, store: FirestoreStore) -> None:
    scripted.answers = [grpc.StatusCode.NOT_FOUND]
    scripted.says = "The database (default) does not exist for project p"
    with pytest.raises(Refused, match="no such database"):
        await store.commit([Swap("jobs", "a", "1.000000000", {"n": 1})])


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION]
)
async def test_a_failed_precondition_of_a_commit_is_false(
    scripted: Scripted, store: FirestoreStore, code: grpc.StatusCode
) -> None:
    scripted.answers = [code]
    assert await store.commit([Create("jobs", "a", {"n": 1})]) is False


async def test_a_read_that_passes_on_the_second_try_gives_its_answer(scripted: Scripted, store: FirestoreStore) -> None:
    scripted.answers = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, lambda _: b""]
    assert (await store.find("jobs", {})).items == ()
    assert len(scripted.asked) == 3


async def test_a_multi_get_that_answers_for_some_only_is_not_believed(
    scripted: Scripted, store: FirestoreStore
) -> None:
    scripted.answers = [lambda _: b""] * 3
    with pytest.raises(Unreachable):
        await store.get("jobs", ["a"])


def test_one_store_serves_several_event_loops_in_turn(firestore_project: str) -> None:
    store = FirestoreStore(firestore_project)
    won = [asyncio.run(store.create("jobs", {"a": {"n": n}, f"b{n}": {"n": n}})) for n in range(3)]
    assert [set(ids) for ids in won] == [{"a", "b0"}, {"b1"}, {"b2"}]
    asyncio.run(store.close())


def test_a_process_that_never_closes_the_store_still_ends_quietly(firestore_project: str) -> None:
    code = (
        "import asyncio, sys\n"
        "from ledger.firestore import FirestoreStore\n"
        "store = FirestoreStore(sys.argv[1])\n"
        "asyncio.run(store.put('jobs', {'a': {'n': 1}}))\n"
        "print(len(asyncio.run(store.get('jobs', ['a']))))\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, firestore_project]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_making_a_store_imports_nothing_of_googles() -> None:
    code = (
        "import sys, ledger.firestore as f; f.FirestoreStore('p')\n"
        "print([m for m in sys.modules if m.split('.')[0] in {'google', 'grpc'}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


def test_the_adapter_opens_no_transaction_and_leaves_no_retry_to_the_library() -> None:
    names = [name for path in ADAPTER for name in names_in(ROOT / path)]
    assert not [name for name in names if "transaction" in name.lower()]
    source = (ROOT / "ledger/firestore_rpc.py").read_text()
    assert (
        source.count("**_how(client, timeout_s)") == source.count("await client._firestore_api.") - 1
    )  # one is close()
    assert '"retry": None' in source


def test_the_library_is_the_version_that_the_adapter_was_tried_with() -> None:
    assert importlib.metadata.version("google-cloud-firestore") == "2.34.1"


def names_in(path: Path) -> list[str]:
    """Every name in the code: comments and texts are none."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return [token.string for token in tokens if token.type == tokenize.NAME]
