"""What the use cases of procedures take. Frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, Owner
from services.semantic.procedures.model import ProcedureDraft


@dataclass(frozen=True, slots=True)
class CreateProcedure:
    """A procedure to store."""

    owner: Owner
    key: IdempotencyKey
    draft: ProcedureDraft
    initial_confidence: float
    derived_from: tuple[InteractionId, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateProcedure:
    """New values of a procedure."""

    owner: Owner
    key: IdempotencyKey
    procedure_id: str
    etag: str  # that the caller read; empty: whatever is stored
    draft: dict[str, Any] = field(default_factory=dict)  # fields of the draft
    initial_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class DeleteProcedure:
    """A procedure to delete."""

    owner: Owner
    key: IdempotencyKey
    procedure_id: str
    etag: str  # that the caller read; empty: whatever is stored
