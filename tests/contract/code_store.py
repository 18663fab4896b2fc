"""What every store of the code graph must do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import pytest

from services.common.errors import InvalidArgument, LimitExceeded, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey, IdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.semantic.code.model import Deletion, FileStatus, IndexOutcome, PackedFile, Refusal
from services.semantic.code.store import CodeStore

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
OTHER = Owner(TenantId("other"), UserId("ada"))
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
DELETING = Idempotency(Deletion, retention_seconds=1_000.0)
INDEXING = Idempotency(IndexOutcome, retention_seconds=1_000.0)


def packed(path: str, content: bytes = b"\x00\xff", lines: int = 3) -> PackedFile:
    return PackedFile(path, f"digest of {content!r}", "python", FileStatus.PARSED, lines, content)


async def index_once(_: IdempotencyRecords, work: Callable[[], Awaitable[IndexOutcome]]) -> IndexOutcome:
    return await work()


async def delete_once(_: IdempotencyRecords, work: Callable[[], Awaitable[Deletion]]) -> Deletion:
    return await work()


async def write(
    store: CodeStore,
    *files: PackedFile,
    owner: Owner = ADA,
    repository_id: str = "r",
    removed: Sequence[str] = (),
    refused: Sequence[Refusal] = (),
    files_max: int = 100,
    key: IdempotencyKey | None = None,
) -> IndexOutcome:
    async def once(records: IdempotencyRecords, work: Callable[[], Awaitable[IndexOutcome]]) -> IndexOutcome:
        if key is None:
            return await work()
        resource = f"repository {repository_id}"
        return await INDEXING.run(records, key, work, now=NOON, user_id=owner.user_id, resource_id=lambda _: resource)

    return await store.write(
        owner,
        repository_id,
        files=files,
        unchanged=(),
        refused=refused,
        removed=removed,
        files_max=files_max,
        now=NOON,
        once=once,
    )


class CodeStoreContract:
    """Subclassed for each driver, with a fixture `store` that returns an empty one."""

    async def test_files_are_added_replaced_and_removed_in_revisions(self, store: CodeStore) -> None:
        first = await write(store, packed("b.py"), packed("a.py", lines=5))
        assert (first.repository.revision, first.repository.file_count, first.repository.line_count) == (1, 2, 8)
        second = await write(store, packed("b.py", b"new", 1), removed=["a.py", "unknown.py"])
        assert (second.removed, second.repository.revision, second.repository.file_count) == (1, 2, 1)
        [changed] = await store.changed(ADA, "r", after_revision=1)
        assert changed == packed("b.py", b"new", 1)
        head = await store.head(ADA, "r")
        assert head is not None
        assert (head.revision, head.file_count) == (2, 1)
        assert await store.paths(ADA, "r") == ["b.py"]

    async def test_what_changes_nothing_has_no_new_revision(self, store: CodeStore) -> None:
        await write(store, packed("a.py"))
        assert (await write(store, removed=["unknown.py"])).repository.revision == 1

    async def test_a_refused_file_loses_its_earlier_state(self, store: CodeStore) -> None:
        await write(store, packed("a.py"), packed("b.py"))
        outcome = await write(store, refused=[Refusal("a.py", "is binary")])
        assert outcome.refused == (Refusal("a.py", "is binary"),)
        assert await store.paths(ADA, "r") == ["b.py"]

    async def test_lists_are_paged_by_path_and_id(self, store: CodeStore) -> None:
        await write(store, *(packed(path) for path in ("b.py", "B.py", "a/c.py", "\u00e4.py")))
        first = await store.list_files(ADA, "r", after=None, limit=2)
        rest = await store.list_files(ADA, "r", after=first[-1].path, limit=10)
        assert [file.path for file in (*first, *rest)] == ["B.py", "a/c.py", "b.py", "\u00e4.py"]
        await write(store, packed("x.py"), repository_id="q")
        assert [one.repository_id for one in await store.list_repositories(ADA, after=None, limit=5)] == ["q", "r"]
        assert [one.repository_id for one in await store.list_repositories(ADA, after="q", limit=5)] == ["r"]
        assert set(await store.digests(ADA, "r", ["b.py", "unknown.py"])) == {"b.py"}

    async def test_spec_7_2_too_many_files_change_nothing(self, store: CodeStore) -> None:
        await write(store, packed("a.py"))
        with pytest.raises(LimitExceeded):
            await write(store, packed("b.py"), packed("c.py"), files_max=2)
        assert await store.paths(ADA, "r") == ["a.py"]

    async def test_spec_6_3_a_repeat_returns_the_first_outcome(self, store: CodeStore) -> None:
        key = IdempotencyKey("p", "request", "digest")
        first = await write(store, packed("a.py"), key=key)
        assert await write(store, packed("a.py"), key=key) == first
        with pytest.raises(InvalidArgument):
            await write(store, packed("b.py"), key=IdempotencyKey("p", "request", "other"))

    async def test_spec_6_3_equal_deletions_at_once_have_one_response(self, store: CodeStore) -> None:
        key = IdempotencyKey("p", "request", "digest")

        async def once(records: IdempotencyRecords, work: Callable[[], Awaitable[Deletion]]) -> Deletion:
            return await DELETING.run(records, key, work, now=NOON, user_id=ADA.user_id, resource_id=lambda _: "r")

        await write(store, packed("a.py"))
        responses = await asyncio.gather(*(store.delete(ADA, "r", once) for _ in range(4)))
        assert responses == [Deletion("r", 1)] * 4

    async def test_a_deleted_repository_comes_back_in_another_epoch(self, store: CodeStore) -> None:
        await write(store, packed("a.py"))
        before = await store.head(ADA, "r")
        assert (await store.delete(ADA, "r", delete_once)).removed_files == 1
        assert await store.head(ADA, "r") is None
        assert await store.paths(ADA, "r") == []
        with pytest.raises(NotFound):
            await store.delete(ADA, "r", delete_once)
        await write(store, packed("b.py"))
        after = await store.head(ADA, "r")
        assert before is not None
        assert after is not None
        assert before.epoch != after.epoch

    async def test_spec_7_1_no_owner_sees_another_ones_code(self, store: CodeStore) -> None:
        for owner in (ADA, BEN, OTHER):
            await write(store, packed(f"{owner.user_id}.py", owner.tenant_id.encode()), owner=owner)
        assert await store.paths(ADA, "r") == ["ada.py"]
        assert [file.content for file in await store.changed(OTHER, "r", after_revision=-1)] == [b"other"]
        assert {name: one.content for name, one in (await store.contents(OTHER, "r", ["ada.py", "no.py"])).items()} == {
            "ada.py": b"other"
        }
        assert await store.contents(OTHER, "no", ["ada.py"]) == {}

    async def test_spec_6_6_everything_of_a_user_is_removed(self, store: CodeStore) -> None:
        key = IdempotencyKey("p", "request", "digest")
        await write(store, packed("a.py"), key=key)
        await write(store, packed("a.py"), repository_id="q")
        await write(store, packed("a.py"), owner=BEN)
        assert await store.users(ADA.tenant_id, after=UserId(""), limit=9) == [ADA.user_id, BEN.user_id]
        assert await store.remove_owner(ADA) == 2
        assert await store.users(ADA.tenant_id, after=UserId(""), limit=9) == [BEN.user_id]
        assert await store.remove_owner(ADA) == 0
        assert await store.list_repositories(ADA, after=None, limit=5) == []
        assert await store.paths(ADA, "r") == []
        assert await store.paths(BEN, "r") == ["a.py"]
        with pytest.raises(NotFound):  # the response was erased, and the request does not run again
            await write(store, packed("a.py"), key=key)

    async def test_writers_of_one_repository_do_not_lose_files(self, store: CodeStore) -> None:
        outcomes = await asyncio.gather(*(write(store, packed(f"{n}.py")) for n in range(6)))
        assert sorted(one.repository.revision for one in outcomes) == [1, 2, 3, 4, 5, 6]
        assert len(await store.paths(ADA, "r")) == 6
