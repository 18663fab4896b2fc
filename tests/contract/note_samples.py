"""Notes, vectors and links for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from services.agentic.model import (
    Link,
    LinkKey,
    LinkOrigin,
    LinkType,
    Note,
    NoteId,
    NoteKind,
    NoteStatus,
    ScoredNote,
)
from services.agentic.store import NoteSearch, NoteStore, RemovedCounts, WalkSettings
from services.common.embedding.vectors import Matrix, Vector
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
MODEL = "test@1"
ANN = Owner(TenantId("acme"), UserId("ann"))
BOB = Owner(TenantId("acme"), UserId("bob"))
OTHER_TENANTS_ANN = Owner(TenantId("globex"), UserId("ann"))
PROJECT = Scope(ScopeLevel.PROJECT, "apollo")
OTHER_PROJECT = Scope(ScopeLevel.PROJECT, "p2")
AGENT = Scope(ScopeLevel.PROJECT, "p1", context_id="agent")


def note_id(number: int) -> NoteId:
    return NoteId(f"00000000-0000-7000-8000-{number:012d}")


def interaction_id(number: int) -> InteractionId:
    return InteractionId(f"11111111-0000-7000-8000-{number:012d}")


def make_note(number: int, owner: Owner = ANN, *, scope: Scope = GLOBAL_SCOPE, minutes: int = 0) -> Note:
    return Note(
        note_id=note_id(number),
        user_id=owner.user_id,
        content=f"Ann: note {number}",
        kind=NoteKind.FACT,
        importance=0.5,
        time=NOW - timedelta(days=1),
        create_time=NOW + timedelta(minutes=minutes),
        update_time=NOW + timedelta(minutes=minutes),
        scope=scope,
        speaker="Ann",
    )


def angle(degrees: float) -> Vector:
    """A direction in the plane: the cosine of two is that of the angle between them."""
    radians = np.deg2rad(degrees)
    return np.array([np.cos(radians), np.sin(radians), 0.0], dtype=np.float32)


def make_link(one: int, two: int, strength: float, link_type: LinkType = LinkType.RELATED_TO) -> Link:
    return Link(LinkKey(note_id(one), note_id(two), link_type).canonical, strength, LinkOrigin.CALLER, NOW, NOW)


def unit_rows(generator: np.random.Generator, count: int, dimension: int = 8) -> Matrix:
    """Directions at random."""
    rows = generator.normal(size=(count, dimension))
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


async def store_notes(store: NoteStore, owner: Owner, notes: Sequence[Note], vectors: Matrix) -> None:
    await store.write(owner, lambda writer: writer.add_notes(notes, vectors, model=MODEL))


async def add(store: NoteStore, notes: dict[float, Note], owner: Owner = ANN, model: str = MODEL) -> None:
    """Stores notes by the angles of their vectors."""
    vectors = np.stack([angle(degrees) for degrees in notes])
    await store.write(owner, lambda writer: writer.add_notes(list(notes.values()), vectors, model=model))


async def connect(store: NoteStore, *links: Link, owner: Owner = ANN) -> list[Link]:
    return await store.write(owner, lambda writer: writer.put_links(links))


async def set_status(store: NoteStore, status: NoteStatus, *note_numbers: int, owner: Owner = ANN) -> set[int]:
    """Archives or restores notes; returns the numbers of those that are there."""
    ids = [note_id(number) for number in note_numbers]
    later = NOW + timedelta(hours=1)
    found = await store.write(owner, lambda writer: writer.set_status(ids, status, update_time=later))
    assert all(note.status is status for note in found.values())
    return {int(each[-12:]) for each in found}


async def delete(store: NoteStore, *note_numbers: int, owner: Owner = ANN) -> RemovedCounts:
    ids = [note_id(number) for number in note_numbers]
    return await store.write(owner, lambda writer: writer.delete_notes(ids))


async def search(
    store: NoteStore,
    degrees: float = 0.0,
    *,
    owner: Owner = ANN,
    reader: Scope = GLOBAL_SCOPE,
    limit: int = 10,
    hops: int = 2,
    walk: WalkSettings | None = None,
) -> list[ScoredNote]:
    chosen = walk or WalkSettings(damping=0.5)
    return await store.search(owner, NoteSearch(angle(degrees), MODEL, reader, limit, hops, chosen))


def numbers(hits: list[ScoredNote]) -> list[int]:
    return [int(hit.note.note_id[-12:]) for hit in hits]
