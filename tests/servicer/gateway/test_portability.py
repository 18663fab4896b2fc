"""A user as a file and back: exact round trips, and files that change nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio

from mneme.gateway.v1 import erasure_pb2, portability_pb2
from mneme_client import (
    Client,
    DocumentName,
    FactCategory,
    FeedbackValue,
    LinkType,
    NoteKind,
    Preferences,
    PutDocument,
    Scope,
    ScopeLevel,
    Turn,
)
from tests.support.neo4j import ON_NEO4J
from tests.support.stack import RunningStack, Stubs, refusal, running_stack, stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PATIENCE = 60.0
"""Seconds of a call: a Neo4j that has just started plans each of its queries for the first time."""
_PRICES = b"""class Order:
    def total(self):
        return apply_discount(self.price)

def apply_discount(price):
    return price * 0.9
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def neo4j_stack(
    tmp_path_factory: pytest.TempPathFactory, model_folder: Path, neo4j_url: str
) -> AsyncIterator[RunningStack]:
    data_dir = tmp_path_factory.mktemp("neo4j-stack") / "data"
    async with running_stack(data_dir, model_folder, neo4j_url=neo4j_url) as services:
        yield RunningStack(services, b"")


@pytest.fixture(params=["postgres", ON_NEO4J])
def any_stack(request: pytest.FixtureRequest) -> RunningStack:
    """A stack with the semantic and the agentic tier on an engine."""
    found: RunningStack = request.getfixturevalue("stack" if request.param == "postgres" else "neo4j_stack")
    return found


async def exported(gateway: Stubs, user_id: str) -> bytes:
    parts = gateway.portability.ExportUser(portability_pb2.ExportUserRequest(user_id=user_id))
    return b"".join([part.data async for part in parts])


async def imported(gateway: Stubs, content: bytes, *, part_bytes: int = 10_000) -> portability_pb2.ImportUserResponse:
    parts = [content[start : start + part_bytes] for start in range(0, len(content), part_bytes)]
    return await gateway.portability.ImportUser(iter([portability_pb2.ImportUserRequest(data=part) for part in parts]))


async def erased(gateway: Stubs, user_id: str) -> None:
    request = erasure_pb2.EraseRequest(request_id=f"{user_id} erase", user_id=user_id, all_of_user=True)
    erasure = (await gateway.erasures.Erase(request)).erasure
    while erasure.state != erasure_pb2.ERASURE_STATE_DONE:
        reading = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)
        erasure = (await gateway.erasures.GetErasure(reading)).erasure


