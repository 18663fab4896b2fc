"""From the model to messages of mneme.agentic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from mneme.agentic.v1 import notes_pb2 as pb
from services.agentic.commands import list_query
from services.agentic.links import LinkPage
from services.agentic.model import Link, Note, NoteId, ScoredNote, WrittenNote, whole_microseconds
from services.agentic.service import NotePage, NoteState, NoteStates, SetStatus
from services.common import convert as common
from services.common.auth import Principal
from services.common.errors import NotFound
from services.common.errors_grpc import item_status
from services.common.model_comparison import TextComparison
from services.common.model_comparison_rpc import comparisons_to_proto
from services.common.paging import Cursor, PageTokens, cut_page, fitting

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer


DecayOf: TypeAlias = Callable[[Note], float]

_INT32_MAX: Final = 2**31 - 1


def list_notes_response(
    page: NotePage,
    request: pb.ListNotesRequest,
    caller: Principal,
    *,
    tokens: PageTokens,
    bytes_max: int,
    decay: DecayOf,
) -> pb.ListNotesResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        return whole_microseconds(page.notes[index].create_time), page.notes[index].note_id

    notes, cursor = cut_page(
        [note_to_proto(note, decay) for note in page.notes],
        has_more=page.has_more,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListNotesResponse(notes=notes, next_page_token=token)


def note_to_proto(note: Note, decay: DecayOf) -> pb.Note:
    """The note as a message, with its decay."""
    message = pb.Note()
    _write_note(message, note, decay)
    return message


def _write_note(message: pb.Note, note: Note, decay: DecayOf) -> None:
    """Write a note into a message in place: a message made of messages copies them."""
    message.note_id = note.note_id
    message.user_id = note.user_id
    message.content = note.content
    message.kind = cast("pb.NoteKind", int(note.kind))
    message.importance = note.importance
    message.keywords.extend(note.keywords)
    message.tags.extend(note.tags)
    if note.attachments:
        message.attachments.extend(common.attachments_to_proto(note.attachments))
    if note.metadata:
        message.metadata.update(note.metadata)
    message.derived_from.extend(note.derived_from)
    common.write_timestamp(message.time, note.time)
    common.write_timestamp(message.create_time, note.create_time)
    common.write_timestamp(message.update_time, note.update_time)
    message.status = cast("pb.NoteStatus", int(note.status))
    message.access_count = min(note.access_count, _INT32_MAX)
    message.etag = note.etag
    message.feedback = note.feedback
    message.decay = round(decay(note), 3)  # so that two reads of a note are equal
    if note.source_note_ids:
        message.source_note_ids.extend(note.source_note_ids)
    message.successor_id = note.successor_id or ""
    common.write_scope(message.scope, note.scope)
    if note.last_access_time is not None:
        common.write_timestamp(message.last_access_time, note.last_access_time)


def link_to_proto(link: Link) -> pb.Link:
    """The link as a message."""
    return pb.Link(
        from_note_id=link.key.from_note_id,
        to_note_id=link.key.to_note_id,
        type=pb.LinkType.Name(int(link.key.type)),
        strength=link.strength,
        origin=pb.LinkOrigin.Name(int(link.origin)),
        create_time=common.timestamp(link.create_time),
        update_time=common.timestamp(link.update_time),
        etag=link.etag,
        feedback=link.feedback,
    )


def create_note_response(written: WrittenNote, decay: DecayOf) -> pb.CreateNoteResponse:
    """The note and the links that were made."""
    return pb.CreateNoteResponse(
        note=note_to_proto(written.note, decay), links=[link_to_proto(link) for link in written.links]
    )


def update_note_response(written: WrittenNote, decay: DecayOf) -> pb.UpdateNoteResponse:
    """The note and the links that were made."""
    return pb.UpdateNoteResponse(
        note=note_to_proto(written.note, decay), links=[link_to_proto(link) for link in written.links]
    )


def status_results(command: SetStatus, states: NoteStates) -> list[pb.NoteStatusResult]:
    """One result for each note of the command, in order."""
    found = {state.note_id: state for state in states.states}
    return [_status_result(note_id, found.get(note_id)) for note_id in command.note_ids]


def _status_result(note_id: NoteId, state: NoteState | None) -> pb.NoteStatusResult:
    if state is None:
        return pb.NoteStatusResult(error=item_status(NotFound("note", note_id)))
    status = pb.NoteStatus.Name(int(state.status))
    return pb.NoteStatusResult(response=pb.NoteState(note_id=note_id, status=status, etag=state.etag))


def list_links_response(
    page: LinkPage, request: pb.ListLinksRequest, caller: Principal, *, tokens: PageTokens
) -> pb.ListLinksResponse:
    """A page with the token of the next one."""
    cursor: Cursor | None = None
    if page.has_more:
        last = page.links[-1]
        cursor = (last.strength, last.key.from_note_id, last.key.to_note_id, int(last.key.type))
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListLinksResponse(links=map(link_to_proto, page.links), next_page_token=token)


def get_note_response(written: WrittenNote, decay: DecayOf) -> pb.GetNoteResponse:
    """The note and its links."""
    links = [link_to_proto(link) for link in written.links]
    return pb.GetNoteResponse(note=note_to_proto(written.note, decay), links=links)


def comparison_response(found: TextComparison) -> pb.GetNoteModelComparisonResponse:
    """What two models find."""
    return pb.GetNoteModelComparisonResponse(
        questions=comparisons_to_proto(found.questions),
        first_model=found.first_model,
        second_model=found.second_model,
        compared_count=found.compared,
        truncated=found.is_truncated,
    )


def search_notes_response(
    hits: Sequence[ScoredNote], *, bytes_max: int, decay: DecayOf, lacks_notes: bool
) -> pb.SearchNotesResponse:
    """The best hits, in order, as many as fit; and whether notes of a former embedding model were passed over."""
    response = pb.SearchNotesResponse(degraded=lacks_notes)
    response.omitted_count = write_hits(response.hits, hits, bytes_max=bytes_max, decay=decay)
    return response


def write_hits(
    messages: RepeatedCompositeFieldContainer[pb.ScoredNote],
    hits: Sequence[ScoredNote],
    *,
    bytes_max: int,
    decay: DecayOf,
) -> int:
    """Write the best hits into a response, in order, as many as fit; returns how many did not."""
    for hit in hits:
        message = messages.add(score=hit.score, similarity=hit.similarity, matched_attachment=hit.place)
        _write_note(message.note, hit.note, decay)
        for note_id, strength in hit.path:
            message.path.add(note_id=note_id, strength=strength)
    count = fitting(messages, bytes_max=bytes_max)
    del messages[count:]
    return len(hits) - count
