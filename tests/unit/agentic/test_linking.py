"""Which links a new note gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from services.agentic import linking
from services.agentic.config import LinkingSettings
from services.agentic.model import LinkType, Note, NoteKind
from services.agentic.store import Neighbour
from services.common.scope import Scope, ScopeLevel
from tests.contract.note_samples import NOW, angle, make_link, make_note, note_id

SETTINGS = LinkingSettings(similarity_min=0.5, links_per_note_max=2)


def liking(number: int, content: str, *, speaker: str = "Ann") -> Note:
    return replace(make_note(number), content=content, kind=NoteKind.PREFERENCE, speaker=speaker)


def near(note: Note, similarity: float) -> Neighbour:
    return Neighbour(note.note_id, note.kind, note.content, note.speaker, similarity)


def test_spec_4_2_a_note_looks_only_at_those_before_it() -> None:
    notes = [make_note(i) for i in (1, 2, 3)]
    vectors = np.stack([angle(0), angle(20), angle(90)])
    merged = linking.with_batch_neighbours(notes, vectors, [[], [near(make_note(9), 0.4)], []], SETTINGS)
    assert [[n.note_id for n in of_note] for of_note in merged] == [[], [note_id(1)], []]


def test_nearest_of_stored_and_batch_up_to_the_limit() -> None:
    notes = [make_note(i) for i in (1, 2)]
    stored = [[], [near(make_note(8), 0.99), near(make_note(9), 0.6)]]
    merged = linking.with_batch_neighbours(notes, np.stack([angle(0), angle(10)]), stored, SETTINGS)
    assert [n.note_id for n in merged[1]] == [note_id(8), note_id(1)]


def test_scopes_of_different_branches_are_not_linked() -> None:
    notes = [make_note(i, scope=Scope(ScopeLevel.PROJECT, name)) for i, name in ((1, "a"), (2, "b"))]
    merged = linking.with_batch_neighbours(notes, np.stack([angle(0), angle(0)]), [[], []], SETTINGS)
    assert merged == [[], []]


@pytest.mark.parametrize(
    ("old", "similarity", "expected"),
    [
        (liking(1, "Ann: I hate cold water."), 0.6, LinkType.CONTRADICTS),
        (liking(1, "Ann: I hate cold water."), 0.52, LinkType.RELATED_TO),
        (liking(1, "Bo: I hate cold water.", speaker="Bo"), 0.9, LinkType.RELATED_TO),
        (liking(1, "Ann: I enjoy cold water."), 0.8, LinkType.SUPPORTS),
        (liking(1, "Ann: I enjoy cold water."), 0.6, LinkType.RELATED_TO),
        (replace(liking(1, "Ann: I hate cold water."), kind=NoteKind.FACT), 0.9, LinkType.RELATED_TO),
    ],
)
def test_support_and_contradiction_need_clear_signs(old: Note, similarity: float, expected: LinkType) -> None:
    new = liking(2, "Ann: I love cold water.")
    assert linking.link_type(new, near(old, similarity), SETTINGS) is expected


def test_similarity_links_are_canonical_and_as_strong_as_similar() -> None:
    [link] = linking.similarity_links(make_note(5), [near(make_note(2), 0.75)], SETTINGS, NOW)
    assert (link.key.from_note_id, link.key.to_note_id, link.strength) == (note_id(2), note_id(5), 0.75)


def test_sequence_links_join_notes_that_follow_each_other() -> None:
    def at(number: int, position: int, conversation: str = "c") -> Note:
        return replace(make_note(number), conversation_id=conversation, position=position)

    notes = [at(1, 0), at(2, 2), at(3, 3, "d"), at(4, 9), at(5, 1)]
    links = linking.sequence_links(notes, [None] * 5, LinkingSettings(), NOW)
    # In the order of delivery: note 5 comes late and finds note 1, note 4 is too far from note 2.
    assert [(link.key.from_note_id, link.key.to_note_id) for link in links] == [
        (note_id(1), note_id(2)),
        (note_id(1), note_id(5)),
    ]
    assert linking.sequence_links(notes, [None] * 5, LinkingSettings(sequence_strength=0.0), NOW) == []


def test_of_equal_links_the_strongest_stays() -> None:
    links = [make_link(1, 2, 0.4), make_link(2, 1, 0.6), make_link(1, 2, 0.5, LinkType.SUPPORTS)]
    assert [(link.key.type, link.strength) for link in linking.strongest(links)] == [
        (LinkType.RELATED_TO, 0.6),
        (LinkType.SUPPORTS, 0.5),
    ]
