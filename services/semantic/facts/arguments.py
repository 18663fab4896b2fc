"""Arguments and results of the use cases of facts. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.common.embedding.vectors import Vector
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, Owner
from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.semantic.facts.model import Fact, FactDraft, FactId, FactUse
from services.semantic.facts.store import FactFilter, FactPosition


@dataclass(frozen=True, slots=True)
class CreateFact:
    """A fact that a caller states."""

    owner: Owner
    key: IdempotencyKey
    draft: FactDraft
    derived_from: tuple[InteractionId, ...] = ()
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True)
class UpdateFact:
    """New values of a fact."""

    owner: Owner
    key: IdempotencyKey
    fact_id: FactId
    values: Mapping[str, Any]  # by the names of the fields of `FactDraft`
    etag: str  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class DeleteFact:
    """A fact to delete."""

    owner: Owner
    key: IdempotencyKey
    fact_id: FactId
    etag: str  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class ListFacts:
    """A page of a user's facts."""

    owner: Owner
    which: FactFilter
    page_size: int
    after: FactPosition | None
    include_low_confidence: bool = False
    known_at: datetime | None = None  # what was believed then; None: now
    held_at: datetime | None = None  # what held then; None: whatever held


@dataclass(frozen=True, slots=True)
class FactPage:
    """Facts, last confirmed first, and where the next page begins, if there is one."""

    facts: tuple[Fact, ...]
    next: FactPosition | None
    positions: tuple[FactPosition, ...] = ()  # of facts as they were believed: their places in the list of today


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """A search by a question, or by its vector."""

    owner: Owner
    query: str
    vector: Vector | None  # used instead of the query where given
    use: FactUse
    reader: Reader
    limit: int
    known_at: datetime | None = None  # what was believed then; None: now
    held_at: datetime | None = None  # what held then, also where it is retired now; None: now


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """What a removal of sources did."""

    removed: int  # facts that are gone
    reduced: int  # facts that lost a part of their evidence
