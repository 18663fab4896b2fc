"""Who reads from a tier: the reader that a request names, with what was granted to it."""

from __future__ import annotations

from typing import Literal, Protocol

from mneme.common.v1 import common_pb2
from services.common.auth import current_granted_scopes
from services.common.convert import scope_from_proto
from services.common.scope import GrantedReader, Reader


def reader_from_proto(scope: common_pb2.Scope, *, present: bool) -> Reader:
    """The reader of a request with the field `reader_scope`; what was granted to it stands in the caller's identity.

    Args:
        scope: Where the reader stands.
        present: Whether the scope is set; else it is GLOBAL.

    Raises:
        InvalidArgument: The scope is not valid.
    """
    reader = scope_from_proto(scope, present=present, field_path="reader_scope")
    granted = current_granted_scopes()
    return GrantedReader(reader, granted) if granted else reader


class ScopedRequest(Protocol):
    """A request with the optional field `reader_scope`."""

    @property
    def reader_scope(self) -> common_pb2.Scope:
        """Where the reader stands."""
        ...

    def HasField(self, field_name: Literal["reader_scope"], /) -> bool:  # noqa: N802 - protobuf's name
        """Whether it is set."""
        ...


def chosen_reader(request: ScopedRequest) -> Reader | None:
    """The reader of a list or of a read by id; None where the request names none, and every scope is read.

    Raises:
        InvalidArgument: The scope is not valid.
    """
    if not request.HasField("reader_scope"):
        return None
    return reader_from_proto(request.reader_scope, present=True)


def reader_identity(request: ScopedRequest) -> tuple[str, ...]:
    """What of a request's reader must be the same on the next page. Grants may change between pages."""
    if not request.HasField("reader_scope"):
        return ()
    return (scope_from_proto(request.reader_scope, present=True, field_path="reader_scope").key,)
