"""Marks on messages: which reads have them, and what they may cost."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf import descriptor_pool, message_factory

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import supersessions_pb2
from services.common.auth import Role
from services.gateway import marks
from services.gateway.door import TIER_SERVICES, role_of
from services.gateway.marks import MarksThen, holds_marked, mark
from services.gateway.recall.superseded import OwnerSuperseded, quoted
from tests.unit.gateway.test_reader_scopes import GATEWAY_SERVICES

NOW = datetime(2026, 5, 1, tzinfo=UTC)
MARK_THEMSELVES = {"MemoryService"}  # recalls and contexts


def superseded(memory_id: str, statement: str, by: str = "later") -> supersessions_pb2.Supersession:
    return supersessions_pb2.Supersession(
        memory_id=memory_id,
        statement=statement,
        superseded_by=by,
        standing_statement="what another turn says",
        premise="what a third turn says",
        reason=supersessions_pb2.SUPERSESSION_REASON_CORRECTED,
    )


def then(*found: supersessions_pb2.Supersession, is_missing: bool = False) -> MarksThen:
    return MarksThen(OwnerSuperseded.of(1, found), is_missing, NOW, None)


def test_spec_3_12_every_service_whose_reads_return_turns_episodes_or_notes_marks_them() -> None:
    returning = set()
    for name in (*(service.full_name for service in TIER_SERVICES), *GATEWAY_SERVICES):
        service = descriptor_pool.Default().FindServiceByName(name)
        reads = [method for method in service.methods if role_of(method.name) is Role.READER]
        if any(holds_marked(method.output_type) for method in reads):
            returning.add(name)
    assert {name for name in returning if name.rpartition(".")[2] not in MARK_THEMSELVES} == marks.MARKED_SERVICES


def test_spec_3_12_a_mark_has_no_words_of_other_turns() -> None:
    episode = episodic_pb2.Episode(episode_id="e")
    mark(episode, then(superseded("e", "The van is blue."), superseded("f", "Else.")), 1_000)
    (shown,) = episode.superseded_statements
    assert (shown.statement, shown.standing_statement, shown.premise) == ("The van is blue.", "", "")
    assert (episode.superseded_by, episode.marks_missing) == ("later", False)


def test_spec_3_12_statements_that_do_not_fit_are_left_out_and_missed() -> None:
    found = [superseded("e", "x" * 400), superseded("f", "y" * 400)]
    first, second = episodic_pb2.Episode(episode_id="e"), episodic_pb2.Episode(episode_id="f")
    left = mark(first, then(*found), 600)
    assert (len(first.superseded_statements), first.marks_missing) == (1, False)
    assert mark(second, then(*found), left) == 0
    assert (second.superseded_by, len(second.superseded_statements), second.marks_missing) == ("later", 0, True)


def test_spec_3_12_a_note_is_marked_while_no_turn_that_it_was_made_from_stands() -> None:
    note = notes_pb2.Note(content="The van is blue.", derived_from=["e", "f"])
    mark(note, then(superseded("e", "The van is blue.")), 1_000)
    assert note.superseded_by == ""
    mark(note, then(superseded("e", "The van is blue."), superseded("f", "My van is blue.")), 1_000)
    assert note.superseded_by == "later"


def test_spec_3_12_what_is_known_from_before_is_shown_while_marks_are_missing() -> None:
    episode = episodic_pb2.Episode(episode_id="e")
    mark(episode, then(superseded("e", "x"), is_missing=True), 1_000)
    assert (episode.superseded_by, episode.marks_missing) == ("later", True)


def test_a_quoted_question_is_found_among_many_statements_as_among_few() -> None:
    found = {f"t{n}": [superseded(f"t{n}", f"statement number {n} of many")] for n in range(50)}
    found["asked"] = [superseded("asked", "No, I am not a member.")]
    asked = "Ada asked: no, No, I am not a member, is it worth it? Assistant answered: It is."
    assert quoted(found, asked) == found["asked"][0]
    assert quoted(found, "Ada asked: is it worth it? Assistant answered: No, I am not a member.") is None
    assert quoted(found, "No, I am not a member.") is None


def test_messages_without_marked_parts_are_passed_over() -> None:
    method = descriptor_pool.Default().FindMethodByName("mneme.agentic.v1.NoteService.ListLinks")
    assert not holds_marked(method.output_type)
    assert holds_marked(message_factory.GetMessageClass(method.input_type).DESCRIPTOR) is False
