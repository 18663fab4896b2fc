"""Who reads from a tier: the reader that a request names, with the places that the gateway says are granted to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mneme.common.v1 import common_pb2
from services.common.auth import current_principal_or_none
from services.common.convert import scope_from_proto
from services.common.errors import InvalidArgument, PermissionDenied
from services.common.scope import GrantedReader, Reader
from services.common.validation import Violations

GRANTED_SCOPES_MAX: Final = 1_024
"""Granted places of one request: four times what the gateway keeps for a user, so that no search fails for them."""


def reader_from_proto(scope: common_pb2.Scope, granted: Sequence[common_pb2.Scope], *, present: bool) -> Reader:
    """The reader of a request with the fields `reader_scope` and `granted_scopes`.

    Grants are kept by the gateway, so only a caller for whom it has signed may name granted places: with a credential
    of its own nobody tells a tier what was granted.

    Args:
        scope: Where the reader stands.
        granted: What was granted to it.
        present: Whether the scope is set; else it is GLOBAL.

    Raises:
        InvalidArgument: A scope is not valid, or there are too many.
        PermissionDenied: Granted scopes are named by a caller that no service vouches for.
    """
    reader = scope_from_proto(scope, present=present, field_path="reader_scope")
    if not granted:
        return reader
    principal = current_principal_or_none()
    if principal is None or not principal.is_vouched_for:
        raise PermissionDenied("granted scopes are told by the gateway alone")
    violations = Violations()
    violations.count("granted_scopes", len(granted), count_max=GRANTED_SCOPES_MAX)
    violations.raise_if_any()
    places = []
    for index, place in enumerate(granted):
        try:
            places.append(scope_from_proto(place, present=True, field_path=f"granted_scopes[{index}]"))
        except InvalidArgument as error:
            violations.include(error)
    violations.raise_if_any()
    return GrantedReader(reader, tuple(places))
