"""From the model to messages of mneme.agentic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from mneme.agentic.v1 import notes_pb2 as pb
from services.agentic.commands import list_query
from services.agentic.model import (
    Link,
    Note,
    ScoredNote,
    WrittenNote,
    whole_microseconds,
)
from services.agentic.service import NotePage
from services.common import convert as common
from services.common.auth import Principal
from services.common.paging import Cursor, PageTokens, cut_page, fitting

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer


def list_notes_response(
    page: NotePage, request: pb.ListNotesRequest, caller: Principal, *, tokens: PageTokens, bytes_max: int
) -> pb.ListNotesResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        return whole_microseconds(page.notes[index].create_time), page.notes[index].note_id

    notes, cursor = cut_page(
        [note_to_proto(note) for note in page.notes],
        has_more=page.next is not None,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListNotesResponse(notes=notes, next_page_token=token)


def note_to_proto(note: Note) -> pb.Note:
    """The note as a message."""
    message = pb.Note()
    _write_note(message, note)
    return message


def _write_note(message: pb.Note, note: Note) -> None:
    """Write a note into a message, in place: each Recall reads some, and to make messages of messages copies them."""
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
    message.access_count = note.access_count
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
        create_time=common.timestamp(link.create_time),
    )


def create_note_response(written: WrittenNote) -> pb.CreateNoteResponse:
    """The note and the links that were made."""
    return pb.CreateNoteResponse(
        note=note_to_proto(written.note), links=[link_to_proto(link) for link in written.links]
    )


def get_note_response(written: WrittenNote) -> pb.GetNoteResponse:
    """The note and its links."""
    return pb.GetNoteResponse(note=note_to_proto(written.note), links=[link_to_proto(link) for link in written.links])


def search_notes_response(hits: Sequence[ScoredNote], *, bytes_max: int) -> pb.SearchNotesResponse:
    """The best hits, in order, as many as fit."""
    response = pb.SearchNotesResponse()
    response.left_out_count = write_hits(response.hits, hits, bytes_max=bytes_max)
    return response


def write_hits(
    messages: RepeatedCompositeFieldContainer[pb.ScoredNote], hits: Sequence[ScoredNote], *, bytes_max: int
) -> int:
    """Write the best hits into a response, in order, as many as fit; returns how many did not."""
    for hit in hits:
        message = messages.add(score=hit.score, similarity=hit.similarity)
        _write_note(message.note, hit.note)
        for note_id, strength in hit.path:
            message.path.add(note_id=note_id, strength=strength)
    count = fitting(messages, bytes_max=bytes_max)
    del messages[count:]
    return len(hits) - count
