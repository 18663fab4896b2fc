"""What is remembered of erasures, so that records that arrive later, or again, do not come back. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from services.common.owners import Owner
from services.common.scope import Scope
from services.episodic.activity.model import Record
from services.episodic.activity.store import Removal


def removal_id(owner: Owner, removal: Removal) -> UUID:
    """The digest under which a removal is remembered."""
    if removal.scope is not None:
        return _digest(owner, "nested" if removal.with_nested else "scope", removal.scope.key)
    return _digest(owner, "conversation", removal.conversation_id) if removal.conversation_id else _digest(owner, "log")


def removal_ids_of(owner: Owner, records: Iterable[Record]) -> Mapping[tuple[str, str], Sequence[UUID]]:
    """The digests of the removals that concern records, by conversation id and scope key."""
    found: dict[tuple[str, str], Sequence[UUID]] = {}
    for record in records:
        place = (record.conversation_id, record.scope_key)
        if place not in found:
            visible = Scope.from_key(record.scope_key).visible_keys()
            found[place] = [
                _digest(owner, "log"),
                _digest(owner, "conversation", record.conversation_id),
                _digest(owner, "scope", record.scope_key),
                *(_digest(owner, "nested", key) for key in visible),
            ]
    return found


def not_erased(
    records: Sequence[Record], ids: Mapping[tuple[str, str], Sequence[UUID]], erased: Mapping[UUID, datetime]
) -> Sequence[Record]:
    """Records that are newer than every removal that concerns them.

    Args:
        records: In any order, which is kept.
        ids: Of `removal_ids_of`.
        erased: The removals that there were: by digest, the time up to which they reach.
    """
    if not erased:
        return records
    until = {place: max((erased[one] for one in of if one in erased), default=None) for place, of in ids.items()}
    return [
        record
        for record in records
        if (end := until[record.conversation_id, record.scope_key]) is None or record.time > end
    ]


def _digest(owner: Owner, *parts: str) -> UUID:
    text = "\x1e".join((owner.tenant_id, owner.user_id, *parts)).encode("utf-8", "surrogatepass")
    return UUID(bytes=hashlib.blake2b(text, digest_size=16).digest())
