"""What every driver of the store of documents must do."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from services.common.errors import AlreadyExists, Conflict, InvalidArgument, LimitExceeded, Reason
from services.common.owners import Owner, TenantId, UserId
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.model import (
    Document,
    DocumentName,
    DocumentWrite,
    Position,
    Vectors,
    WriteDocuments,
    Written,
)
from services.gateway.documents.store import DocumentStore
from services.gateway.journal.model import Caller
from tests.support.clock import FakeClock

ACME = Caller("acme", "agent")
ADA = Owner(TenantId("acme"), UserId("ada"))
MODEL = "model-1"
SETTINGS = DocumentSettings(documents_per_user_max=5, page_bytes_max=1_000)


def name(key: str, *labels: str) -> DocumentName:
    return DocumentName(labels or ("notes",), key)


def put(key: str, value: Any = 1, *labels: str, **fields: Any) -> DocumentWrite:
    return DocumentWrite(name=name(key, *labels), value=json.dumps(value), **fields)


def delete(key: str, *labels: str, etag: str = "") -> DocumentWrite:
    return DocumentWrite(name=name(key, *labels), etag=etag)


async def write(
    store: DocumentStore,
    *writes: DocumentWrite,
    request_id: str = "",
    user: str = "ada",
    caller: Caller = ACME,
    vectors: Sequence[Vectors] = (),
    model: str = MODEL,
) -> Written:
    digest = hashlib.sha256(repr(writes).encode()).digest()
    command = WriteDocuments(request_id or str(uuid.uuid4()), user, digest, writes)
    return await store.write(caller, command, vectors, model)


async def read(store: DocumentStore, *names: DocumentName, owner: Owner = ADA) -> list[Document]:
    return list((await store.get(owner, names)).documents)


async def values(store: DocumentStore, *prefix: str, owner: Owner = ADA, key_prefix: str = "") -> dict[str, Any]:
    listed = await store.list_documents(owner, prefix, key_prefix=key_prefix, after=None, limit=100)
    return {"/".join((*one.name.namespace, one.name.key)): json.loads(one.value) for one in listed.documents}


class DocumentStoreContract:
    """Subclass it with fixtures `documents` (of `SETTINGS`) and `clock`."""

    async def test_spec_9_4_a_document_is_read_as_it_was_written(
        self, documents: DocumentStore, clock: FakeClock
    ) -> None:
        text = '{"b": 1.0, "a": [true, null, "\\u0000 ü"], "n": 12345678901234567890}'
        made = DocumentWrite(name=name("k", "a", "b c"), value=text, search_texts=("some", "texts"), ttl_seconds=90.5)
        (result,) = (await write(documents, made)).results
        (found,) = await read(documents, made.name)
        assert result.etag
        assert found == Document(
            name=made.name,
            value=text,
            search_texts=("some", "texts"),
            etag=result.etag,
            create_time=clock.now(),
            update_time=clock.now(),
            ttl_seconds=90.5,
            expire_time=clock.now() + timedelta(seconds=90.5),
        )

    async def test_spec_9_4_a_replaced_document_keeps_the_time_of_its_creation(
        self, documents: DocumentStore, clock: FakeClock
    ) -> None:
        first = (await write(documents, put("k"))).results[0]
        clock.advance(seconds=5)
        second = (await write(documents, put("k", 2))).results[0]
        assert (first.existed, second.existed) == (False, True)
        assert second.etag != first.etag
        (found,) = await read(documents, name("k"))
        assert (found.value, found.create_time, found.update_time) == ("2", first.create_time, clock.now())

    async def test_spec_9_4_writes_happen_together_or_not_at_all(self, documents: DocumentStore) -> None:
        etag = (await write(documents, put("a"), put("b"))).results[0].etag
        assert etag
        with pytest.raises(AlreadyExists):
            await write(
                documents, put("a", 2), delete("b"), put("b", 2, "other"), put("a", 3, "notes", must_be_new=True)
            )
        with pytest.raises(Conflict):
            await write(documents, put("c"), replace(put("b", 2), etag="another"))
        with pytest.raises(Conflict):
            await write(documents, put("c"), replace(put("missing", 2), etag="another"))
        assert await values(documents) == {"notes/a": 1, "notes/b": 1}
        await write(documents, replace(put("a", 2), etag=etag), delete("b"), put("c"))
        assert await values(documents) == {"notes/a": 2, "notes/c": 1}

    async def test_spec_9_4_a_deleted_document_is_gone(self, documents: DocumentStore) -> None:
        await write(documents, put("a"))
        assert [r.existed for r in (await write(documents, delete("a"), delete("b"))).results] == [True, False]
        assert await read(documents, name("a")) == []
        with pytest.raises(Conflict):
            await write(documents, delete("a", etag="e"))

    async def test_spec_6_3_a_repeat_returns_the_first_results(self, documents: DocumentStore) -> None:
        first = await write(documents, put("a"), delete("b"), request_id="r1")
        await write(documents, delete("a"), request_id="r2")
        again = await write(documents, put("a"), delete("b"), request_id="r1")
        assert again == Written(first.results, replayed=True)
        assert await values(documents) == {}
        with pytest.raises(InvalidArgument) as caught:
            await write(documents, put("a", 2), request_id="r1")
        assert caught.value.reason is Reason.REQUEST_ID_REUSED

    async def test_spec_9_4_documents_are_listed_by_label_and_key(self, documents: DocumentStore) -> None:
        await write(documents, put("b"), put("a", 1, "notes", "x"), put("a", 1, "notes x"))
        await write(documents, put("ab"), put("é"))
        everything = ["notes/ab", "notes/b", "notes/é", "notes/x/a", "notes x/a"]
        assert list(await values(documents)) == everything
        assert list(await values(documents, "notes")) == everything[:4]
        assert list(await values(documents, "notes", "x")) == ["notes/x/a"]
        assert list(await values(documents, "note")) == []
        assert list(await values(documents, key_prefix="a")) == ["notes/ab", "notes/x/a", "notes x/a"]
        pages, after, is_last = [], None, False
        while not is_last:
            listed = await documents.list_documents(ADA, (), key_prefix="", after=after, limit=2)
            pages.append([one.name.key for one in listed.documents])
            after, is_last = Position(listed.documents[-1].name), listed.is_last
        assert pages == [["ab", "b"], ["é", "a"], ["a"]]
        assert await documents.list_namespaces(ADA, ()) == [("notes",), ("notes", "x"), ("notes x",)]
        assert await documents.list_namespaces(ADA, ("notes",)) == [("notes",), ("notes", "x")]

    async def test_spec_9_4_documents_are_listed_by_their_last_write(
        self, documents: DocumentStore, clock: FakeClock
    ) -> None:
        await write(documents, put("c"), put("b"), put("a", 1, "notes", "x"))
        clock.advance(seconds=0.000001)
        await write(documents, put("d"), put("e", 1, "other"))
        clock.advance(seconds=1)
        await write(documents, put("b", 2))

        async def pages(limit: int, *prefix: str, key_prefix: str = "") -> list[list[str]]:
            read, after, is_last = [], None, False
            while not is_last:
                listed = await documents.list_documents(
                    ADA, prefix, key_prefix=key_prefix, after=after, limit=limit, latest_first=True
                )
                read.append([one.name.key for one in listed.documents])
                after, is_last = Position.of(listed.documents[-1]) if listed.documents else after, listed.is_last
            return read

        assert await pages(9) == [["b", "d", "e", "c", "a"]]
        assert await pages(2) == [["b", "d"], ["e", "c"], ["a"]]
        assert await pages(1, "notes") == [["b"], ["d"], ["c"], ["a"], []]
        assert await pages(9, "notes", "x") == [["a"]]
        assert await pages(9, key_prefix="d") == [["d"]]

    async def test_spec_9_4_a_response_ends_before_it_is_too_long(self, documents: DocumentStore) -> None:
        await write(documents, put("a", "x" * 2_000), put("b", "x" * 2_000), put("c"))
        names = [name("c"), name("b"), name("a")]
        found = await documents.get(ADA, names)
        assert [one.name.key for one in found.documents] == ["c", "b"]
        assert list(found.unread) == [name("a")]
        listed = await documents.list_documents(ADA, (), key_prefix="", after=None, limit=9)
        assert [one.name.key for one in listed.documents] == ["a"]
        assert not listed.is_last

    async def test_spec_9_4_a_user_has_only_so_many_documents(self, documents: DocumentStore, clock: FakeClock) -> None:
        await write(documents, *(put(str(i)) for i in range(4)), put("4", ttl_seconds=60.0))
        with pytest.raises(LimitExceeded):
            await write(documents, put("5"))
        await write(documents, put("0", 2))
        await write(documents, delete("0"), put("5"))
        clock.advance(seconds=60)
        await write(documents, put("6"))
        assert list(await values(documents)) == ["notes/1", "notes/2", "notes/3", "notes/5", "notes/6"]

    async def test_spec_9_4_an_expired_document_is_gone_at_once(
        self, documents: DocumentStore, clock: FakeClock
    ) -> None:
        await write(documents, put("a", search_texts=("t",), ttl_seconds=60.0), put("b"))
        clock.advance(seconds=59)
        assert list(await values(documents)) == ["notes/a", "notes/b"]
        clock.advance(seconds=1)
        assert await values(documents) == {"notes/b": 1}
        assert await read(documents, name("a")) == []
        assert await documents.list_vectors(ADA, (), model=MODEL) == []
        (result,) = (await write(documents, put("a", must_be_new=True, ttl_seconds=60.0))).results
        assert (result.existed, result.create_time) == (False, clock.now())
        assert await documents.remove_expired(limit=10) == 0
        clock.advance(seconds=60)
        assert await documents.remove_expired(limit=10) == 1
        assert await documents.remove_expired(limit=10) == 0

    async def test_spec_9_4_a_time_to_live_begins_anew(self, documents: DocumentStore, clock: FakeClock) -> None:
        await write(documents, put("a", ttl_seconds=60.0), put("b"))
        clock.advance(seconds=59)
        await documents.extend(ADA, [name("a"), name("b"), name("missing")])
        clock.advance(seconds=59)
        (a, b) = await read(documents, name("a"), name("b"))
        assert a.expire_time == clock.now() + timedelta(seconds=1)
        assert b.expire_time is None
        clock.advance(seconds=1)
        await documents.extend(ADA, [name("a")])
        assert await read(documents, name("a")) == []

    async def test_spec_9_4_vectors_are_those_of_the_stored_texts(self, documents: DocumentStore) -> None:
        one = Vectors(name("a"), "", np.array([0.6, 0.8, 1.0, 0.0], np.float32))
        texts = {"search_texts": ("x", "y")}
        (result, _) = (await write(documents, put("a", **texts), put("b"), vectors=[one])).results
        await write(documents, put("c", search_texts=("z",)))
        a, c = await documents.list_vectors(ADA, (), model=MODEL)
        assert a.vectors is not None
        assert (a.name, a.etag, a.vectors.tolist()) == (name("a"), result.etag, pytest.approx([0.6, 0.8, 1.0, 0.0]))
        assert (c.name, c.vectors) == (name("c"), None)
        assert [v.vectors for v in await documents.list_vectors(ADA, ("notes",), model="model-2")] == [None, None]
        made = replace(c, vectors=np.array([0.0, 1.0], np.float32))
        await documents.put_vectors(ADA, [made, replace(a, etag="another", vectors=made.vectors)], model="model-2")
        a, c = await documents.list_vectors(ADA, (), model="model-2")
        assert a.vectors is None
        assert c.vectors is not None
        assert c.vectors.tolist() == [0.0, 1.0]
        await write(documents, put("c", 2))
        assert len(await documents.list_vectors(ADA, (), model=MODEL)) == 1

    async def test_spec_7_2_nobody_sees_the_documents_of_others(self, documents: DocumentStore) -> None:
        await write(documents, put("a", search_texts=("t",)))
        for caller, owner in (
            (ACME, Owner(TenantId("acme"), UserId("bob"))),
            (Caller("other", "agent"), Owner(TenantId("other"), UserId("ada"))),
        ):
            assert await read(documents, name("a"), owner=owner) == []
            assert await values(documents, owner=owner) == {}
            assert await documents.list_namespaces(owner, ()) == []
            assert await documents.list_vectors(owner, (), model=MODEL) == []
            await write(documents, delete("a"), caller=caller, user=owner.user_id)
        assert await values(documents) == {"notes/a": 1}

    async def test_spec_9_4_of_concurrent_writers_one_wins(self, documents: DocumentStore) -> None:
        etag = (await write(documents, put("a", 0))).results[0].etag or ""
        writes = [write(documents, replace(put("a", i), etag=etag), put(f"b{i}")) for i in range(1, 5)]
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        won = [i for i, outcome in enumerate(outcomes, 1) if isinstance(outcome, Written)]
        assert len(won) == 1
        assert all(isinstance(outcome, Conflict) for i, outcome in enumerate(outcomes, 1) if i not in won)
        assert await values(documents) == {"notes/a": won[0], f"notes/b{won[0]}": 1}
