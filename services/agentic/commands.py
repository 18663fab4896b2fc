"""From requests of mneme.agentic.v1 to commands. Pure functions; they check form, never state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from google.protobuf.message import Message

from mneme.agentic.internal.v1 import notes_pb2 as internal_pb
from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.v1 import common_pb2
from services.agentic.config import NoteLimits
from services.agentic.model import (
    InteractionId,
    LinkKey,
    LinkType,
    NoteId,
    NoteKind,
    Owner,
    TenantId,
    UserId,
    from_microseconds,
)
from services.agentic.service import ChangeLink, CreateNote, ListNotes, RequestKey, SearchNotes
from services.agentic.store import NotePosition
from services.common import convert as common
from services.common.auth import Principal
from services.common.embedding.vectors import Vector
from services.common.errors import InvalidArgument
from services.common.paging import Cursor, PageTokens
from services.common.reading import reader_from_proto
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations


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


def create_note_command(request: pb.CreateNoteRequest, caller: Principal, *, limits: NoteLimits) -> CreateNote:
    """The note to write.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named.
    """
    v = Violations()
    _check_write(v, request.request_id, request.user_id, limits)
    v.text("content", request.content, chars_max=limits.content_chars_max)
    v.enum("kind", request.kind, NoteKind)
    if request.HasField("importance"):
        v.number("importance", request.importance, low=0.0, high=1.0)
    v.count("tags", len(request.tags), count_max=limits.tags_max)
    for i, tag in enumerate(request.tags[: limits.tags_max]):
        v.text(f"tags[{i}]", tag, chars_max=limits.tag_chars_max)
    _check_attachments(v, request.attachments, limits)
    _check_metadata(v, request.metadata, limits)
    v.count("derived_from", len(request.derived_from), count_max=limits.derived_from_max)
    for i, interaction_id in enumerate(request.derived_from[: limits.derived_from_max]):
        v.uuid(f"derived_from[{i}]", interaction_id)
    scope = GLOBAL_SCOPE
    time: datetime | None = None
    try:
        scope = common.scope_from_proto(request.scope, present=request.HasField("scope"), field_path="scope")
        time = common.moment(request.time, field_path="time") if request.HasField("time") else None
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    return CreateNote(
        owner=Owner(TenantId(caller.tenant_id), UserId(request.user_id)),
        request=_request_key(request, caller),
        content=request.content,
        kind=NoteKind(request.kind),
        importance=request.importance if request.HasField("importance") else 0.5,
        tags=tuple(dict.fromkeys(request.tags)),
        attachments=common.attachments_from_proto(request.attachments),
        metadata=dict(request.metadata),
        derived_from=tuple(InteractionId(str(UUID(i))) for i in request.derived_from),
        time=time,
        scope=scope,
    )


def note_key(request: pb.GetNoteRequest, caller: Principal, *, limits: NoteLimits) -> tuple[Owner, NoteId]:
    """Which note to read.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.uuid("note_id", request.note_id)
    violations.raise_if_any()
    return Owner(TenantId(caller.tenant_id), UserId(request.user_id)), NoteId(str(UUID(request.note_id)))


def list_notes_command(
    request: pb.ListNotesRequest, caller: Principal, *, limits: NoteLimits, tokens: PageTokens
) -> ListNotes:
    """Which page to read.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token is another query's.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.HasField("kind"):
        violations.enum("kind", request.kind, NoteKind)
    page_size = violations.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    violations.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return ListNotes(
        owner=Owner(TenantId(caller.tenant_id), UserId(request.user_id)),
        kind=NoteKind(request.kind) if request.HasField("kind") else None,
        page_size=page_size,
        after=NotePosition(from_microseconds(int(cursor[0])), NoteId(str(cursor[1]))) if cursor else None,
    )


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
        owner=Owner(TenantId(caller.tenant_id), UserId(request.user_id)),
        query=request.query,
        vector=vector,
        reader=reader,
        limit=request.limit or limits.search_limit_default,
        hops=request.hops if request.HasField("hops") else limits.hops_default,
    )


def check_search_bounds(
    violations: Violations, request: pb.SearchNotesRequest | internal_pb.SearchNotesRequest, limits: NoteLimits
) -> None:
    """Add what is wrong with the number of hits and of hops."""
    violations.number("limit", request.limit, low=0, high=limits.search_limit_max)
    if request.HasField("hops"):
        violations.number("hops", request.hops, low=0, high=limits.hops_max)


def create_link_command(request: pb.CreateLinkRequest, caller: Principal, *, limits: NoteLimits) -> ChangeLink:
    """The link to make.

    Raises:
        InvalidArgument: A field is missing or malformed, or both ends are one note.
    """
    violations = Violations()
    if request.HasField("strength"):
        violations.number("strength", request.strength, low=0.0, high=1.0)
    strength = request.strength if request.HasField("strength") else 0.5
    return _change_link(request, caller, violations, limits=limits, strength=strength)


def delete_link_command(request: pb.DeleteLinkRequest, caller: Principal, *, limits: NoteLimits) -> ChangeLink:
    """The link to remove.

    Raises:
        InvalidArgument: A field is missing or malformed, or both ends are one note.
    """
    return _change_link(request, caller, Violations(), limits=limits, strength=0.0)


def _change_link(
    request: pb.CreateLinkRequest | pb.DeleteLinkRequest,
    caller: Principal,
    violations: Violations,
    *,
    limits: NoteLimits,
    strength: float,
) -> ChangeLink:
    _check_write(violations, request.request_id, request.user_id, limits)
    ends = [
        violations.uuid("from_note_id", request.from_note_id),
        violations.uuid("to_note_id", request.to_note_id),
    ]
    if all(ends) and UUID(request.from_note_id) == UUID(request.to_note_id):
        violations.add("to_note_id", "must be another note than from_note_id")
    violations.enum("type", request.type, LinkType)
    violations.raise_if_any()
    from_note_id, to_note_id = (NoteId(str(UUID(i))) for i in (request.from_note_id, request.to_note_id))
    return ChangeLink(
        owner=Owner(TenantId(caller.tenant_id), UserId(request.user_id)),
        request=_request_key(request, caller),
        key=LinkKey(from_note_id, to_note_id, LinkType(request.type)),
        strength=strength,
    )


def _check_write(violations: Violations, request_id: str, user_id: str, limits: NoteLimits) -> None:
    violations.identifier("request_id", request_id, chars_max=limits.id_chars_max)
    violations.identifier("user_id", user_id, chars_max=limits.id_chars_max)


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


def list_query(request: pb.ListNotesRequest) -> Cursor:
    """What must be the same on the next page."""
    return ("ListNotes", request.user_id, request.kind if request.HasField("kind") else 0)


def _request_key(
    request: pb.CreateNoteRequest | pb.CreateLinkRequest | pb.DeleteLinkRequest, caller: Principal
) -> RequestKey:
    """The request id with a digest of all else that was asked."""
    return RequestKey(caller.principal_id, request.request_id, fingerprint(request))


def fingerprint(request: Message) -> str:
    """SHA-256 of a request and its type; equal for equal requests of one program version."""
    content = request.SerializeToString(deterministic=True)
    return hashlib.sha256(f"{request.DESCRIPTOR.full_name}\0".encode() + content).hexdigest()
