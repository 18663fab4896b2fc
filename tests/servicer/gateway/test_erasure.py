"""Erasing through the gateway: what goes from every tier, what stays, and what never comes back."""

from __future__ import annotations

import asyncpg
import grpc
import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import erasure_pb2, memory_pb2, tiers_pb2
from mneme_client import (
    Client,
    FactCategory,
    FeedbackValue,
    MnemeClientError,
    NoteKind,
    Preferences,
    Scope,
    ScopeLevel,
    Turn,
)
from tests.support.stack import RunningStack, Stubs, refusal, stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARY = "Zyxolotl"


async def erase(gateway: Stubs, **fields: object) -> erasure_pb2.Erasure:
    """Erases and waits for the end."""
    request = erasure_pb2.EraseRequest(**{"request_id": f"{fields['user_id']} 1", **fields})  # type: ignore[arg-type]
    erasure = (await gateway.erasures.Erase(request)).erasure
    reading = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)
    while erasure.state != erasure_pb2.ERASURE_STATE_DONE:
        erasure = (await gateway.erasures.GetErasure(reading)).erasure
    return erasure


def episodes(*ids: str) -> erasure_pb2.MemoryReferences:
    kind = tiers_pb2.MEMORY_KIND_EPISODE
    return erasure_pb2.MemoryReferences(memories=[memory_pb2.MemoryReference(kind=kind, memory_id=i) for i in ids])


def counts(erasure: erasure_pb2.Erasure, store: str) -> dict[str, int]:
    number = erasure_pb2.ErasureStore.Value(f"ERASURE_STORE_{store}")
    (receipt,) = [r for r in erasure.stores if r.store == number]
    assert receipt.done
    return dict(receipt.counts)


async def everything(client: Client, user_id: str, question: str) -> str:
    """All that the user's memory shows, in words."""
    found = await client.recall(user_id, question, limit=50, conversation_id="c1")
    prompt = await client.build_context(user_id, question, token_budget=4_000, conversation_id="c1")
    texts = (
        [m.text for m in found.memories] + [f.fact.text for f in found.facts] + [n.note.content for n in found.notes]
    )
    texts += [t.turn.content for t in found.recent_turns] + [prompt.text]
    texts += [i.turn.content async for i in client.list_interactions(user_id, "c1")]
    texts += [e.query + e.response async for e in client.list_episodes(user_id)]
    texts += [f.text async for f in client.list_facts(user_id)]
    texts += [n.content async for n in client.list_notes(user_id)]
    return "\n".join(texts)


async def visible(client: Client, user_id: str, token: str) -> None:
    """Waits until a write can be found in every tier; the first one waits for the parser to start."""

    async def is_found() -> bool:
        return bool((await client.recall(user_id, "anything", consistency_token=token)).consistent)

    await until(is_found, timeout_seconds=60.0)


async def remembered(client: Client, user_id: str, *texts: str, conversation: str = "c1") -> list[str]:
    """Remembers turns, waits until they can be found, and returns their ids."""
    written = await client.remember(user_id, conversation, list(texts), request_id=f"{user_id} {conversation}")
    await visible(client, user_id, written.consistency_token)
    return [reference.interaction_id for reference in written.interactions]


