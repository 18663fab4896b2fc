"""A user for the benchmark of consolidation: notes in topics, and facts, a part of both said twice."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from bench.load_store import MAIN_USER
from bench.texts import TextSource
from services.agentic.app import migrate_agentic
from services.agentic.model import Note, NoteId, NoteKind
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.auth import DEVELOPMENT_PRINCIPAL
from services.common.datadir import DataDir
from services.common.embedding.vectors import Matrix, Vector
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.scope import GLOBAL_SCOPE
from services.common.turns import MessageRole
from services.episodic.app import migrate_episodic
from services.episodic.model import EpisodeId, NewEpisode
from services.episodic.stores.postgres import PostgresEpisodeStore
from services.semantic.app import migrate_semantic
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import FactCategory, FactDraft, Statement, StatementId
from services.semantic.facts.service import load_for
from services.semantic.facts.store import FactWriter
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.working_set import FactWorkingSet

OWNER: Final = Owner(TenantId(DEVELOPMENT_PRINCIPAL.tenant_id), UserId(MAIN_USER))
TOPIC_NOTES: Final = 12
SAID_TWICE: Final = 0.05
"""Share of the notes, and of the facts, that say again what others say."""
PAGE: Final = 500
FACTS_PAGE: Final = 100
_BEGIN: Final = datetime(2025, 1, 1, tzinfo=UTC)
_TOPIC_SPREAD: Final = 0.45
_PAIR_SPREAD: Final = 0.02
_NUMBERS: Final = (("2", "two"), ("3", "three"), ("4", "four"), ("5", "five"), ("6", "six"), ("12", "twelve"))
_COLOURS: Final = ("red", "blue", "green", "white", "black", "yellow", "brown", "grey", "pink", "purple")
_THINGS: Final = ("chairs", "lamps", "boats", "books", "bicycles", "cups", "plates", "coats", "kites", "clocks")
_TURNS_IN_CONVERSATION: Final = 40


def make_notes(count: int, dimension: int) -> tuple[list[Note], Matrix]:
    """Notes in topics; the last twentieth repeats the first."""
    generator = np.random.default_rng(1)
    topics = generator.normal(size=(max(1, count // TOPIC_NOTES), dimension))
    repeated = int(count * (1 - SAID_TWICE))
    notes: list[Note] = []
    rows: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
    for place in range(count):
        time_said = _BEGIN + timedelta(minutes=place)
        note_id = NoteId(f"00000000-0000-7000-8000-{place:012d}")
        if place >= repeated:
            said, row = notes[place - repeated], rows[place - repeated]
            notes.append(replace(said, note_id=note_id, create_time=time_said, update_time=time_said))
        else:
            topic = place % len(topics)
            row = topics[topic] + generator.normal(size=dimension) * _TOPIC_SPREAD
            row /= np.linalg.norm(row)
            notes.append(
                Note(
                    note_id=note_id,
                    user_id=OWNER.user_id,
                    content=f"Ann: item {place} of shelf {topic} costs {place} euros since 12 May.",
                    kind=NoteKind.FACT,
                    importance=0.5,
                    time=time_said,
                    create_time=time_said,
                    update_time=time_said,
                    keywords=(f"shelf {topic}", f"item {place}"),
                    derived_from=(InteractionId(f"11111111-0000-7000-8000-{place:012d}"),),
                )
            )
        rows.append(row)
    return notes, np.stack(rows).astype(np.float32)


def make_facts(count: int, dimension: int) -> tuple[list[Statement], Matrix]:
    """Statements of facts, most of them unlike each other; the others are pairs that say the same in other words."""
    generator = np.random.default_rng(2)
    pairs = list(itertools.islice(itertools.product(_NUMBERS, _COLOURS, _THINGS), int(count * SAID_TWICE)))
    texts = [f"Ann bought item {place} of shelf {place % 97}" for place in range(count - 2 * len(pairs))]
    rows = [generator.normal(size=dimension) for _ in texts]
    for numbers, colour, thing in pairs:  # last: a run compares the newest facts with all others
        row = generator.normal(size=dimension)
        for number in numbers:
            texts.append(f"Ann has {number} {colour} {thing}")
            rows.append(row + generator.normal(size=dimension) * _PAIR_SPREAD)
    vectors = np.stack(rows)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [_statement(place, text) for place, text in enumerate(texts)], vectors.astype(np.float32)


def make_episodes(count: int, *, seed: int) -> list[NewEpisode]:
    """The user's episodes, in conversations."""
    return [
        NewEpisode(
            episode_id=EpisodeId(uuid.UUID(int=place + 1)),
            owner=OWNER,
            conversation_id=f"c{place // _TURNS_IN_CONVERSATION}",
            position=place % _TURNS_IN_CONVERSATION,
            role=MessageRole.USER,
            speaker=turn.speaker,
            time=_BEGIN + timedelta(minutes=5 * place),
            query=turn.text,
        )
        for place, turn in enumerate(TextSource(seed).turns(count))
    ]


