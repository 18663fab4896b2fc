"""Who reads from a tier: the reader that a request names, with what was granted to it."""

from __future__ import annotations

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
