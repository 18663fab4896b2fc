"""From requests of mneme.agentic.v1 to commands on notes. Pure functions; they check form, never state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from google.protobuf.message import Message

from mneme.agentic.internal.v1 import notes_pb2 as internal_pb
from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.v1 import common_pb2
from services.agentic.config import NoteLimits
from services.agentic.model import NoteId, NoteKind, NoteStatus, from_microseconds
from services.agentic.service import CreateNote, DeleteNote, ListNotes, NoteChanges, SearchNotes, SetStatus, UpdateNote
from services.agentic.store import NoteFilter, NotePosition
from services.common import convert as common
from services.common.auth import Principal
from services.common.embedding.vectors import Vector
from services.common.errors import InvalidArgument
from services.common.idempotency.requests import idempotency_key
from services.common.model_change import ModelChangeSettings
from services.common.model_comparison import ComparedQuestion
from services.common.model_comparison_rpc import compared_questions
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_from_proto
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations

_UPDATABLE: Final = ("content", "kind", "importance", "tags", "attachments", "metadata", "time")
_EMPTIED: Final = ("tags", "attachments", "metadata")


@dataclass(frozen=True, slots=True)
class VectorForm:
    """What a query vector must be like."""

    model: str
    dimension: int

    def read(self, message: common_pb2.Vector) -> Vector:
        """The vector of a request's field `query_vector`.

        Raises:
            InvalidArgument: It is of another model or dimension, or not finite.
        """
        return common.vector_from_proto(message, model=self.model, dimension=self.dimension, field_path="query_vector")


def owner_of(user_id: str, caller: Principal) -> Owner:
    """The user of the caller's tenant."""
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def note_id_of(text: str) -> NoteId:
    """The id in the form that is stored."""
    return NoteId(str(UUID(text)))


def create_note_command(request: pb.CreateNoteRequest, caller: Principal, *, limits: NoteLimits) -> CreateNote:
    """The note to write.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named.
    """
    v = Violations()
    check_write(v, request.request_id, request.user_id, limits)
    v.text("content", request.content, chars_max=limits.content_chars_max)
    v.enum("kind", request.kind, NoteKind)
    time = _check_fields(v, request, limits)
    v.count("derived_from", len(request.derived_from), count_max=limits.derived_from_max)
    for i, interaction_id in enumerate(request.derived_from[: limits.derived_from_max]):
        v.uuid(f"derived_from[{i}]", interaction_id)
    scope = GLOBAL_SCOPE
    try:
        scope = common.scope_from_proto(request.scope, present=request.HasField("scope"), field_path="scope")
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    return CreateNote(
        owner=owner_of(request.user_id, caller),
        request=idempotency_key(request, caller),
        content=request.content,
        kind=NoteKind(request.kind),
        importance=request.importance if request.HasField("importance") else 0.5,
        tags=tuple(dict.fromkeys(request.tags)),
        attachments=common.attachments_from_proto(request.attachments),
        metadata=dict(request.metadata),
        derived_from=tuple(dict.fromkeys(InteractionId(str(UUID(i))) for i in request.derived_from)),
        time=time,
        scope=scope,
    )


