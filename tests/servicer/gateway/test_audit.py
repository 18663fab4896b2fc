"""The audit log: what is in it, what proves it, and that no entry can be changed unseen."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

import asyncpg
import pytest

from mneme.episodic.v1 import activity_pb2, activity_pb2_grpc
from mneme.gateway.v1 import audit_pb2, audit_pb2_grpc, erasure_pb2, memory_pb2, portability_pb2, recall_pb2, tiers_pb2
from mneme_client import Client, FactCategory, NoteKind
from services.common.audit.checkpoint import CheckpointError, read_checkpoint
from services.common.audit.verification import AuditEntry, verify_log
from services.common.merkle import leaf_hash, verify_consistency, verify_inclusion
from tests.support.stack import RunningStack, Stubs, refusal

_DELETE = "DELETE FROM gateway.audit_entries WHERE tenant_id = 'dev' AND leaf_index = $1"
_ALTER = "UPDATE gateway.audit_entries SET body = '{}' WHERE tenant_id = 'dev' AND leaf_index = $1"
_ADD = "SELECT gateway.audit('dev', 'developer', 'Test', '', $1, $2, now(), NULL)"
_READ = "SELECT * FROM gateway.audit_entries WHERE tenant_id = 'dev' AND leaf_index <= $1 ORDER BY leaf_index"

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def log_of(client: Client) -> list[AuditEntry]:
    return [
        AuditEntry(entry.index, entry.commitment, entry.salt or None, entry.body or None)
        async for entry in client.list_audit_entries()
    ]


async def said(client: Client, user_id: str) -> dict[str, dict[str, object]]:
    """What the log says of a user, by method."""
    await client.get_audit_checkpoint()
    bodies = [json.loads(entry.body) for entry in await log_of(client) if entry.body]
    return {body["method"]: body for body in bodies if body["user_id"] == user_id}


async def test_spec_6_10_the_log_says_who_did_what_to_which_memory_and_who_read_it(
    client: Client, user_id: str
) -> None:
    written = await client.remember(user_id, "c1", ["My cat is called Mochi."], request_id=f"{user_id} 1")
    (turn,) = written.interactions
    fact = await client.create_fact(user_id, "Ada has a piano.", FactCategory.CONTEXT, request_id=f"{user_id} 2")
    await client.get_fact(user_id, fact.fact_id)
    found = await client.recall(user_id, "piano", consistency_token=written.consistency_token)
    assert [item async for item in client.list_interactions(user_id, "c1")]
    log = await said(client, user_id)
    assert log["Remember"]["memories"] == [turn.interaction_id]
    assert log["Remember"]["principal"] == "developer"
    assert log["Remember"]["request_id"] == f"{user_id} 1"
    assert log["FactService.CreateFact"]["request_id"] == f"{user_id} 2"
    assert log["FactService.GetFact"]["memories"] == [fact.fact_id]
    assert fact.fact_id in log["Recall"]["memories"]  # type: ignore[operator]
    assert log["Recall"]["request_id"] == found.recall_id
    assert log["ConversationService.ListInteractions"]["memories"] == [turn.interaction_id]
    assert "Mochi" not in json.dumps(log)


async def test_spec_6_10_lists_and_searches_name_each_memory_that_they_returned(client: Client, user_id: str) -> None:
    facts = [
        await client.create_fact(user_id, f"Ada has {count} pianos.", FactCategory.CONTEXT)
        for count in ("two", "three")
    ]
    listed = [fact.fact_id async for fact in client.list_facts(user_id)]
    found = [hit.fact.fact_id for hit in await client.search_facts(user_id, "pianos")]
    note = await client.create_note(user_id, "Ada plays the piano.", NoteKind.FACT)
    assert [item async for item in client.list_notes(user_id)]
    log = await said(client, user_id)
    assert set(listed) == {fact.fact_id for fact in facts}
    assert log["FactService.ListFacts"]["memories"] == listed
    assert log["FactService.SearchFacts"]["memories"] == found
    assert found
    assert log["FactService.CreateFact"]["memories"] == [facts[-1].fact_id]
    assert log["NoteService.ListNotes"]["memories"] == [note.note.note_id]


async def test_spec_6_10_a_recall_names_the_recent_turns_that_it_returned(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["Thanks!", "My cat is called Mochi."], request_id=f"{user_id} 1")
    found = await client.recall(user_id, "Where do I live?", limit=1, conversation_id="c1")
    turns = {recent.interaction_id for recent in found.recent_turns}
    assert len(turns) == 2
    log = await said(client, user_id)
    assert turns <= set(log["Recall"]["memories"])  # type: ignore[call-overload]


async def test_spec_6_10_a_context_and_a_streamed_recall_are_entered_under_their_own_names(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    fact = await client.create_fact(user_id, "Ada has a piano.", FactCategory.CONTEXT, request_id=f"{user_id} 1")
    context = await client.build_context(user_id, "piano", token_budget=2_000)
    asked = recall_pb2.RecallStreamRequest(recall=recall_pb2.RecallRequest(user_id=user_id, query="piano"))
    assert [part async for part in gateway.memory.RecallStream(asked)]
    log = await said(client, user_id)
    assert log["BuildContext"]["memories"] == [fact.fact_id]
    assert log["BuildContext"]["request_id"] == context.recall_id
    assert fact.fact_id in log["RecallStream"]["memories"]  # type: ignore[operator]
    assert "Recall" not in log


async def test_spec_6_10_checkpoints_and_proofs_are_verified_without_the_service(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["One."], request_id=f"{user_id} 1")
    earlier = await client.get_audit_checkpoint()
    await client.remember(user_id, "c1", ["Two."], request_id=f"{user_id} 2")
    later = await client.get_audit_checkpoint()
    first, second = (read_checkpoint(one.note, one.public_key) for one in (earlier, later))
    assert earlier.public_key == later.public_key
    assert first.size < second.size
    steps = await client.get_consistency_proof(first.size, second_size=second.size)
    assert verify_consistency(first.size, second.size, steps.hashes, first.root, second.root)
    entry = (await log_of(client))[first.size]
    path = await client.get_inclusion_proof(first.size, size=second.size)
    assert verify_inclusion(leaf_hash(entry.commitment), first.size, second.size, path.hashes, second.root)
    with pytest.raises(CheckpointError, match="another key"):
        read_checkpoint(earlier.note, bytes(32))
    with pytest.raises(CheckpointError, match="does not fit"):
        read_checkpoint(earlier.note.replace(f"\n{first.size}\n", f"\n{first.size + 1}\n"), earlier.public_key)


def learned(record_id: str) -> activity_pb2.ActivityRecord:
    learning = activity_pb2.Learning(kind=activity_pb2.LEARNING_KIND_WORKFLOW, text="Run make check.")
    record = activity_pb2.ActivityRecord(record_id=record_id, conversation_id="c1", learning=learning)
    record.time.GetCurrentTime()
    return record


def altered(log: list[AuditEntry]) -> None:
    body = json.dumps({**json.loads(log[2].body or "{}"), "principal": "somebody else"})
    log[2] = AuditEntry(2, log[2].commitment, log[2].salt, body)


def replaced(log: list[AuditEntry]) -> None:
    log[2] = AuditEntry(2, log[1].commitment, log[1].salt, log[1].body)


def dropped(log: list[AuditEntry]) -> None:
    log[2:] = [AuditEntry(e.index - 1, e.commitment, e.salt, e.body) for e in log[3:]]


def left_out(log: list[AuditEntry]) -> None:
    del log[2]


def reordered(log: list[AuditEntry]) -> None:
    first, second = log[1], log[2]
    log[1] = AuditEntry(1, second.commitment, second.salt, second.body)
    log[2] = AuditEntry(2, first.commitment, first.salt, first.body)


def truncated(log: list[AuditEntry]) -> None:
    log.pop()


@pytest.mark.parametrize("tamper", [altered, replaced, dropped, left_out, reordered, truncated])
async def test_spec_6_10_a_log_that_was_tampered_with_does_not_verify(
    client: Client, user_id: str, tamper: Callable[[list[AuditEntry]], None]
) -> None:
    for number in range(4):
        await client.remember(user_id, "c1", [f"{number}."], request_id=f"{user_id} {number}")
    found = await client.get_audit_checkpoint()
    checkpoint = read_checkpoint(found.note, found.public_key)
    log = (await log_of(client))[: checkpoint.size]
    assert not verify_log(log, [checkpoint]).problems
    tamper(log)
    assert verify_log(log, [checkpoint]).problems


async def test_spec_6_10_the_database_refuses_changes_and_those_past_it_are_found(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.remember(user_id, "c1", ["One."], request_id=f"{user_id} 1")
    found = await client.get_audit_checkpoint()
    checkpoint = read_checkpoint(found.note, found.public_key)
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app", "postgres", 1))
    try:
        last = checkpoint.size - 1
        with pytest.raises(asyncpg.RaiseError, match="append-only"):
            await connection.execute(_DELETE, last)
        with pytest.raises(asyncpg.RaiseError, match="append-only"):
            await connection.execute(_ALTER, last)
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("SET LOCAL session_replication_role = replica")  # past the trigger
        await connection.execute(_DELETE, last)
        rows = await connection.fetch(_READ, last)
        await transaction.rollback()
    finally:
        await connection.close()
    log = [AuditEntry(row["leaf_index"], row["commitment"], row["salt"], row["body"]) for row in rows]
    assert "missing at the end" in verify_log(log, [checkpoint]).problems[0]


async def test_spec_6_10_erasing_a_user_blinds_its_entries_and_breaks_no_proof(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await client.remember(user_id, "c1", ["My cat is called Mochi."], request_id=f"{user_id} 1")
    before = await client.get_audit_checkpoint()
    request = erasure_pb2.EraseRequest(request_id=str(uuid.uuid4()), user_id=user_id, all_of_user=True)
    erasure = (await gateway.erasures.Erase(request)).erasure
    while erasure.state != erasure_pb2.ERASURE_STATE_DONE:
        reading = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)
        erasure = (await gateway.erasures.GetErasure(reading)).erasure
    after = await client.get_audit_checkpoint()
    log = await log_of(client)
    assert not any(entry.body and user_id in entry.body for entry in log)
    checkpoints = [read_checkpoint(one.note, one.public_key) for one in (before, after)]
    verdict = verify_log(log, checkpoints)
    assert not verdict.problems
    assert verdict.blinded >= 1
    kept = [json.loads(entry.body) for entry in log if entry.body]
    (call,) = [body for body in kept if body.get("target", {}).get("erasure") == erasure.erasure_id]
    assert (call["method"], call["principal"], call["user_id"], call["target"]["kind"]) == (
        "Erase",
        "developer",
        "",
        "user",
    )


async def test_spec_6_10_what_is_erased_or_ended_is_named(client: Client, gateway: Stubs, user_id: str) -> None:
    written = await client.remember(user_id, "c1", ["My cat is called Mochi."], request_id=f"{user_id} 1")
    (turn,) = written.interactions
    await client.delete_session(user_id, "c1", request_id=f"{user_id} 2")
    reference = memory_pb2.MemoryReference(kind=tiers_pb2.MEMORY_KIND_EPISODE, memory_id=turn.interaction_id)
    request = erasure_pb2.EraseRequest(
        request_id=str(uuid.uuid4()), user_id=user_id, memories=erasure_pb2.MemoryReferences(memories=[reference])
    )
    erasure = (await gateway.erasures.Erase(request)).erasure
    log = await said(client, user_id)
    deleted = log["SessionService.DeleteSession"]
    assert (deleted["principal"], deleted["request_id"], deleted["target"]) == (
        "developer",
        f"{user_id} 2",
        {"conversation": "c1"},
    )
    assert log["EndSession"]["target"] == {"conversation": "c1"}
    assert log["Erase"]["memories"] == [turn.interaction_id]
    assert log["Erase"]["target"] == {"erasure": erasure.erasure_id, "kind": "memories"}
    assert log["Erase"]["principal"] == "developer"


async def test_spec_6_10_a_page_of_large_entries_ends_before_it_is_too_large_for_an_answer(
    client: Client, gateway: Stubs, user_id: str, stack: RunningStack
) -> None:
    first = (await client.get_audit_checkpoint()).size
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app", "postgres", 1))
    try:
        await connection.execute("SET mneme.worker = 'on'")
        for _ in range(4):
            await connection.execute(_ADD, user_id, [uuid.uuid4() for _ in range(30_000)])
    finally:
        await connection.close()
    size = (await client.get_audit_checkpoint()).size
    audit = audit_pb2_grpc.AuditServiceStub(gateway.channel)
    entries, token = list[audit_pb2.AuditEntry](), ""
    while not entries or token:
        asked = audit_pb2.ListAuditEntriesRequest(page_size=1_000_000, from_index=first, page_token=token)
        page = await audit.ListAuditEntries(asked)
        assert page.ByteSize() < 4 * 1024 * 1024
        entries, token = [*entries, *page.entries], page.next_page_token
    assert [entry.index for entry in entries][: size - first] == list(range(first, size))
    assert sum(len(entry.body) > 1_000_000 for entry in entries) == 4


async def test_spec_7_2_wrong_fields_of_a_page_of_the_log_are_named(gateway: Stubs) -> None:
    audit = audit_pb2_grpc.AuditServiceStub(gateway.channel)
    refused = await refusal(audit.ListAuditEntries(audit_pb2.ListAuditEntriesRequest(page_size=-1, from_index=-1)))
    assert (refused.reason, refused.paths) == ("INVALID_FIELD", ("page_size", "from_index"))


@pytest.mark.parametrize(
    ("first", "second", "paths"),
    [(0, 0, ("first_size",)), (10, 3, ("first_size",)), (-1, -1, ("first_size", "second_size"))],
)
async def test_spec_7_2_wrong_sizes_of_a_consistency_proof_are_named(
    gateway: Stubs, first: int, second: int, paths: tuple[str, ...]
) -> None:
    audit = audit_pb2_grpc.AuditServiceStub(gateway.channel)
    asked = audit_pb2.GetConsistencyProofRequest(first_size=first, second_size=second)
    refused = await refusal(audit.GetConsistencyProof(asked))
    assert (refused.reason, refused.paths) == ("INVALID_FIELD", paths)


@pytest.mark.parametrize(("index", "size", "paths"), [(3, 3, ("index",)), (-1, -1, ("index", "size"))])
async def test_spec_7_2_wrong_fields_of_an_inclusion_proof_are_named(
    gateway: Stubs, index: int, size: int, paths: tuple[str, ...]
) -> None:
    audit = audit_pb2_grpc.AuditServiceStub(gateway.channel)
    refused = await refusal(audit.GetInclusionProof(audit_pb2.GetInclusionProofRequest(index=index, size=size)))
    assert (refused.reason, refused.paths) == ("INVALID_FIELD", paths)


async def test_spec_6_10_an_import_names_its_user(client: Client, gateway: Stubs, user_id: str) -> None:
    asked = portability_pb2.ExportUserRequest(user_id=user_id)
    content = b"".join([part.data async for part in gateway.portability.ExportUser(asked)])
    await gateway.portability.ImportUser(iter([portability_pb2.ImportUserRequest(data=content)]))
    log = await said(client, user_id)
    assert log["PortabilityService.ImportUser"]["principal"] == "developer"


async def test_spec_6_10_a_stream_of_records_names_them_for_each_user(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    other = f"{user_id} other"
    requests = [
        activity_pb2.RecordActivityStreamRequest(user_id=one, records=[learned(f"{one} {number}")])
        for number in range(2)
        for one in (user_id, other)
    ]
    activity = activity_pb2_grpc.ActivityServiceStub(gateway.channel)
    await activity.RecordActivityStream(iter(requests))
    for one in (user_id, other):
        entry = (await said(client, one))["ActivityService.RecordActivityStream"]
        assert entry["target"] == {"activity_records": [f"{one} 0", f"{one} 1"]}
