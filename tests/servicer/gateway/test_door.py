"""The tiers' public services through the gateway, by their own contracts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from mneme.agentic.v1 import notes_pb2, notes_pb2_grpc
from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc, profile_pb2, profile_pb2_grpc
from mneme.session.v1 import session_pb2, session_pb2_grpc
from mneme_client import Client, Scope, ScopeLevel
from services.common.postgres.server import EmbeddedPostgres
from tests.support.stack import RunningStack, gated_gateway, refusal

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True)
class Tiers:
    """Stubs of the tiers' services, at the gateway's address."""

    sessions: session_pb2_grpc.SessionServiceStub
    episodes: episodic_pb2_grpc.EpisodicServiceStub
    facts: facts_pb2_grpc.FactServiceStub
    profiles: profile_pb2_grpc.ProfileServiceStub
    notes: notes_pb2_grpc.NoteServiceStub


def tiers_at(channel: grpc.aio.Channel) -> Tiers:
    return Tiers(
        session_pb2_grpc.SessionServiceStub(channel),
        episodic_pb2_grpc.EpisodicServiceStub(channel),
        facts_pb2_grpc.FactServiceStub(channel),
        profile_pb2_grpc.ProfileServiceStub(channel),
        notes_pb2_grpc.NoteServiceStub(channel),
    )


@pytest_asyncio.fixture(loop_scope="session")
async def tiers(stack: RunningStack) -> AsyncIterator[Tiers]:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield tiers_at(channel)


@pytest_asyncio.fixture(loop_scope="session")
async def secured(secured_stack: RunningStack) -> AsyncIterator[Tiers]:
    async with grpc.aio.insecure_channel(secured_stack.target) as channel:
        yield tiers_at(channel)


async def test_spec_6_11_every_tier_is_reached_through_the_gateway(tiers: Tiers, client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "I live in Lisbon and I love tea.")
    await client.recall(user_id, "Lisbon", consistency_token=written.consistency_token)
    episode_id = written.interactions[0].interaction_id

    episode = await tiers.episodes.GetEpisode(episodic_pb2.GetEpisodeRequest(user_id=user_id, episode_id=episode_id))
    assert episode.episode.query == "I live in Lisbon and I love tea."
    facts = await tiers.facts.ListFacts(facts_pb2.ListFactsRequest(user_id=user_id))
    assert "Lisbon" in {fact.object for fact in facts.facts}
    profile = await tiers.profiles.GetProfile(profile_pb2.GetProfileRequest(user_id=user_id))
    assert profile.profile.user_id == user_id
    created = await tiers.notes.CreateNote(
        notes_pb2.CreateNoteRequest(
            request_id="n1", user_id=user_id, kind=notes_pb2.NOTE_KIND_FACT, content="Tea is best in the afternoon."
        )
    )
    got = await tiers.notes.GetNote(notes_pb2.GetNoteRequest(user_id=user_id, note_id=created.note.note_id))
    assert got.note == created.note
    sessions = await tiers.sessions.ListSessions(session_pb2.ListSessionsRequest(user_id=user_id))
    assert [session.conversation_id for session in sessions.sessions] == ["c1"]


async def test_spec_7_1_the_door_asks_for_credential_and_role(secured: Tiers, secured_stack: RunningStack) -> None:
    listing = facts_pb2.ListFactsRequest(user_id="u")
    writing = facts_pb2.CreateFactRequest(request_id="r", user_id="u", text="Water boils at 100 degrees.")
    assert (await refusal(secured.facts.ListFacts(listing))).code is grpc.StatusCode.UNAUTHENTICATED
    reader = secured_stack.with_key("reader")
    await secured.facts.ListFacts(listing, metadata=reader)
    refused = await refusal(secured.facts.CreateFact(writing, metadata=reader))
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_spec_7_1_the_door_keeps_tenants_apart(secured: Tiers, secured_stack: RunningStack, user_id: str) -> None:
    note = notes_pb2.CreateNoteRequest(
        request_id=f"{user_id}-n", user_id=user_id, kind=notes_pb2.NOTE_KIND_FACT, content="A secret of acme."
    )
    await secured.notes.CreateNote(note, metadata=secured_stack.with_key("writer"))
    listing = notes_pb2.ListNotesRequest(user_id=user_id)
    ours = await secured.notes.ListNotes(listing, metadata=secured_stack.with_key("writer"))
    theirs = await secured.notes.ListNotes(listing, metadata=secured_stack.with_key("other writer"))
    assert (len(ours.notes), len(theirs.notes)) == (1, 0)


async def test_the_door_keeps_the_errors_of_a_tier(tiers: Tiers, user_id: str) -> None:
    wrong = await refusal(tiers.notes.CreateNote(notes_pb2.CreateNoteRequest(request_id="r", user_id=user_id)))
    assert (wrong.code, "content" in wrong.paths) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    request = facts_pb2.GetFactRequest(user_id=user_id, fact_id="00000000-0000-7000-8000-000000000000")
    missing = await refusal(tiers.facts.GetFact(request))
    assert (missing.code, missing.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_spec_5_3_a_search_through_the_door_sees_what_was_granted_to_its_reader(
    tiers: Tiers, client: Client, user_id: str
) -> None:
    project = Scope(ScopeLevel.PROJECT, "p1")
    written = await client.remember(user_id, "c1", "The harbour opens in May.", scope=project)
    await client.recall(user_id, "harbour", consistency_token=written.consistency_token)
    search = episodic_pb2.SearchEpisodesRequest(user_id=user_id, query="harbour")
    assert len((await tiers.episodes.SearchEpisodes(search)).hits) == 0
    await client.create_grant(user_id, from_scope=project, to_scope=Scope(ScopeLevel.GLOBAL))
    assert len((await tiers.episodes.SearchEpisodes(search)).hits) == 1
    malformed = episodic_pb2.SearchEpisodesRequest(
        user_id=user_id, query="x", reader_scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT)
    )
    refused = await refusal(tiers.episodes.SearchEpisodes(malformed))
    assert refused.paths == ("reader_scope.project_id",)


async def test_a_tier_that_is_away_is_unavailable_at_the_door(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server, shut=["semantic"]) as gated,
        grpc.aio.insecure_channel(gated.target) as channel,
    ):
        refused = await refusal(tiers_at(channel).facts.ListFacts(facts_pb2.ListFactsRequest(user_id=user_id)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
