"""From requests of mneme.agentic.v1 to commands on links. Pure functions; they check form, never state."""

from __future__ import annotations

from uuid import UUID

from mneme.agentic.v1 import notes_pb2 as pb
from services.agentic.commands import check_write, list_query, note_id_of, owner_of
from services.agentic.config import NoteLimits
from services.agentic.links import DeleteLink, ListLinks, SetLink
from services.agentic.model import LinkKey, LinkType, NoteId
from services.agentic.store import LinkPosition
from services.common.auth import Principal
from services.common.idempotency.requests import idempotency_key
from services.common.paging import PageTokens
from services.common.reading import chosen_reader
from services.common.validation import Violations


def create_link_command(request: pb.CreateLinkRequest, caller: Principal, *, limits: NoteLimits) -> SetLink:
    """The link to make.

    Raises:
        InvalidArgument: A field is missing or malformed, or both ends are one note.
    """
    v = Violations()
    if request.HasField("strength"):
        v.number("strength", request.strength, low=0.0, high=1.0)
    key = _link_key(request, v, limits)
    strength = request.strength if request.HasField("strength") else 0.5
    return SetLink(owner_of(request.user_id, caller), idempotency_key(request, caller), key, strength)


def update_link_command(request: pb.UpdateLinkRequest, caller: Principal, *, limits: NoteLimits) -> SetLink:
    """The link to change.

    Raises:
        InvalidArgument: A field is missing or malformed, or the mask names another field than the strength.
    """
    v = Violations()
    if request.HasField("strength"):
        v.number("strength", request.strength, low=0.0, high=1.0)
    else:
        v.add("strength", "is required")
    for i, name in enumerate(request.update_mask.paths):
        if name != "strength":
            v.add(f"update_mask.paths[{i}]", f"{name[:64]!r} cannot be updated")
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    key = _link_key(request, v, limits)
    return SetLink(
        owner_of(request.user_id, caller), idempotency_key(request, caller), key, request.strength, request.etag
    )


def delete_link_command(request: pb.DeleteLinkRequest, caller: Principal, *, limits: NoteLimits) -> DeleteLink:
    """The link to remove.

    Raises:
        InvalidArgument: A field is missing or malformed, or both ends are one note.
    """
    key = _link_key(request, Violations(), limits)
    return DeleteLink(owner_of(request.user_id, caller), idempotency_key(request, caller), key)


def list_links_command(
    request: pb.ListLinksRequest, caller: Principal, *, limits: NoteLimits, tokens: PageTokens
) -> ListLinks:
    """Which page to read.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token is another query's.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("note_id", request.note_id)
    if request.HasField("type"):
        v.enum("type", request.type, LinkType)
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    after = None
    if cursor is not None:
        strength, from_note_id, to_note_id, link_type = cursor
        key = LinkKey(NoteId(str(from_note_id)), NoteId(str(to_note_id)), LinkType(int(link_type)))
        after = LinkPosition(float(strength), key)
    return ListLinks(
        owner_of(request.user_id, caller),
        note_id_of(request.note_id),
        LinkType(request.type) if request.HasField("type") else None,
        page_size,
        after,
        chosen_reader(request),
    )


def _link_key(
    request: pb.CreateLinkRequest | pb.UpdateLinkRequest | pb.DeleteLinkRequest,
    violations: Violations,
    limits: NoteLimits,
) -> LinkKey:
    """The link that a write names, once nothing is wrong with the request."""
    check_write(violations, request.request_id, request.user_id, limits)
    ends = [
        violations.uuid("from_note_id", request.from_note_id),
        violations.uuid("to_note_id", request.to_note_id),
    ]
    if all(ends) and UUID(request.from_note_id) == UUID(request.to_note_id):
        violations.add("to_note_id", "must be another note than from_note_id")
    violations.enum("type", request.type, LinkType)
    violations.raise_if_any()
    return LinkKey(note_id_of(request.from_note_id), note_id_of(request.to_note_id), LinkType(request.type))