def records(content: bytes) -> dict[str, list[dict[str, Any]]]:
    """The records by kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in content.splitlines()[1:-1]:
        document = json.loads(line)
        found.setdefault(document["kind"], []).append(document["record"])
    return found


def resealed(lines: list[bytes]) -> bytes:
    """A file with a last line that fits the others."""
    body = b"".join(line + b"\n" for line in lines)
    end = {"records": len(lines) - 1, "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end, separators=(",", ":")).encode() + b"\n"


async def a_life(client: Client, user_id: str) -> None:
    """A user with something of every kind: archived, superseded, judged, granted, linked and parsed."""
    written = await client.remember(
        user_id,
        "c1",
        [
            Turn("I live in Lisbon and my cat is called Mochi.", speaker="Ada"),
            Turn("Please answer in German from now on.", speaker="Ada"),
            "We decided to use PostgreSQL for the journal.",
        ],
        request_id=f"{user_id} 1",
    )
    moved = ["I moved: I live in Porto now.", "I have a dozen cats.", "I have twelve cats."]
    later = await client.remember(user_id, "c2", moved, request_id=f"{user_id} 2")
    for token in (written.consistency_token, later.consistency_token):

        async def is_found(token: str = token) -> bool:
            return bool((await client.recall(user_id, "Where do I live?", consistency_token=token)).consistent)

        await until(is_found, timeout_seconds=_PATIENCE)
    await client.feedback(user_id, FeedbackValue.GOOD, memory_ids=[written.interactions[0].interaction_id])
    judged = await client.recall(user_id, "Which database is used for the journal?")
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=judged.recall_id)
    for part in (b"", b"# Edited.\n"):
        await client.index_files(user_id, "shop", {"shop/prices.py": part + _PRICES, "shop/empty.py": b""})
    await client.index_files(user_id, "été", {"a.go": b"package a\n\nfunc A() int { return 1 }\n"})
    fact = await client.create_fact(user_id, "Ada has a piano.", FactCategory.CONTEXT)
    await client.update_fact(user_id, fact.fact_id, text="Ada has a grand piano.")
    for text in ("Ada keeps a diary of her long trips", "Ada writes a diary of her long trips"):
        await client.create_fact(user_id, text, FactCategory.CONTEXT)
    await client.run_job(user_id, "semantic.merge_facts")
    server = "The old build server in the cold cellar runs Debian"
    for text in ("The user has a cello", f"{server} 12", f"{server} 13 now", f"{server} 13 since May", f"{server} 14"):
        await client.create_fact(user_id, text, FactCategory.CONTEXT)  # compared with turns, and with each other
    tea = await client.create_note(user_id, "Tea is best hot.", NoteKind.FACT)
    pot = await client.create_note(user_id, "The pot is on the shelf.", NoteKind.OBSERVATION)
    await client.create_link(user_id, tea.note.note_id, pot.note.note_id, LinkType.SUPPORTS)
    await client.archive_notes(user_id, [pot.note.note_id])
    await client.archive_episodes(user_id, [written.interactions[2].interaction_id])
    await client.update_profile(user_id, Preferences(language="de"))
    await client.correct(user_id, "My cat is called Mocca.", query="My cat is called Mochi.")
    name = DocumentName(("notes", "été"), "4F2504E0-4F89-11D3-9A0C-0305E82C3301")
    document = PutDocument(
        name, {"text": "Dahlias need sun."}, search_texts=("Dahlias need sun.",), ttl=timedelta(days=9)
    )
    await client.write_documents(user_id, [document, PutDocument(DocumentName(("plans",), "k"), 1.0)])
    here, there = (Scope(ScopeLevel.PROJECT, project_id=name) for name in ("p1", "p2"))
    await client.create_grant(user_id, from_scope=here, to_scope=there)


async def test_spec_6_7_export_erase_import_export_is_the_same_file_byte_for_byte(
    any_stack: RunningStack, user_id: str
) -> None:
    async with any_stack.client(default_timeout_seconds=_PATIENCE) as client, stubs(any_stack.target) as gateway:
        await a_life(client, user_id)
        before = await exported(gateway, user_id)
        found = records(before)
        assert {
            "gateway.interactions", "gateway.grants", "gateway.documents", "gateway.feedback", "episodic.episodes",
            "semantic.facts", "semantic.fact_statements", "semantic.fact_supports", "semantic.merge_groups",
            "semantic.profiles", "semantic.supersessions", "semantic.judged_recalls", "semantic.code_repositories",
            "semantic.code_files", "agentic.notes",
            "agentic.link_ends",
        } <= found.keys()  # fmt: skip
        assert {episode["status"] for episode in found["episodic.episodes"]} == {2, 3}
        assert any(fact["versions"] for fact in found["semantic.facts"])
        await erased(gateway, user_id)
        assert records(await exported(gateway, user_id)).keys() <= {
            "semantic.extracted_interactions",
            "semantic.observed_interactions",
            "agentic.processed_interactions",
        }
        response = await imported(gateway, before)
        assert (response.user_id, response.restored_count, response.replayed) == (user_id, 7, False)
        assert response.record_count == len(before.splitlines()) - 2
        assert (await exported(gateway, user_id)).splitlines() == before.splitlines()
        await everything_is_found(client, user_id)
        again = await imported(gateway, before)
        assert (again.replayed, again.restored_count) == (True, 7)


async def everything_is_found(client: Client, user_id: str) -> None:
    """Searches find what `a_life` made."""

    async def is_found() -> bool:
        recalled = await client.recall(user_id, "What is the cat called?")
        return any("Mocca" in memory.text for memory in recalled.memories)

    await until(is_found, timeout_seconds=_PATIENCE)
    assert any("piano" in item.fact.text for item in (await client.recall(user_id, "Does Ada have a piano?")).facts)
    dahlias = await client.search_documents(user_id, "What do the flowers need?")
    assert [one.document.name.key for one in dahlias.documents] == ["4F2504E0-4F89-11D3-9A0C-0305E82C3301"]
    code, *_ = await client.search_code(user_id, "shop", "Where is the discount applied?", lines_max=20)
    assert code.file.path == "shop/prices.py"
    assert "return price * 0.9" in code.excerpts[0].text
    assert [one.path async for one in client.list_files(user_id, "été")] == ["a.go"]
    outcome = await client.index_files(user_id, "shop", {"shop/new.py": b"def new(): return apply_discount(2)\n"})
    assert outcome.repository.file_count == 3


async def test_spec_6_7_what_was_just_recalled_counts_in_the_file_and_not_again_after_an_import(
    any_stack: RunningStack, user_id: str
) -> None:
    async with any_stack.client(default_timeout_seconds=_PATIENCE) as client, stubs(any_stack.target) as gateway:
        written = await client.remember(user_id, "c1", ["The boat is blue."], request_id=f"{user_id} 1")
        note = await client.create_note(user_id, "Boats are tarred in May.", NoteKind.FACT)

        async def is_found() -> bool:
            token = written.consistency_token
            return bool((await client.recall(user_id, "Boats?", consistency_token=token)).consistent)

        await until(is_found, timeout_seconds=_PATIENCE)
        found = records(await exported(gateway, user_id))
        counted = found["episodic.episodes"][0]["access_count"]
        recalled = await client.recall(user_id, "Which colour has the boat?")
        notes = await client.search_notes(user_id, "When are boats tarred?")
        before = await exported(gateway, user_id)
        assert recalled.memories[0].memory_id == written.interactions[0].interaction_id
        assert note.note.note_id in [hit.note.note_id for hit in notes]
        assert records(before)["episodic.episodes"][0]["access_count"] == counted + 1
        noted = {one["note_id"]: one["access_count"] for one in found["agentic.notes"]}
        again = {one["note_id"]: one["access_count"] for one in records(before)["agentic.notes"]}
        assert again[note.note.note_id] > noted[note.note.note_id]
        await erased(gateway, user_id)
        await imported(gateway, before)
        assert (await exported(gateway, user_id)).splitlines() == before.splitlines()


async def test_spec_6_7_a_broken_file_changes_nothing(client: Client, gateway: Stubs, user_id: str) -> None:
    await client.remember(user_id, "c1", ["I live in Lisbon."], request_id=f"{user_id} 1")
    await client.create_note(user_id, "Tea is best hot.", NoteKind.FACT)
    await client.index_files(user_id, "shop", {"a.py": b"x = 1\n"})
    whole = await exported(gateway, user_id)
    await erased(gateway, user_id)
    empty = await exported(gateway, user_id)
    lines = whole.splitlines()[:-1]
    (turn,) = [index for index, line in enumerate(lines) if b'"gateway.interactions"' in line]
    (note,) = [index for index, line in enumerate(lines) if b"Tea is best" in line and b'"agentic.notes"' in line]
    (code,) = [index for index, line in enumerate(lines) if b'"semantic.code_files"' in line]
    unpackable = re.sub(rb'"\$bytes":"[0-9a-f]+"', b'"$bytes":"00"', lines[code])
    elsewhere = lines[code].replace(b'"path":"a.py"', b'"path":"../a.py"')
    wrong_type = lines[note].replace(b'"importance":', b'"importance":"high","was":')
    out_of_range = lines[turn].replace(b'"role":1', b'"role":99999')
    broken = {
        "truncated": whole[: len(whole) // 2],
        "without its last line": b"".join(line + b"\n" for line in lines),
        "altered": whole.replace(b"Lisbon", b"London"),
        "a line is missing": b"\n".join(line for line in whole.splitlines() if b"gateway.conv" not in line) + b"\n",
        "another version": whole.replace(b'"version":1', b'"version":2'),
        "no export": b'{"text": "hello"}\n',
        "nothing": b"\n",
        "unknown kind": resealed([*lines, b'{"kind":"agentic.secrets","record":{}}']),
        "unknown field": resealed([*lines[:note], wrong_type, *lines[note + 1 :]]),
        "code that cannot be unpacked": resealed([*lines[:code], unpackable, *lines[code + 1 :]]),
        "code outside of its repository": resealed([*lines[:code], elsewhere, *lines[code + 1 :]]),
        "number out of range": resealed([*lines[:turn], out_of_range, *lines[turn + 1 :]]),
        "appended": whole + b"{}\n",
        "a user without an id": whole.replace(user_id.encode(), b"\\u0000"),
    }
    placed = {"unknown kind": len(lines), "unknown field": note, "number out of range": turn}
    for name, content in broken.items():
        refused = await refusal(imported(gateway, content))
        assert (refused.code, refused.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("data",)), name
        assert name not in placed or re.search(rf"\b{placed[name] + 1}\b", refused.message), name
        assert await exported(gateway, user_id) == empty, name
    assert (await imported(gateway, whole)).record_count == len(lines) - 1


async def test_spec_6_7_a_file_from_before_code_was_exported_is_imported(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await client.remember(user_id, "c1", ["I live in Lisbon."], request_id=f"{user_id} 1")
    await client.index_files(user_id, "shop", {"a.py": b"x = 1\n"})
    lines = (await exported(gateway, user_id)).splitlines()[:-1]
    before = resealed([line for line in lines if b'"semantic.code' not in line])
    assert len(before.splitlines()) == len(lines) + 1 - 2
    await erased(gateway, user_id)
    assert (await imported(gateway, before)).record_count == len(lines) - 1 - 2
    assert await exported(gateway, user_id) == before
    assert [one async for one in client.list_repositories(user_id)] == []


async def test_spec_6_7_a_user_who_has_code_alone_is_not_imported_over(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await client.index_files(user_id, "shop", {"a.py": b"x = 1\n"})
    whole = await exported(gateway, user_id)
    await client.index_files(user_id, "shop", {"b.py": b"y = 2\n"})
    refused = await refusal(imported(gateway, whole))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert [one.path async for one in client.list_files(user_id, "shop")] == ["a.py", "b.py"]


async def test_spec_6_7_a_user_with_other_memories_is_not_imported_over(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await client.remember(user_id, "c1", ["I live in Lisbon."], request_id=f"{user_id} 1")
    whole = await exported(gateway, user_id)
    refused = await refusal(imported(gateway, whole))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert await exported(gateway, user_id) == whole


async def test_spec_6_7_turns_of_another_user_are_not_taken(client: Client, gateway: Stubs, user_id: str) -> None:
    await client.remember(user_id, "c1", ["I live in Lisbon."], request_id=f"{user_id} 1")
    whole = await exported(gateway, user_id)
    lines = [line.replace(user_id.encode(), f"{user_id}-2".encode()) for line in whole.splitlines()[:-1]]
    refused = await refusal(imported(gateway, resealed(lines)))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert await exported(gateway, user_id) == whole


async def test_spec_6_7_exports_and_imports_need_a_role_and_stay_in_their_tenant(secured_stack: RunningStack) -> None:
    async with secured_stack.client("writer") as client, stubs(secured_stack.target) as gateway:
        await client.remember("portable", "c1", ["I live in Lisbon."], request_id="portable 1")
        metadata = secured_stack.with_key("reader")
        parts = gateway.portability.ExportUser(portability_pb2.ExportUserRequest(user_id="portable"), metadata=metadata)
        whole = b"".join([part.data async for part in parts])
        assert b"Lisbon" in whole
        request = portability_pb2.ImportUserRequest(data=whole)
        refused = await refusal(gateway.portability.ImportUser(iter([request]), metadata=metadata))
        assert refused.code is grpc.StatusCode.PERMISSION_DENIED
        other = secured_stack.with_key("other writer")
        parts = gateway.portability.ExportUser(portability_pb2.ExportUserRequest(user_id="portable"), metadata=other)
        assert len(b"".join([part.data async for part in parts]).splitlines()) == 2
