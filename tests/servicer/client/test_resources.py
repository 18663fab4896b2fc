"""Facts, profiles, notes, links and episodes by both clients, against all services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import grpc
import pytest
import pytest_asyncio

from mneme_client import (
    Client,
    EpisodeStatus,
    FactCategory,
    FactStatus,
    FactUse,
    FactVersionReason,
    ItemError,
    LinkOrigin,
    LinkType,
    MnemeClientError,
    NoteKind,
    NoteState,
    NoteStatus,
    Preferences,
    Scope,
    ScopeLevel,
    SyncClient,
)
from tests.support.stack import PATIENCE_SECONDS, RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest_asyncio.fixture(loop_scope="session")
async def mneme(stack: RunningStack) -> AsyncIterator[Client]:
    async with stack.client() as opened:
        yield opened


async def test_spec_3_1_facts_are_created_read_updated_and_deleted(mneme: Client, user_id: str) -> None:
    made = await mneme.create_fact(
        user_id,
        "Ana lives in Lisbon.",
        FactCategory.PERSONAL_INFO,
        subject="Ana",
        predicate="lives_in",
        object="Lisbon",
        request_id="fact-1",
    )
    assert (made.user_id, made.object, made.confidence, made.versions) == (user_id, "Lisbon", 0.9, ())
    assert await mneme.get_fact(user_id, made.fact_id) == made
    replayed = await mneme.create_fact(
        user_id,
        "Ana lives in Lisbon.",
        FactCategory.PERSONAL_INFO,
        subject="Ana",
        predicate="lives_in",
        object="Lisbon",
        request_id="fact-1",
    )
    assert replayed.fact_id == made.fact_id

    updated = await mneme.update_fact(
        user_id, made.fact_id, text="Ana lives in Porto.", object="Porto", clear=["predicate"], etag=made.etag
    )
    assert (updated.object, updated.predicate, updated.subject) == ("Porto", "", "Ana")
    assert [(v.text, v.reason) for v in updated.versions] == [(made.text, FactVersionReason.CORRECTED)]
    with pytest.raises(MnemeClientError) as stale:
        await mneme.update_fact(user_id, made.fact_id, importance=0.9, etag=made.etag)
    assert (stale.value.code, stale.value.reason) == (grpc.StatusCode.ABORTED, "CONFLICT")

    (hit,) = await mneme.search_facts(user_id, "Where does Ana live?", use=FactUse.PASSIVE_CONTEXT)
    assert (hit.fact.fact_id, hit.fact.text) == (made.fact_id, "Ana lives in Porto.")
    await mneme.delete_fact(user_id, made.fact_id, etag=updated.etag)
    assert await mneme.search_facts(user_id, "Where does Ana live?") == ()
    with pytest.raises(MnemeClientError) as gone:
        await mneme.get_fact(user_id, made.fact_id)
    assert gone.value.reason == "NOT_FOUND"


async def test_lists_of_facts_fetch_their_pages_and_filter(mneme: Client, user_id: str) -> None:
    for city in ("Porto", "Paris", "Rome"):
        await mneme.create_fact(user_id, f"Ana saw {city}.", FactCategory.CONTEXT, subject="Ana", object=city)
    await mneme.create_fact(user_id, "Ben likes tea.", FactCategory.PREFERENCE, subject="Ben", object="tea")

    found = [fact.object async for fact in mneme.list_facts(user_id, page_size=1)]
    assert sorted(found) == ["Paris", "Porto", "Rome", "tea"]
    tea = [fact.text async for fact in mneme.list_facts(user_id, category=FactCategory.PREFERENCE)]
    assert tea == ["Ben likes tea."]
    about_ben = [fact.object async for fact in mneme.list_facts(user_id, subject="ben")]
    assert about_ben == ["tea"]
    assert [fact async for fact in mneme.list_facts(user_id, statuses=[FactStatus.ARCHIVED])] == []


async def test_spec_3_10_preferences_are_set_kept_and_cleared(mneme: Client, user_id: str) -> None:
    assert (await mneme.get_profile(user_id)).etag == ""
    first = await mneme.update_profile(
        user_id, Preferences(language="pt", detail_level="brief", other={"tone": "warm"})
    )
    second = await mneme.update_profile(
        user_id, Preferences(preferred_sources=("manual",)), clear=["detail_level"], etag=first.etag
    )
    assert second.preferences == Preferences(language="pt", preferred_sources=("manual",), other={"tone": "warm"})
    assert (await mneme.get_profile(user_id)).preferences == second.preferences
    with pytest.raises(MnemeClientError) as stale:
        await mneme.update_profile(user_id, Preferences(language="en"), etag=first.etag)
    assert stale.value.reason == "CONFLICT"
    await mneme.delete_profile(user_id)
    assert (await mneme.get_profile(user_id)).preferences == Preferences()


async def test_spec_4_1_notes_are_created_updated_archived_and_deleted(mneme: Client, user_id: str) -> None:
    made = await mneme.create_note(
        user_id, "Tea is best in the afternoon.", NoteKind.PREFERENCE, tags=["tea"], metadata={"page": "3"}
    )
    assert (made.note.status, made.note.importance, made.links) == (NoteStatus.ACTIVE, 0.5, ())
    assert (await mneme.get_note(user_id, made.note.note_id)).note == made.note

    updated = await mneme.update_note(user_id, made.note.note_id, importance=0.8, tags=[], etag=made.note.etag)
    assert (updated.note.importance, updated.note.tags, updated.note.metadata) == (0.8, (), {"page": "3"})
    with pytest.raises(MnemeClientError) as stale:
        await mneme.update_note(user_id, made.note.note_id, importance=0.1, etag=made.note.etag)
    assert stale.value.reason == "CONFLICT"

    archived, missing = await mneme.archive_notes(user_id, [made.note.note_id, UNKNOWN])
    assert isinstance(archived, NoteState)
    assert archived.status is NoteStatus.ARCHIVED
    assert isinstance(missing, ItemError)
    assert (missing.code, missing.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert await mneme.search_notes(user_id, "tea") == ()
    listed = [note.note_id async for note in mneme.list_notes(user_id, status=NoteStatus.ARCHIVED)]
    assert listed == [made.note.note_id]
    await mneme.restore_notes(user_id, [made.note.note_id])
    (hit,) = await mneme.search_notes(user_id, "tea", hops=0)
    assert (hit.note.note_id, hit.path, hit.score) == (made.note.note_id, (), hit.similarity)
    await mneme.delete_note(user_id, made.note.note_id)
    assert [note async for note in mneme.list_notes(user_id)] == []


async def test_spec_3_7_notes_are_found_as_of_a_time(mneme: Client, user_id: str) -> None:
    made = (await mneme.create_note(user_id, "Tea is best in the afternoon.", NoteKind.PREFERENCE)).note
    changed = await mneme.update_note(user_id, made.note_id, content="Tea is best in the morning.")
    assert made.create_time is not None
    assert changed.note.update_time is not None
    right = "Tea is best at noon."
    corrected = await mneme.update_note(user_id, made.note_id, content=right, correction=True)

    async def said(known: datetime | None = None, held: datetime | None = None) -> list[str]:
        return [
            hit.note.content for hit in await mneme.search_notes(user_id, "tea", known_at_time=known, as_of_time=held)
        ]

    assert await said(known=made.create_time) == ["Tea is best in the afternoon."]
    assert await said(known=changed.note.update_time) == ["Tea is best in the morning."]
    assert await said(held=changed.note.update_time) == [right]
    assert await said() == [corrected.note.content] == [right]


async def test_spec_4_1_links_are_made_listed_changed_and_removed(mneme: Client, user_id: str) -> None:
    first = (await mneme.create_note(user_id, "The harbour opens in May.", NoteKind.FACT)).note.note_id
    second = (await mneme.create_note(user_id, "Bread needs yeast and time.", NoteKind.PROCEDURE)).note.note_id
    third = (await mneme.create_note(user_id, "Quantum states collapse.", NoteKind.CONCEPT)).note.note_id
    made = await mneme.create_link(user_id, first, second, LinkType.SUPPORTS, strength=0.4)
    assert (made.from_note_id, made.to_note_id, made.origin) == (first, second, LinkOrigin.CALLER)
    await mneme.create_link(user_id, third, first, LinkType.PART_OF, strength=0.9)

    links = [link async for link in mneme.list_links(user_id, first, page_size=1)]
    assert [link.strength for link in links] == sorted((link.strength for link in links), reverse=True)
    assert {(link.type, link.strength) for link in links} >= {(LinkType.SUPPORTS, 0.4), (LinkType.PART_OF, 0.9)}
    stronger = await mneme.update_link(user_id, first, second, LinkType.SUPPORTS, strength=0.7, etag=made.etag)
    assert stronger.strength == 0.7
    assert [link async for link in mneme.list_links(user_id, first, type=LinkType.SUPPORTS)] == [stronger]
    await mneme.delete_link(user_id, first, second, LinkType.SUPPORTS)
    assert [link async for link in mneme.list_links(user_id, first, type=LinkType.SUPPORTS)] == []


async def test_spec_2_8_episodes_are_read_searched_archived_and_restored(mneme: Client, user_id: str) -> None:
    project = Scope(ScopeLevel.PROJECT, "p1")
    written = [
        await mneme.remember(user_id, "c1", "The harbour opens in May."),
        await mneme.remember(user_id, "c2", "The bakery sells rye bread.", scope=project),
    ]
    harbour, bakery = (result.interactions[0].interaction_id for result in written)
    await mneme.wait_until_visible(user_id, *(result.consistency_token for result in written))

    episode = await mneme.get_episode(user_id, harbour)
    assert (episode.text, episode.conversation_id, episode.status) == (
        "The harbour opens in May.",
        "c1",
        EpisodeStatus.ACTIVE,
    )
    listed = [episode.episode_id async for episode in mneme.list_episodes(user_id, page_size=1)]
    assert listed == [bakery, harbour]
    assert [hit.episode.episode_id for hit in await mneme.search_episodes(user_id, "bread")] == [harbour]
    below = await mneme.search_episodes(user_id, "bread", scope=project)
    assert below[0].episode.episode_id == bakery

    assert await mneme.archive_episodes(user_id, conversation_id="c1") == 1
    assert await mneme.search_episodes(user_id, "harbour") == ()
    archived = [e.episode_id async for e in mneme.list_episodes(user_id, status=EpisodeStatus.ARCHIVED)]
    assert archived == [harbour]
    assert await mneme.restore_episodes(user_id, [harbour]) == 1
    assert (await mneme.get_episode(user_id, harbour)).status is not EpisodeStatus.ARCHIVED


async def test_the_blocking_client_reaches_the_same_resources(stack: RunningStack, user_id: str) -> None:
    def use() -> None:
        with SyncClient(stack.target, default_timeout_seconds=PATIENCE_SECONDS) as mneme:
            fact = mneme.create_fact(user_id, "Ana sings.", FactCategory.CONTEXT)
            assert [found.fact_id for found in mneme.list_facts(user_id)] == [fact.fact_id]
            note = mneme.create_note(user_id, "Songs in May.", NoteKind.OBSERVATION).note
            assert [found.note_id for found in mneme.list_notes(user_id, page_size=1)] == [note.note_id]
            assert mneme.update_profile(user_id, Preferences(language="en")).preferences.language == "en"
            assert list(mneme.list_episodes(user_id)) == []
            with pytest.raises(MnemeClientError) as missing:
                mneme.get_episode(user_id, UNKNOWN)
            assert missing.value.reason == "NOT_FOUND"
            assert missing.value.method == "mneme.episodic.v1.EpisodicService/GetEpisode"

    await asyncio.to_thread(use)
