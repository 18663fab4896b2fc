"""Notes: things worth remembering that are linked to each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import model_comparison_pb2
from mneme_client import from_wire_resources, to_wire
from mneme_client import resources as r
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, SearchHits, read_all, read_hits, read_nothing, read_page
from mneme_client.enums import NoteKind, NoteStatus
from mneme_client.results import ItemError
from mneme_client.types import Attachment, Scope

_SERVICE = "/mneme.agentic.v1.NoteService"


class NoteOperations(Operations):
    """Creates, reads, searches, updates, archives, restores and deletes notes."""

    async def create_note(
        self,
        user_id: str,
        content: str,
        kind: NoteKind,
        *,
        importance: float | None = None,
        tags: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
        metadata: Mapping[str, str] | None = None,
        derived_from: Sequence[str] = (),
        time: datetime | None = None,
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.LinkedNote:
        """Stores a note and links it to its nearest neighbours.

        Args:
            user_id: Whose memory.
            content: The note, at most 8,000 characters.
            kind: What it holds.
            importance: In [0, 1]; None means 0.5.
            tags: Labels, at most 32.
            attachments: Images or sounds by reference, at most 16. Captions are searched with the content.
            metadata: The caller's own data, at most 32 entries.
            derived_from: Ids of the interactions it comes from, at most 64.
            time: When what it says happened; None means now.
            scope: Who may see it; None means GLOBAL.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Returns:
            The note, with the links that were made.
        """
        request = notes_pb2.CreateNoteRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            content=content,
            kind=to_wire.enum_number(kind),
            importance=importance,
            tags=tags,
            attachments=to_wire.attachments(attachments),
            metadata=metadata or {},
            derived_from=derived_from,
            time=to_wire.optional_timestamp(time),
            scope=to_wire.scope(scope),
        )
        read = from_wire_resources.linked_note
        return await self._call(
            Call(f"{_SERVICE}/CreateNote", request, notes_pb2.CreateNoteResponse, read), timeout_seconds
        )

    async def get_note(
        self, user_id: str, note_id: str, *, scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.LinkedNote:
        """A note, archived or not, with its 100 strongest links.

        With `scope`, that of a reader, only what it sees; None means every scope.
        """
        request, read = (
            notes_pb2.GetNoteRequest(user_id=user_id, note_id=note_id, reader_scope=to_wire.scope(scope)),
            from_wire_resources.linked_note,
        )
        return await self._call(Call(f"{_SERVICE}/GetNote", request, notes_pb2.GetNoteResponse, read), timeout_seconds)

    def list_notes(
        self,
        user_id: str,
        *,
        kind: NoteKind | None = None,
        tag: str = "",
        status: NoteStatus | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.Note]:
        """A user's notes, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose memory.
            kind: Only this one; None means all.
            tag: Only notes with this label; empty means all.
            status: Only this one; None means ACTIVE.
            start_time: Only notes whose `time` is this or later.
            end_time: Only notes whose `time` is earlier.
            page_size: Notes in a page, at most 200.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of the call for each page.
        """
        request = notes_pb2.ListNotesRequest(
            user_id=user_id,
            kind=to_wire.optional_enum_number(kind),
            tag=tag,
            status=to_wire.optional_enum_number(status),
            start_time=to_wire.optional_timestamp(start_time),
            end_time=to_wire.optional_timestamp(end_time),
            page_size=page_size,
            reader_scope=to_wire.scope(scope),
        )
        read = read_page("notes", from_wire_resources.note)
        return self._pages(Call(f"{_SERVICE}/ListNotes", request, notes_pb2.ListNotesResponse, read), timeout_seconds)

    async def search_notes(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        hops: int | None = None,
        scope: Scope | None = None,
        known_at_time: datetime | None = None,
        as_of_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> SearchHits[r.ScoredNote]:
        """Active notes by similarity to a query and by a walk over links, best first.

        Args:
            user_id: Whose memory.
            query: At most 8,000 characters.
            limit: At most this many, 1 to 200. The worst are omitted where the response would exceed 3 MiB.
            hops: How many links to follow from the notes found by similarity, 0 to 2; None means 2.
            scope: The reader's scope; None means GLOBAL.
            known_at_time: What was known then: notes with the text of then, also those archived since; None: now.
            as_of_time: What held then, by what is known today; None: now.
            timeout_seconds: Deadline of this call.
        """
        request = notes_pb2.SearchNotesRequest(
            user_id=user_id,
            query=query,
            reader_scope=to_wire.scope(scope),
            limit=limit,
            hops=hops,
            known_at_time=to_wire.optional_timestamp(known_at_time),
            as_of_time=to_wire.optional_timestamp(as_of_time),
        )
        read = read_hits(from_wire_resources.scored_note)
        return await self._call(
            Call(f"{_SERVICE}/SearchNotes", request, notes_pb2.SearchNotesResponse, read), timeout_seconds
        )

    async def compare_note_models(
        self,
        user_id: str,
        questions: Sequence[r.ModelQuestion],
        *,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> r.TextModelComparison:
        """Compares the present embedding model with the second one that is configured, on a user's notes.

        Both models embed the notes for it, at most 1,000: it takes seconds.

        Args:
            user_id: Whose memory.
            questions: 1 to 50.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = notes_pb2.GetNoteModelComparisonRequest(
            user_id=user_id,
            questions=[
                model_comparison_pb2.ComparedQuestion(query=each.query, relevant_ids=each.relevant_note_ids)
                for each in questions
            ],
            reader_scope=to_wire.scope(scope),
        )
        response, read = notes_pb2.GetNoteModelComparisonResponse, from_wire_resources.text_model_comparison
        return await self._call(Call(f"{_SERVICE}/GetNoteModelComparison", request, response, read), timeout_seconds)

    async def update_note(
        self,
        user_id: str,
        note_id: str,
        *,
        content: str | None = None,
        kind: NoteKind | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        attachments: Sequence[Attachment] | None = None,
        metadata: Mapping[str, str] | None = None,
        time: datetime | None = None,
        etag: str = "",
        correction: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.LinkedNote:
        """Changes fields of a note. A note whose text changes is embedded and linked anew.

        Args:
            user_id: Whose memory.
            note_id: The note.
            content: The note in plain words. None leaves it as it is, as for the next arguments.
            kind: What it holds.
            importance: In [0, 1].
            tags: Labels, instead of all that it has.
            attachments: Images or sounds, instead of all that it has.
            metadata: The caller's own data, instead of all that it has.
            time: When what it says happened.
            etag: The etag last read: the call fails with CONFLICT if the note has changed since. Empty: unconditional.
            correction: What the note said before never held: searches `as_of_time` show the new text of any time.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Returns:
            The note, with the links that were made because its text changed.
        """
        values = to_wire.given(
            content=content,
            kind=to_wire.optional_enum_number(kind),
            importance=importance,
            tags=tags,
            attachments=None if attachments is None else to_wire.attachments(attachments),
            metadata=metadata,
            time=to_wire.optional_timestamp(time),
        )
        request = notes_pb2.UpdateNoteRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            note_id=note_id,
            update_mask=to_wire.field_mask(values),
            etag=etag,
            correction=correction,
            **values,
        )
        read = from_wire_resources.linked_note
        return await self._call(
            Call(f"{_SERVICE}/UpdateNote", request, notes_pb2.UpdateNoteResponse, read), timeout_seconds
        )

    async def archive_notes(
        self,
        user_id: str,
        note_ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.NoteState | ItemError, ...]:
        """Takes notes out of searches; they stay readable. One outcome for each of 1 to 10,000 notes, in order."""
        request = notes_pb2.ArchiveNotesRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, note_ids=note_ids
        )
        read = read_all("results", from_wire_resources.note_outcome)
        call = Call(f"{_SERVICE}/ArchiveNotes", request, notes_pb2.ArchiveNotesResponse, read)
        return await self._call(call, timeout_seconds)

    async def restore_notes(
        self,
        user_id: str,
        note_ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.NoteState | ItemError, ...]:
        """Takes archived notes into searches again. One outcome for each of 1 to 10,000 notes, in order."""
        request = notes_pb2.RestoreNotesRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, note_ids=note_ids
        )
        read = read_all("results", from_wire_resources.note_outcome)
        call = Call(f"{_SERVICE}/RestoreNotes", request, notes_pb2.RestoreNotesResponse, read)
        return await self._call(call, timeout_seconds)

    async def delete_note(
        self,
        user_id: str,
        note_id: str,
        *,
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Deletes a note with its links, for good. It is not derived again from its interactions.

        Args:
            user_id: Whose memory.
            note_id: The note.
            etag: The etag last read: the call fails with CONFLICT if the note has changed since. Empty: unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = notes_pb2.DeleteNoteRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, note_id=note_id, etag=etag
        )
        call = Call(f"{_SERVICE}/DeleteNote", request, notes_pb2.DeleteNoteResponse, read_nothing)
        await self._call(call, timeout_seconds)