async def store_user(folder: Path, *, episodes: int, notes: int, facts: int, dimension: int, model: str) -> None:
    """Stores the user in the embedded PostgreSQL of a data folder, without a model.

    Vectors of notes and facts are at random; episodes wait for the indexer of a stack.
    """
    async with contextlib.AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(folder))
        postgres = await stack.enter_async_context(EmbeddedPostgres(data_dir))
        await migrate_agentic(postgres.owner_dsn)
        await migrate_semantic(postgres.owner_dsn)
        await migrate_episodic(postgres.owner_dsn)
        pool = await stack.enter_async_context(await create_pool(postgres.app_dsn, PoolSettings(size_max=4)))
        await _store_episodes(pool, make_episodes(episodes, seed=1), model=model)
        await _store_notes(pool, *make_notes(notes, dimension), model=model)
        await _store_facts(pool, *make_facts(facts, dimension), model=model)


async def _store_episodes(pool: Pool, episodes: Sequence[NewEpisode], *, model: str) -> None:
    store = PostgresEpisodeStore(pool, model=model)
    for start in range(0, len(episodes), PAGE):
        await store.insert(OWNER.tenant_id, episodes[start : start + PAGE], now=datetime.now(UTC))


async def _store_notes(pool: Pool, notes: Sequence[Note], vectors: Matrix, *, model: str) -> None:
    async with contextlib.aclosing(PostgresNoteStore(pool)) as store:
        for start in range(0, len(notes), PAGE):
            page, rows = notes[start : start + PAGE], vectors[start : start + PAGE]
            await store.write(OWNER, lambda w, p=page, r=rows: w.add_notes(p, r, model=model))  # type: ignore[misc]


async def _store_facts(pool: Pool, statements: Sequence[Statement], vectors: Matrix, *, model: str) -> None:
    async with contextlib.aclosing(PostgresFactStore(pool)) as store:
        for start in range(0, len(statements), FACTS_PAGE):
            page = list(zip(statements[start : start + FACTS_PAGE], vectors[start : start + FACTS_PAGE], strict=True))
            await store.write(OWNER, lambda w, p=page: _enter(w, p, model=model))  # type: ignore[misc]


async def _enter(writer: FactWriter, page: Sequence[tuple[Statement, Vector]], *, model: str) -> None:
    """As the service does."""
    working_set = FactWorkingSet(OWNER.user_id, EvidenceSettings(), new_id=lambda: str(uuid.uuid4()), model=model)
    await load_for([(statement.draft, GLOBAL_SCOPE) for statement, _ in page], working_set, writer)
    for statement, vector in page:
        working_set.enter(statement, GLOBAL_SCOPE, vector)
    await writer.put(working_set.changes())


def _statement(place: int, text: str) -> Statement:
    source = f"22222222-0000-7000-8000-{place:012d}"
    draft = FactDraft(
        text=text,
        category=FactCategory.CONTEXT,
        confidence=0.8,
        importance=0.8,  # it does not fade
        subject="Ann",
        predicate="event",
        object=text.removeprefix("Ann "),
    )
    return Statement(StatementId(source), _BEGIN + timedelta(minutes=place), draft, (InteractionId(source),))