async def test_spec_6_6_an_erased_turn_is_gone_from_every_read_and_others_stay(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    ids = await remembered(client, user_id, f"My cat is called {CANARY}.", "My dog is called Bello.")
    assert CANARY in await everything(client, user_id, "What is the cat called?")  # and the caches are warm
    erasure = await erase(gateway, user_id=user_id, memories=episodes(ids[0]))
    assert counts(erasure, "JOURNAL")["interactions"] == 1
    assert counts(erasure, "EPISODIC") == {"episodes": 1}
    assert counts(erasure, "SESSION") == {"sessions": 1}
    assert counts(erasure, "AGENTIC").get("notes", 0) >= 1
    after = await everything(client, user_id, f"What is the cat {CANARY} called?")
    assert CANARY not in after
    assert "Bello" in after


async def test_spec_6_6_a_repeat_of_the_write_returns_its_first_response_and_brings_nothing_back(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    ids = await remembered(client, user_id, f"My cat is called {CANARY}.")
    await erase(gateway, user_id=user_id, memories=episodes(*ids))
    assert await remembered(client, user_id, f"My cat is called {CANARY}.") == ids
    assert CANARY not in await everything(client, user_id, "What is the cat called?")


async def test_spec_6_6_a_conversation_goes_with_its_session_and_others_stay(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, f"My cat is called {CANARY}.", "She is five.")
    await remembered(client, user_id, "My dog is called Bello.", conversation="c2")
    erasure = await erase(gateway, user_id=user_id, conversation_id="c1")
    assert counts(erasure, "JOURNAL")["interactions"] == 2
    assert CANARY not in await everything(client, user_id, "What is the cat called?")
    assert [c.conversation_id async for c in client.list_conversations(user_id)] == ["c2"]
    with pytest.raises(MnemeClientError):
        await client.get_session(user_id, "c1")


async def test_spec_6_6_a_scope_goes_alone_or_with_those_below_it(client: Client, gateway: Stubs, user_id: str) -> None:
    project = Scope(ScopeLevel.PROJECT, project_id="p1")
    task = Scope(ScopeLevel.TASK, project_id="p1", task_id="t1")
    for number, (scope, text) in enumerate([(project, "in project"), (task, "in task"), (None, "everywhere")]):
        await client.remember(user_id, f"c{number}", text, scope=scope)
    await client.create_fact(user_id, f"The project is {CANARY}.", category=FactCategory.CONTEXT, scope=project)
    target = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
    erasure = await erase(gateway, user_id=user_id, scope=erasure_pb2.ScopeTarget(scope=target))
    assert counts(erasure, "JOURNAL")["interactions"] == 1
    assert counts(erasure, "SEMANTIC")["facts"] >= 1
    assert [f.text async for f in client.list_facts(user_id) if CANARY in f.text] == []
    nested = erasure_pb2.ScopeTarget(scope=target, with_nested=True)
    erasure = await erase(gateway, request_id=f"{user_id} 2", user_id=user_id, scope=nested)
    assert counts(erasure, "JOURNAL")["interactions"] == 1
    assert [c.conversation_id async for c in client.list_conversations(user_id)] == ["c2"]


async def test_spec_6_6_a_user_goes_from_every_tier_and_another_user_stays(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    other = f"{user_id}-other"
    await remembered(client, user_id, f"I live in {CANARY}.", "I like tea.")
    await remembered(client, other, "I live in Bath.")
    await client.create_fact(user_id, f"The neighbour is {CANARY}.", category=FactCategory.CONTEXT)
    await client.create_note(user_id, f"A note on {CANARY}.", NoteKind.FACT)
    erasure = await erase(gateway, user_id=user_id, all_of_user=True)
    assert counts(erasure, "JOURNAL")["interactions"] == 2
    assert counts(erasure, "EPISODIC")["episodes"] == 2
    assert counts(erasure, "SEMANTIC")["facts"] >= 1
    assert counts(erasure, "AGENTIC")["notes"] >= 1
    assert await everything(client, user_id, f"{CANARY} tea") == (await client.build_context(user_id, "x")).text
    assert "Bath" in await everything(client, other, "Where do I live?")
    await remembered(client, user_id, f"I live in {CANARY}.", "I like tea.")  # a repeat
    assert CANARY not in await everything(client, user_id, CANARY)


async def test_spec_6_6_no_row_of_any_table_holds_what_was_erased(
    client: Client, gateway: Stubs, stack: RunningStack, user_id: str
) -> None:
    word = f"canary{user_id.rpartition('-')[2]}"
    said: list[Turn | str] = [
        Turn(f"I live in {word} with {word}.", speaker=word, metadata={"k": word}),
        f"Tell me about {word}.",
    ]
    written = await client.remember(user_id, "c1", said, request_id=f"{user_id} w")
    found = await client.recall(user_id, word, consistency_token=written.consistency_token)
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=found.recall_id)
    await client.create_fact(user_id, f"The neighbour is {word}.", category=FactCategory.CONTEXT)
    assert await rows_with(stack, word) >= 3
    await erase(gateway, user_id=user_id, all_of_user=True)
    assert await rows_with(stack, word) == 0


async def rows_with(stack: RunningStack, text: str) -> int:
    """Rows of all tables of all services that hold a text anywhere."""
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app", "postgres", 1))
    try:
        tables = await connection.fetch(
            "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        )
        statement = "SELECT count(*) FROM {} AS t WHERE t::text LIKE '%' || $1 || '%'"
        return sum([await connection.fetchval(statement.format(table[0]), text) for table in tables])
    finally:
        await connection.close()


async def test_spec_6_6_a_repeat_of_an_erasure_is_the_same_erasure(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    ids = await remembered(client, user_id, "one", "two")
    first = await erase(gateway, user_id=user_id, memories=episodes(ids[0]))
    request = erasure_pb2.EraseRequest(request_id=f"{user_id} 1", user_id=user_id, memories=episodes(ids[0]))
    repeat = await gateway.erasures.Erase(request)
    assert repeat.replayed
    assert repeat.erasure == first
    request.memories.CopyFrom(episodes(ids[1]))
    refused = await refusal(gateway.erasures.Erase(request))
    assert refused.reason == "REQUEST_ID_REUSED"


async def test_spec_6_6_a_dry_run_says_what_would_go_and_erases_nothing(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    ids = await remembered(client, user_id, f"I live in {CANARY}.", "I like tea.")
    request = erasure_pb2.EraseRequest(user_id=user_id, memories=episodes(ids[0]), dry_run=True)
    plan = (await gateway.erasures.Erase(request)).plan
    assert (plan.episodes, [m.preview for m in plan.memories]) == (1, [f"I live in {CANARY}."])
    assert plan.notes >= 1
    whole = (
        await gateway.erasures.Erase(erasure_pb2.EraseRequest(user_id=user_id, all_of_user=True, dry_run=True))
    ).plan
    assert (whole.episodes, whole.notes >= plan.notes) == (2, True)
    assert CANARY in await everything(client, user_id, "Where do I live?")


async def test_spec_6_6_omitted_fields_erase_nothing(gateway: Stubs, user_id: str) -> None:
    for fields, paths in [
        ({}, {"request_id", "target", "user_id"}),
        ({"all_of_user": False, "user_id": user_id, "request_id": "r"}, {"all_of_user"}),
        ({"all_of_tenant": True, "user_id": user_id, "request_id": "r"}, {"user_id"}),
        ({"scope": erasure_pb2.ScopeTarget(), "user_id": user_id, "request_id": "r"}, {"scope.scope"}),
        ({"memories": erasure_pb2.MemoryReferences(), "user_id": user_id, "request_id": "r"}, {"memories.memories"}),
    ]:
        refused = await refusal(gateway.erasures.Erase(erasure_pb2.EraseRequest(**fields)))  # type: ignore[arg-type]
        assert (refused.code, set(refused.paths)) == (grpc.StatusCode.INVALID_ARGUMENT, paths)


async def test_spec_6_6_only_an_administrator_erases_a_tenant(secured_stack: RunningStack) -> None:
    request = erasure_pb2.EraseRequest(request_id="t1", all_of_tenant=True)
    async with (
        stubs(secured_stack.target) as gateway,
        secured_stack.client("other writer") as theirs,
        secured_stack.client("writer") as ours,
    ):
        for client in (theirs, ours):
            await remembered(client, "ada", f"I live in {CANARY}.")
        # Users without a turn in the log.
        await theirs.create_fact("fern", f"Fern lives in {CANARY}.", FactCategory.PERSONAL_INFO)
        await theirs.create_note("nora", f"Nora lives in {CANARY}.", NoteKind.FACT)
        await theirs.update_profile("pia", Preferences(language="pt"))
        key = secured_stack.with_key
        refused = await refusal(gateway.erasures.Erase(request, metadata=key("other writer")))
        assert refused.reason == "ROLE_MISSING"
        erasure = (await gateway.erasures.Erase(request, metadata=key("other admin"))).erasure
        reading = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)

        async def is_done() -> bool:
            found = await gateway.erasures.GetErasure(reading, metadata=key("other admin"))
            return found.erasure.state == erasure_pb2.ERASURE_STATE_DONE

        await until(is_done)
        assert CANARY not in await everything(theirs, "ada", "Where do I live?")
        assert CANARY in await everything(ours, "ada", "Where do I live?")
        assert [fact async for fact in theirs.list_facts("fern")] == []
        assert [note async for note in theirs.list_notes("nora")] == []
        assert (await theirs.get_profile("pia")).preferences == Preferences()
        refused = await refusal(gateway.erasures.GetErasure(reading, metadata=key("writer")))
        assert refused.reason == "NOT_FOUND"  # another tenant's
        await remembered(theirs, "ada", f"I live in {CANARY}.")  # a repeat
        assert CANARY not in await everything(theirs, "ada", "Where do I live?")


async def test_spec_6_6_a_users_erasures_are_listed_newest_first(client: Client, gateway: Stubs, user_id: str) -> None:
    made = []
    for conversation in ("c1", "c2", "c3"):
        await client.remember(user_id, conversation, ["It rains."])
        made.append((await client.erase_conversation(user_id, conversation)).erasure_id)
    await client.erase_user(f"{user_id}-other")
    listed = [erasure async for erasure in client.list_erasures(user_id, page_size=2)]
    assert [erasure.erasure_id for erasure in listed] == made[::-1]
    assert listed[0] == await client.get_erasure(made[-1])
    first = await gateway.erasures.ListErasures(erasure_pb2.ListErasuresRequest(user_id=user_id, page_size=2))
    assert len(first.erasures) == 2
    forged = erasure_pb2.ListErasuresRequest(user_id=f"{user_id}-other", page_token=first.next_page_token)
    refused = await refusal(gateway.erasures.ListErasures(forged))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")
    of_all = {erasure.user_id async for erasure in client.list_erasures()}
    assert {user_id, f"{user_id}-other"} <= of_all