def update_note_command(request: pb.UpdateNoteRequest, caller: Principal, *, limits: NoteLimits) -> UpdateNote:
    """What changes of a note.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit, or nothing is to change.
    """
    v = Violations()
    check_write(v, request.request_id, request.user_id, limits)
    v.uuid("note_id", request.note_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    is_set = {
        "content": bool(request.content),
        "kind": request.kind != pb.NOTE_KIND_UNSPECIFIED,
        "importance": request.HasField("importance"),
        "time": request.HasField("time"),
        **{name: bool(getattr(request, name)) for name in _EMPTIED},
    }
    names = [name for name in _UPDATABLE if is_set[name]]
    if request.HasField("update_mask"):
        names = list(dict.fromkeys(request.update_mask.paths))
        for i, name in enumerate(names):
            if name not in _UPDATABLE:
                v.add(f"update_mask.paths[{i}]", f"{name[:64]!r} cannot be updated")
            elif name not in _EMPTIED and not is_set[name]:
                v.add(name, "must be set, as the update mask names it")
    if not names:
        v.add("update_mask", "names no field, and none is set")
    is_changed = is_set["content"] and "content" in names
    v.text("content", request.content, chars_max=limits.content_chars_max, required=is_changed)
    if is_set["kind"]:
        v.enum("kind", request.kind, NoteKind)
    time = _check_fields(v, request, limits)
    v.raise_if_any()
    return UpdateNote(
        owner=owner_of(request.user_id, caller),
        request=idempotency_key(request, caller),
        note_id=note_id_of(request.note_id),
        changes=NoteChanges(
            content=request.content if "content" in names else None,
            kind=NoteKind(request.kind) if "kind" in names else None,
            importance=request.importance if "importance" in names else None,
            tags=tuple(dict.fromkeys(request.tags)) if "tags" in names else None,
            attachments=common.attachments_from_proto(request.attachments) if "attachments" in names else None,
            metadata=dict(request.metadata) if "metadata" in names else None,
            time=time if "time" in names else None,
        ),
        etag=request.etag,
        is_correction=request.correction,
    )


def delete_note_command(request: pb.DeleteNoteRequest, caller: Principal, *, limits: NoteLimits) -> DeleteNote:
    """The note to remove.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    check_write(v, request.request_id, request.user_id, limits)
    v.uuid("note_id", request.note_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    key = idempotency_key(request, caller)
    return DeleteNote(owner_of(request.user_id, caller), key, note_id_of(request.note_id), request.etag)


def set_status_command(
    request: pb.ArchiveNotesRequest | pb.RestoreNotesRequest,
    caller: Principal,
    *,
    status: NoteStatus,
    limits: NoteLimits,
) -> SetStatus:
    """The notes to archive or to restore.

    Raises:
        InvalidArgument: A field is missing or malformed, or a note is named twice.
    """
    v = Violations()
    check_write(v, request.request_id, request.user_id, limits)
    note_ids = check_ids(v, "note_ids", request.note_ids, count_max=limits.status_changes_max)
    if len(set(note_ids)) < len(note_ids):
        v.add("note_ids", "names a note twice")
    v.raise_if_any()
    ids = tuple(NoteId(note_id) for note_id in note_ids)
    return SetStatus(owner_of(request.user_id, caller), idempotency_key(request, caller), ids, status)


def note_key(request: pb.GetNoteRequest, caller: Principal, *, limits: NoteLimits) -> tuple[Owner, NoteId]:
    """Which note to read.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.uuid("note_id", request.note_id)
    violations.raise_if_any()
    return owner_of(request.user_id, caller), note_id_of(request.note_id)


def list_notes_command(
    request: pb.ListNotesRequest, caller: Principal, *, limits: NoteLimits, tokens: PageTokens
) -> ListNotes:
    """Which page to read.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token is another query's.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.HasField("kind"):
        v.enum("kind", request.kind, NoteKind)
    if request.HasField("status"):
        v.enum("status", request.status, NoteStatus)
    v.text("tag", request.tag, chars_max=limits.tag_chars_max, required=False)
    start_time, end_time = check_time(v, request, "start_time"), check_time(v, request, "end_time")
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return ListNotes(
        owner=owner_of(request.user_id, caller),
        which=NoteFilter(
            status=NoteStatus(request.status) if request.HasField("status") else NoteStatus.ACTIVE,
            kind=NoteKind(request.kind) if request.HasField("kind") else None,
            tag=request.tag,
            start_time=start_time,
            end_time=end_time,
            reader=chosen_reader(request),
        ),
        page_size=page_size,
        after=NotePosition(from_microseconds(int(cursor[0])), NoteId(str(cursor[1]))) if cursor else None,
    )


def comparison_command(
    request: pb.GetNoteModelComparisonRequest, caller: Principal, *, limits: NoteLimits, settings: ModelChangeSettings
) -> tuple[Owner, list[ComparedQuestion], Reader]:
    """Whose notes two models are compared on, with which questions, and who reads.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    questions = compared_questions(v, request.questions, settings)
    reader: Reader = GLOBAL_SCOPE
    try:
        reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    return owner_of(request.user_id, caller), questions, reader


def search_notes_command(
    request: pb.SearchNotesRequest, caller: Principal, *, limits: NoteLimits, vector_form: VectorForm
) -> SearchNotes:
    """What to search for.

    Raises:
        InvalidArgument: A field is missing or malformed, or the vector is of another model.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    has_vector = request.HasField("query_vector")
    v.text("query", request.query, chars_max=limits.query_chars_max, required=not has_vector)
    check_search_bounds(v, request, limits)
    known_at, held_at = check_time(v, request, "known_at_time"), check_time(v, request, "as_of_time")
    vector = None
    reader: Reader = GLOBAL_SCOPE
    try:
        reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
        if has_vector:
            vector = vector_form.read(request.query_vector)
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    return SearchNotes(
        owner=owner_of(request.user_id, caller),
        query=request.query,
        vector=vector,
        reader=reader,
        limit=request.limit or limits.search_limit_default,
        hops=request.hops if request.HasField("hops") else limits.hops_default,
        known_at=known_at,
        held_at=held_at,
    )


def check_search_bounds(
    violations: Violations, request: pb.SearchNotesRequest | internal_pb.SearchNotesRequest, limits: NoteLimits
) -> None:
    """Add what is wrong with the number of hits and of hops."""
    violations.number("limit", request.limit, low=0, high=limits.search_limit_max)
    if request.HasField("hops"):
        violations.number("hops", request.hops, low=0, high=limits.hops_max)


def check_write(violations: Violations, request_id: str, user_id: str, limits: NoteLimits) -> None:
    """Add what is wrong with the fields that every write has."""
    violations.identifier("request_id", request_id, chars_max=limits.id_chars_max)
    violations.identifier("user_id", user_id, chars_max=limits.id_chars_max)


def check_ids(violations: Violations, field_path: str, ids: Sequence[str], *, count_max: int) -> list[str]:
    """Add what is wrong with a list of UUIDs; returns those that are valid, in the form that is stored."""
    violations.count(field_path, len(ids), count_max=count_max, count_min=1)
    return [str(UUID(text)) for i, text in enumerate(ids[:count_max]) if violations.uuid(f"{field_path}[{i}]", text)]


def list_query(request: pb.ListNotesRequest | pb.ListLinksRequest) -> Cursor:
    """What must be the same on the next page: all fields but those of the page itself."""
    query = type(request)()
    query.CopyFrom(request)  # type: ignore[arg-type]
    query.ClearField("page_size")
    query.ClearField("page_token")
    return (request.DESCRIPTOR.full_name, query.SerializeToString(deterministic=True).hex())


def _check_fields(
    violations: Violations, request: pb.CreateNoteRequest | pb.UpdateNoteRequest, limits: NoteLimits
) -> datetime | None:
    """Add what is wrong with the fields that a new and a changed note have; returns the time."""
    if request.HasField("importance"):
        violations.number("importance", request.importance, low=0.0, high=1.0)
    violations.count("tags", len(request.tags), count_max=limits.tags_max)
    for i, tag in enumerate(request.tags[: limits.tags_max]):
        violations.text(f"tags[{i}]", tag, chars_max=limits.tag_chars_max)
    _check_attachments(violations, request.attachments, limits)
    _check_metadata(violations, request.metadata, limits)
    return check_time(violations, request, "time")


def check_time(violations: Violations, request: Message, name: str) -> datetime | None:
    """Add what is wrong with a time of a request; returns it, None where it is not set."""
    if not request.HasField(name):
        return None
    try:
        return common.moment(getattr(request, name), field_path=name)
    except InvalidArgument as error:
        violations.include(error)
        return None


def _check_attachments(
    violations: Violations, attachments: Sequence[common_pb2.Attachment], limits: NoteLimits
) -> None:
    turn = limits.turn
    violations.count("attachments", len(attachments), count_max=turn.attachments_max)
    for i, attachment in enumerate(attachments[: turn.attachments_max]):
        path = f"attachments[{i}]"
        violations.text(f"{path}.uri", attachment.uri, chars_max=turn.uri_chars_max)
        violations.text(f"{path}.mime_type", attachment.mime_type, chars_max=turn.mime_type_chars_max, required=False)
        violations.text(f"{path}.caption", attachment.caption, chars_max=turn.caption_chars_max, required=False)


def _check_metadata(violations: Violations, metadata: Mapping[str, str], limits: NoteLimits) -> None:
    turn = limits.turn
    violations.count("metadata", len(metadata), count_max=turn.metadata_entries_max)
    for key, value in list(metadata.items())[: turn.metadata_entries_max]:
        path = f"metadata[{key[:64]}]"
        violations.text(path, key, chars_max=turn.metadata_key_chars_max)
        violations.text(path, value, chars_max=turn.metadata_value_chars_max, required=False)
