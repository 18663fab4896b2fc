# Generated from aio/audit.py by `make client`, not to be edited.
"""The audit log: who did what to which memory, and who read it."""

from __future__ import annotations

from collections.abc import Iterator

from mneme.gateway.v1 import audit_pb2
from mneme_client import results_audit
from mneme_client.blocking.operations import Operations
from mneme_client.calls import Call, read_page

_SERVICE = "/mneme.gateway.v1.AuditService"
_PAGE_SIZE = 1_000


class AuditOperations(Operations):
    """Reads the audit log of the tenant, for administrators."""

    def list_audit_entries(
        self, *, from_index: int = 0, timeout_seconds: float | None = None
    ) -> Iterator[results_audit.AuditEntry]:
        """Yields the entries of the log, oldest first."""
        request = audit_pb2.ListAuditEntriesRequest(page_size=_PAGE_SIZE, from_index=from_index)
        read = read_page("entries", results_audit.audit_entry)
        call = Call(f"{_SERVICE}/ListAuditEntries", request, audit_pb2.ListAuditEntriesResponse, read)
        return self._pages(call, timeout_seconds)

    def get_audit_checkpoint(self, *, timeout_seconds: float | None = None) -> results_audit.AuditCheckpoint:
        """Returns size and root of the log, signed: store it elsewhere."""
        request, response = audit_pb2.GetAuditCheckpointRequest(), audit_pb2.GetAuditCheckpointResponse
        call = Call(f"{_SERVICE}/GetAuditCheckpoint", request, response, results_audit.checkpoint)
        return self._call(call, timeout_seconds)

    def get_inclusion_proof(
        self, index: int, *, size: int = 0, timeout_seconds: float | None = None
    ) -> results_audit.AuditProof:
        """Proves that an entry is in the log of a size; 0 means the log of now."""
        request = audit_pb2.GetInclusionProofRequest(index=index, size=size)
        response = audit_pb2.GetInclusionProofResponse
        call = Call(f"{_SERVICE}/GetInclusionProof", request, response, results_audit.inclusion)
        return self._call(call, timeout_seconds)

    def get_consistency_proof(
        self, first_size: int, *, second_size: int = 0, timeout_seconds: float | None = None
    ) -> results_audit.AuditProof:
        """Proves that the log of one size is the beginning of the log of another; 0 means the log of now."""
        request = audit_pb2.GetConsistencyProofRequest(first_size=first_size, second_size=second_size)
        response = audit_pb2.GetConsistencyProofResponse
        call = Call(f"{_SERVICE}/GetConsistencyProof", request, response, results_audit.consistency)
        return self._call(call, timeout_seconds)
