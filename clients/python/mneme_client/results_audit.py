"""What the audit log returns."""

from __future__ import annotations

from dataclasses import dataclass

from mneme.gateway.v1 import audit_pb2


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the log."""

    index: int
    commitment: bytes  # SHA-256 of salt and body; the leaf of the tree
    salt: bytes  # empty once the user is erased
    body: str  # a JSON object; empty once the user is erased


@dataclass(frozen=True, slots=True)
class AuditCheckpoint:
    """Size and root of the log, signed."""

    note: str
    public_key: bytes  # Ed25519, 32 bytes
    size: int


@dataclass(frozen=True, slots=True)
class AuditProof:
    """Hashes that prove something of a log."""

    hashes: tuple[bytes, ...]
    size: int  # of the log


def audit_entry(message: audit_pb2.AuditEntry) -> AuditEntry:
    """Reads an entry."""
    return AuditEntry(message.index, message.commitment, message.salt, message.body)


def checkpoint(message: audit_pb2.GetAuditCheckpointResponse) -> AuditCheckpoint:
    """Reads a checkpoint."""
    return AuditCheckpoint(message.checkpoint, message.public_key, message.size)


def inclusion(message: audit_pb2.GetInclusionProofResponse) -> AuditProof:
    """Reads a proof."""
    return AuditProof(tuple(message.hashes), message.size)


def consistency(message: audit_pb2.GetConsistencyProofResponse) -> AuditProof:
    """Reads a proof."""
    return AuditProof(tuple(message.hashes), message.second_size)
