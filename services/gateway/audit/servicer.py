"""The gRPC edge of the audit log."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from mneme.gateway.v1 import audit_pb2, audit_pb2_grpc
from services.common.audit.checkpoint import Checkpoint, CheckpointSigner
from services.common.auth import Role, current_principal
from services.common.errors import NotFound
from services.common.merkle import consistency_proof, inclusion_proof
from services.common.paging import RESPONSE_BYTES_MAX, PageTokens, cut_page
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.common.validation import Violations
from services.gateway.audit.store import AuditStore

ROLES: Final[Mapping[str, Role]] = {
    "ListAuditEntries": Role.ADMIN,
    "GetAuditCheckpoint": Role.ADMIN,
    "GetInclusionProof": Role.ADMIN,
    "GetConsistencyProof": Role.ADMIN,
}
"""The role that each method needs, by its name."""

_PAGE_SIZE_DEFAULT: Final = 200
_PAGE_SIZE_MAX: Final = 1_000


class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """Implements AuditService."""

    def __init__(
        self,
        store: AuditStore,
        flush: Callable[[], Awaitable[object]],
        signer: CheckpointSigner,
        pages: PageTokens,
    ) -> None:
        """Reads `store`, after `flush` has written what is recorded behind responses."""
        self._store = store
        self._flush = flush
        self._signer = signer
        self._pages = pages

    async def ListAuditEntries(
        self, request: audit_pb2.ListAuditEntriesRequest, context: Context
    ) -> audit_pb2.ListAuditEntriesResponse:
        """See the proto."""
        violations = Violations()
        limit = violations.page_size(request.page_size, default=_PAGE_SIZE_DEFAULT, maximum=_PAGE_SIZE_MAX)
        if request.from_index < 0:
            violations.add("from_index", "must not be negative")
        violations.raise_if_any()
        tenant_id = current_principal().tenant_id
        query = ("ListAuditEntries", request.from_index)
        after = self._pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        begin = int(after[0]) if after is not None else request.from_index
        found = await self._store.entries(tenant_id, begin=begin, limit=limit + 1)
        entries, cursor = cut_page(
            [
                audit_pb2.AuditEntry(
                    index=entry.index, commitment=entry.commitment, salt=entry.salt or b"", body=entry.body or ""
                )
                for entry in found[:limit]
            ],
            has_more=len(found) > limit,
            bytes_max=RESPONSE_BYTES_MAX,
            cursor_of=lambda place: (found[place].index + 1,),
        )
        return audit_pb2.ListAuditEntriesResponse(
            entries=entries, next_page_token=self._pages.next_token(cursor, tenant_id=tenant_id, query=query)
        )

    async def GetAuditCheckpoint(
        self, request: audit_pb2.GetAuditCheckpointRequest, context: Context
    ) -> audit_pb2.GetAuditCheckpointResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        await self._flush()
        frontier = await self._store.append(tenant_id)
        checkpoint = Checkpoint(f"mneme/{tenant_id}", frontier.size, frontier.root)
        return audit_pb2.GetAuditCheckpointResponse(
            checkpoint=self._signer.sign(checkpoint), public_key=self._signer.public_key, size=frontier.size
        )

    async def GetInclusionProof(
        self, request: audit_pb2.GetInclusionProofRequest, context: Context
    ) -> audit_pb2.GetInclusionProofResponse:
        """See the proto."""
        violations = Violations()
        _size(violations, "index", request.index)
        _size(violations, "size", request.size)
        if request.size > 0 and request.index >= request.size:
            violations.add("index", "must be less than size")
        violations.raise_if_any()
        leaves = await self._leaves(request.size)
        if not 0 <= request.index < len(leaves):
            raise NotFound("audit entry", str(request.index))
        hashes = await asyncio.to_thread(inclusion_proof, leaves, request.index)
        return audit_pb2.GetInclusionProofResponse(hashes=hashes, size=len(leaves))

    async def GetConsistencyProof(
        self, request: audit_pb2.GetConsistencyProofRequest, context: Context
    ) -> audit_pb2.GetConsistencyProofResponse:
        """See the proto."""
        violations = Violations()
        _size(violations, "first_size", request.first_size, low=1)
        _size(violations, "second_size", request.second_size)
        if 0 < request.second_size < request.first_size:
            violations.add("first_size", "must not be more than second_size")
        violations.raise_if_any()
        leaves = await self._leaves(request.second_size)
        if not 1 <= request.first_size <= len(leaves):
            raise NotFound("audit log of the size", str(request.first_size))
        hashes = await asyncio.to_thread(consistency_proof, leaves, request.first_size)
        return audit_pb2.GetConsistencyProofResponse(hashes=hashes, second_size=len(leaves))

    async def _leaves(self, size: int) -> list[bytes]:
        """Hashes of the first leaves, of all where the size is 0."""
        tenant_id = current_principal().tenant_id
        known = (await self._store.append(tenant_id)).size
        if not 0 <= size <= known:
            raise NotFound("audit log of the size", str(size))
        return list(await self._store.leaves(tenant_id, size=size or known))


def _size(violations: Violations, path: str, number: int, *, low: int = 0) -> None:
    if number < low:
        violations.add(path, f"must be {low} or more")


def audit_binding(servicer: AuditServicer) -> ServiceBinding:
    """The service, for a `GrpcServer`."""
    return ServiceBinding(
        "mneme.gateway.v1.AuditService", audit_pb2_grpc.add_AuditServiceServicer_to_server, servicer, ROLES
    )
