"""Documents over the whole stack: requests, filters, searches, pages, erasure and the audit log."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import grpc
import pytest

from mneme.gateway.v1 import documents_pb2 as pb
from mneme_client import (
    Client,
    DeleteDocument,
    DocumentComparison,
    DocumentFilter,
    DocumentName,
    ErasureState,
    MnemeClientError,
    PutDocument,
)
from tests.support.stack import Stubs, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOTES = ("notes",)


def put(key: str, value: Any = None, *labels: str, **fields: Any) -> PutDocument:
    return PutDocument(DocumentName(labels or NOTES, key), value, **fields)


async def keys(client: Client, user_id: str, *filters: DocumentFilter, **arguments: Any) -> list[str]:
    return [one.name.key async for one in client.list_documents(user_id, filters=filters, **arguments)]


async def test_spec_9_4_documents_are_written_read_and_deleted(client: Client, user_id: str) -> None:
    value = {"text": "Ünï", "list": [1, 2.5, None, True], "nested": {"a": "\u0000"}, "big": 2**60}
    made = put("k", value, "a", "b", search_texts=("Ünï",), ttl=timedelta(hours=1))
    (created,) = await client.write_documents(user_id, [made])
    (read,) = await client.batch_get_documents(user_id, [DocumentName(("a", "b"), "missing"), made.name])
    assert (read.name, read.value, read.search_texts, read.ttl) == (made.name, value, made.search_texts, made.ttl)
    assert (read.etag, read.create_time, read.update_time) == (created.etag, created.create_time, created.update_time)
    assert read.expire_time is not None
    assert read.create_time is not None
    assert read.expire_time - read.create_time == timedelta(hours=1)
    (again,) = await client.batch_get_documents(user_id, [made.name], extend_ttl=True)
    assert again.expire_time is not None
    assert again.expire_time > read.expire_time
    (deleted,) = await client.write_documents(user_id, [DeleteDocument(made.name, etag=read.etag)])
    assert (deleted.existed, deleted.etag, deleted.create_time) == (True, "", None)
    assert await client.batch_get_documents(user_id, [made.name]) == ()


async def test_spec_9_4_documents_are_listed_by_their_last_write(client: Client, user_id: str) -> None:
    await client.write_documents(user_id, [put("b", {"n": 1}), put("a", {"n": 2})])
    for key in ("d", "c", "b"):
        await client.write_documents(user_id, [put(key, {"n": 1})])
    assert await keys(client, user_id) == ["a", "b", "c", "d"]
    some = DocumentFilter(("n",), 1)
    for page_size in (1, 2, 4):
        assert await keys(client, user_id, latest_first=True, page_size=page_size) == ["b", "c", "d", "a"]
        assert await keys(client, user_id, some, latest_first=True, page_size=page_size) == ["b", "c", "d"]
    assert [key async for key in keys_while_they_are_written(client, user_id)] == ["b", "c", "a"]


async def keys_while_they_are_written(client: Client, user_id: str) -> AsyncIterator[str]:
    """Writes `d` anew once the first page, of two, has been read."""
    async for document in client.list_documents(user_id, latest_first=True, page_size=2):
        yield document.name.key
        await client.write_documents(user_id, [put("d", {"n": 3})])


async def test_spec_9_4_conditions_of_writes_hold_for_all_or_none(client: Client, user_id: str) -> None:
    await client.write_documents(user_id, [put("a", 1)])
    with pytest.raises(MnemeClientError) as caught:
        await client.write_documents(user_id, [put("b", 1), put("a", 2, must_be_new=True)])
    assert caught.value.code is grpc.StatusCode.ALREADY_EXISTS
    with pytest.raises(MnemeClientError) as caught:
        await client.write_documents(user_id, [put("b", 1), put("a", 2, etag="another")])
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.ABORTED, "CONFLICT")
    assert await keys(client, user_id) == ["a"]


FILTERED: Sequence[tuple[DocumentFilter, list[str]]] = [
    (DocumentFilter(("n",), 2), ["two"]),
    (DocumentFilter(("n",), 2.0), ["two"]),
    (DocumentFilter(("n",), value=True), ["true"]),
    (DocumentFilter(("n",), None), ["null", "scalar"]),
    (DocumentFilter(("n",), {"m": [1]}), ["object"]),
    (DocumentFilter(("n", "m"), [1]), ["object"]),
    (DocumentFilter(("n",), 2, DocumentComparison.NOT_EQUAL), ["null", "object", "one", "scalar", "text", "true"]),
    (DocumentFilter(("n",), 1, DocumentComparison.GREATER), ["two"]),
    (DocumentFilter(("n",), 1, DocumentComparison.GREATER_OR_EQUAL), ["one", "two"]),
    (DocumentFilter(("n",), 1.5, DocumentComparison.LESS), ["one"]),
    (DocumentFilter(("n",), 2, DocumentComparison.LESS_OR_EQUAL), ["one", "two"]),
    (DocumentFilter(("n",), "a", DocumentComparison.GREATER), ["text"]),
]


async def test_spec_9_4_filters_compare_values(client: Client, user_id: str) -> None:
    values = {"one": 1, "two": 2, "true": True, "null": None, "text": "b", "object": {"m": [1]}}
    await client.write_documents(user_id, [*(put(key, {"n": n}) for key, n in values.items()), put("scalar", 7)])
    for condition, expected in FILTERED:
        assert await keys(client, user_id, condition) == expected, condition
        assert await keys(client, user_id, condition, page_size=1) == expected
    both = (FILTERED[8][0], DocumentFilter(("n",), 2, DocumentComparison.LESS))
    assert await keys(client, user_id, *both) == ["one"]


async def test_spec_9_4_a_filter_looks_at_all_pages(client: Client, user_id: str) -> None:
    await client.write_documents(user_id, [put(f"{i:04}", {"n": i % 500}) for i in range(1_000)])
    await client.write_documents(user_id, [put(f"{i:04}", {"n": i % 500}) for i in range(1_000, 1_200)])
    assert await keys(client, user_id, DocumentFilter(("n",), 150)) == ["0150", "0650", "1150"]
    assert len(await keys(client, user_id)) == 1_200
    assert await keys(client, user_id, key_prefix="115") == [f"115{i}" for i in range(10)]


async def test_spec_9_4_a_search_ranks_by_meaning(client: Client, user_id: str) -> None:
    texts = {
        "cat": ("The cat sleeps on the sofa.",),
        "tax": ("Invoices are due at the end of the month.", "Taxes are paid in April."),
        "sea": ("The harbour is full of fishing boats.",),
    }
    writes = [put(key, {"kind": key[0]}, "notes", key, search_texts=found_by) for key, found_by in texts.items()]
    await client.write_documents(user_id, [*writes, put("silent", {"kind": "c"})])
    found = await client.search_documents(user_id, "When do I have to pay taxes?")
    assert found.documents[0].document.name.key == "tax"
    assert sorted(one.document.name.key for one in found.documents) == ["cat", "sea", "tax"]
    assert [one.score for one in found.documents] == sorted((one.score for one in found.documents), reverse=True)
    assert found.unsearched_count == 0
    kind = [DocumentFilter(("kind",), "c")]
    (cat,) = (await client.search_documents(user_id, "taxes", filters=kind)).documents
    assert cat.document.value == {"kind": "c"}
    (sea,) = (await client.search_documents(user_id, "taxes", namespace_prefix=("notes", "sea"))).documents
    assert sea.document.name == DocumentName(("notes", "sea"), "sea")
    assert len((await client.search_documents(user_id, "boats", limit=1)).documents) == 1
    await client.write_documents(user_id, [put("tax", {}, "notes", "tax", search_texts=("Ducks swim.",))])
    found = await client.search_documents(user_id, "When do I have to pay taxes?")
    assert found.documents[0].document.name.key != "tax" or found.documents[0].score < 0.5


async def test_spec_9_4_namespaces_are_listed_by_their_ends_and_cut(client: Client, user_id: str) -> None:
    namespaces = [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("a",), ("b", "c")]
    await client.write_documents(user_id, [put("k", 1, *labels) for labels in namespaces])

    async def listed(**arguments: Any) -> list[tuple[str, ...]]:
        return [one async for one in client.list_document_namespaces(user_id, **arguments)]

    assert await listed() == sorted(namespaces)
    assert await listed(page_size=2) == sorted(namespaces)
    assert await listed(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert await listed(suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c"), ("b", "c")]
    assert await listed(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert await listed(suffix=("*", "c"), prefix=("a",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert await listed(max_depth=2) == [("a",), ("a", "b"), ("a", "x"), ("b", "c")]


async def test_spec_9_4_long_documents_come_in_several_responses(client: Client, gateway: Stubs, user_id: str) -> None:
    long = "x" * 250_000
    names = [DocumentName(NOTES, f"{i:02}") for i in range(16)]
    for name in names:
        await client.write_documents(user_id, [PutDocument(name, long)])
    assert [one.name for one in await client.batch_get_documents(user_id, names[::-1])] == names[::-1]
    assert await keys(client, user_id) == [name.key for name in names]
    page = await gateway.documents.ListDocuments(pb.ListDocumentsRequest(user_id=user_id))
    assert page.ByteSize() < 3_200_000
    assert page.next_page_token


async def test_spec_7_8_wrong_fields_are_named(gateway: Stubs, user_id: str) -> None:
    def written(*writes: pb.DocumentWrite, request_id: str = "r") -> Any:
        request = pb.WriteDocumentsRequest(request_id=request_id, user_id=user_id, writes=writes)
        return refusal(gateway.documents.WriteDocuments(request))

    name = pb.DocumentName(namespace=["n"], key="k")
    refused = await written(
        pb.DocumentWrite(put=pb.PutDocument(value="{")),
        pb.DocumentWrite(name=name),
        pb.DocumentWrite(name=name, put=pb.PutDocument(value="NaN", search_texts=[""])),
        pb.DocumentWrite(name=pb.DocumentName(namespace=["\n"], key="a\x1fb"), delete=pb.DeleteDocument()),
        request_id="",
    )
    assert (refused.code, set(refused.paths)) == (
        INVALID,
        {
            "request_id",
            "writes[0].name.namespace",
            "writes[0].name.key",
            "writes[0].put.value",
            "writes[1]",
            "writes[2].name",
            "writes[2].put.value",
            "writes[2].put.search_texts[0]",
            "writes[3].name.namespace[0]",
            "writes[3].name.key",
        },
    )
    deep = pb.PutDocument(value="[" * 65 + "]" * 65)
    deep.ttl.FromMilliseconds(10)
    refused = await written(pb.DocumentWrite(name=name, put=deep, etag="e"))
    assert refused.paths == ("writes[0].put.value", "writes[0].put.ttl")
    assert (await written(pb.DocumentWrite(name=name, put=pb.PutDocument(value="[" * 100_000)))).code is INVALID
    long = pb.PutDocument(value=json.dumps("x" * 262_144))
    refused = await written(pb.DocumentWrite(name=name, put=long))
    assert (refused.reason, refused.paths) == ("TEXT_TOO_LONG", ("writes[0].put.value",))
    wide = pb.DocumentName(namespace=["ü" * 128] * 3, key="ü" * 200)
    refused = await written(pb.DocumentWrite(name=wide, delete=pb.DeleteDocument()))
    assert (refused.reason, refused.paths) == ("TEXT_TOO_LONG", ("writes[0].name",))
    listed = pb.ListDocumentsRequest(
        user_id=user_id,
        filters=[
            pb.DocumentFilter(value="1"),
            pb.DocumentFilter(path=["a"], comparison="DOCUMENT_COMPARISON_EQUAL", value="x"),
        ],
    )
    refused = await refusal(gateway.documents.ListDocuments(listed))
    assert refused.paths == ("filters[0].path", "filters[0].comparison", "filters[1].value")


async def test_spec_6_6_an_erased_user_has_no_documents(client: Client, user_id: str) -> None:
    await client.write_documents(user_id, [put("a", 1), put("b", 1)])
    erasure = await client.erase_user(user_id)
    while erasure.state is not ErasureState.DONE:
        erasure = await client.get_erasure(erasure.erasure_id)
    assert sum(store.counts.get("documents", 0) for store in erasure.stores) == 2
    assert await keys(client, user_id) == []


async def test_spec_7_5_documents_are_in_the_audit_log(client: Client, user_id: str) -> None:
    await client.write_documents(user_id, [put("a", 1)])
    await client.batch_get_documents(user_id, [DocumentName(NOTES, "a")])
    await client.get_audit_checkpoint()
    entries = [json.loads(entry.body) async for entry in client.list_audit_entries() if entry.body]
    methods = [entry["method"] for entry in entries if entry["user_id"] == user_id]
    assert sorted(methods) == ["DocumentService.BatchGetDocuments", "WriteDocuments"]
