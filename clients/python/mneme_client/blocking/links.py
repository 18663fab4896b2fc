# Generated from aio/links.py by `make client`, not to be edited.
"""Links between notes, named by both notes and the type."""

from __future__ import annotations

from collections.abc import Iterator

from mneme.agentic.v1 import notes_pb2
from mneme_client import from_wire_resources, to_wire
from mneme_client import resources as r
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_one, read_page
from mneme_client.enums import LinkType
from mneme_client.types import Scope

_SERVICE = "/mneme.agentic.v1.NoteService"


class LinkOperations(Operations):
    """Creates, lists, updates and deletes links."""

    def create_link(
        self,
        user_id: str,
        from_note_id: str,
        to_note_id: str,
        type: LinkType,  # noqa: A002 - the field's name
        *,
        strength: float | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Link:
        """Links two notes with a strength in [0, 1], 0.5 if not given; an existing link gets that strength."""
        request = notes_pb2.CreateLinkRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            from_note_id=from_note_id,
            to_note_id=to_note_id,
            type=to_wire.enum_number(type),
            strength=strength,
        )
        read = read_one("link", from_wire_resources.link)
        return self._call(Call(f"{_SERVICE}/CreateLink", request, notes_pb2.CreateLinkResponse, read), timeout_seconds)

    def list_links(
        self,
        user_id: str,
        note_id: str,
        *,
        type: LinkType | None = None,  # noqa: A002 - the field's name
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.Link]:
        """The links of a note to active notes, strongest first; pages are fetched as they are needed.

        With `scope`, that of a reader, only what it sees; None means every scope.
        """
        request = notes_pb2.ListLinksRequest(
            user_id=user_id,
            note_id=note_id,
            type=to_wire.optional_enum_number(type),
            page_size=page_size,
            reader_scope=to_wire.scope(scope),
        )
        read = read_page("links", from_wire_resources.link)
        return self._pages(Call(f"{_SERVICE}/ListLinks", request, notes_pb2.ListLinksResponse, read), timeout_seconds)

    def update_link(
        self,
        user_id: str,
        from_note_id: str,
        to_note_id: str,
        type: LinkType,  # noqa: A002 - the field's name
        *,
        strength: float,
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Link:
        """Sets the strength of a link, in [0, 1]. Fails with CONFLICT if an etag is given and is not the link's."""
        request = notes_pb2.UpdateLinkRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            from_note_id=from_note_id,
            to_note_id=to_note_id,
            type=to_wire.enum_number(type),
            strength=strength,
            etag=etag,
        )
        read = read_one("link", from_wire_resources.link)
        return self._call(Call(f"{_SERVICE}/UpdateLink", request, notes_pb2.UpdateLinkResponse, read), timeout_seconds)

    def delete_link(
        self,
        user_id: str,
        from_note_id: str,
        to_note_id: str,
        type: LinkType,  # noqa: A002 - the field's name
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Removes a link. Fails with NOT_FOUND."""
        request = notes_pb2.DeleteLinkRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            from_note_id=from_note_id,
            to_note_id=to_note_id,
            type=to_wire.enum_number(type),
        )
        call = Call(f"{_SERVICE}/DeleteLink", request, notes_pb2.DeleteLinkResponse, read_nothing)
        self._call(call, timeout_seconds)
