"""Which links a new note gets. Pure functions over neighbours that a store has found.

A note is linked to what a reader at its own scope may see. A link between scopes of different branches would never be
walked, and would take the place of one that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from services.agentic.config import LinkingSettings
from services.agentic.generation.cues import polarity
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteKind
from services.agentic.store import Neighbour, TurnKey
from services.common.embedding.vectors import Matrix
from services.common.scope import Scope


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The note before in the same conversation."""

    note_id: NoteId
    place: TurnKey
    scope: Scope


def with_batch_neighbours(
    notes: Sequence[Note],
    vectors: Matrix,
    stored: Sequence[Sequence[Neighbour]],
    settings: LinkingSettings,
) -> list[list[Neighbour]]:
    """The nearest of the stored notes and of the earlier ones of the batch, nearest first, ties by id.

    A note looks only at those before it, so that a batch gives the same links as its notes one by one.

    Args:
        notes: The new notes, in the order of their interactions.
        vectors: Their vectors of length 1, float32 `[notes, dimension]`.
        stored: For each its nearest stored notes.
        settings: Least similarity and number of links.
    """
    similarities = vectors @ vectors.T
    merged: list[list[Neighbour]] = []
    for i, note in enumerate(notes):
        near = [n for n in stored[i] if n.similarity >= settings.similarity_min]
        for j in np.flatnonzero(similarities[i, :i] >= settings.similarity_min):
            other = notes[int(j)]
            if note.scope.sees(other.scope):
                similarity = float(similarities[i, j])
                near.append(Neighbour(other.note_id, other.kind, other.content, other.speaker, similarity))
        near.sort(key=lambda n: (-n.similarity, n.note_id))
        merged.append(near[: settings.links_per_note_max])
    return merged


def similarity_links(note: Note, near: Sequence[Neighbour], settings: LinkingSettings, now: datetime) -> list[Link]:
    """One link to each neighbour. Its strength is the cosine similarity, cut to [0, 1]."""
    return [
        Link(
            LinkKey(note.note_id, neighbour.note_id, link_type(note, neighbour, settings)).canonical,
            min(1.0, max(0.0, neighbour.similarity)),
            LinkOrigin.SIMILARITY,
            create_time=now,
            update_time=now,
        )
        for neighbour in near
    ]


def link_type(note: Note, neighbour: Neighbour, settings: LinkingSettings) -> LinkType:
    """RELATED_TO, unless both are preferences of one speaker.

    Then alike ones with the same sign support, and with opposite signs contradict each other. Anything less
    clear stays RELATED_TO: a wrong contradiction does more harm than a missing one.
    """
    both_prefer = note.kind is NoteKind.PREFERENCE and neighbour.kind is NoteKind.PREFERENCE
    if not both_prefer or not note.speaker or note.speaker != neighbour.speaker:
        return LinkType.RELATED_TO
    new, old = polarity(note.content), polarity(neighbour.content)
    if new is None or old is None:
        return LinkType.RELATED_TO
    if new is not old and neighbour.similarity >= settings.contradiction_similarity_min:
        return LinkType.CONTRADICTS
    if new is old and neighbour.similarity >= settings.support_similarity_min:
        return LinkType.SUPPORTS
    return LinkType.RELATED_TO


def sequence_links(
    notes: Sequence[Note],
    stored: Sequence[Predecessor | None],
    settings: LinkingSettings,
    now: datetime,
) -> list[Link]:
    """A weak link from each note to the one before it in its conversation, if that is near enough.

    What answers a question often stands beside what resembles it.

    Args:
        notes: The new notes.
        stored: For each the nearest earlier note of its conversation among the stored ones.
        settings: Strength and distance.
        now: When the links are made.
    """
    if settings.sequence_strength <= 0.0:
        return []
    before: list[Predecessor | None] = list(stored)
    latest: dict[str, list[Note]] = {}
    for i, note in enumerate(notes):
        if not note.conversation_id:
            continue
        for other in latest.get(note.conversation_id, ()):
            known = before[i]
            if other.position < note.position and (known is None or other.position > known.place.position):
                place = TurnKey(other.conversation_id, other.position)
                before[i] = Predecessor(other.note_id, place, other.scope)
        latest.setdefault(note.conversation_id, []).append(note)
    links: list[Link] = []
    for note, predecessor in zip(notes, before, strict=True):
        if predecessor is None or not note.scope.sees(predecessor.scope):
            continue
        if note.position - predecessor.place.position <= settings.sequence_distance_max:
            key = LinkKey(note.note_id, predecessor.note_id, LinkType.RELATED_TO).canonical
            links.append(Link(key, settings.sequence_strength, LinkOrigin.CONVERSATION, now, now))
    return links


def strongest(links: Sequence[Link]) -> list[Link]:
    """The links with equal keys merged into the strongest of them, in order of first occurrence.

    One that follows from the conversation too stays when a note's text changes, so that is its origin.
    """
    found: dict[LinkKey, Link] = {}
    for link in links:
        known = found.get(link.key)
        if known is None:
            found[link.key] = link
            continue
        best = max(known, link, key=lambda each: each.strength)
        found[link.key] = replace(best, origin=max(known.origin, link.origin))
    return list(found.values())


def in_order(links: Iterable[Link]) -> list[Link]:
    """Links, strongest first, ties by ids and type."""
    return sorted(links, key=lambda link: (-link.strength, link.key.from_note_id, link.key.to_note_id, link.key.type))
