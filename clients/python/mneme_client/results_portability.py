"""What exports and imports of users return."""

from __future__ import annotations

from dataclasses import dataclass

from mneme.gateway.v1 import portability_pb2


@dataclass(frozen=True, slots=True)
class ImportedUser:
    """A user who was imported."""

    user_id: str  # by the header of the file
    record_count: int
    restored_count: int  # records that had been erased before
    replayed: bool  # the same file was imported before: nothing was written


def imported_user(message: portability_pb2.ImportUserResponse) -> ImportedUser:
    """Reads a response."""
    return ImportedUser(message.user_id, message.record_count, message.restored_count, message.replayed)


def part(message: portability_pb2.ExportUserResponse) -> bytes:
    """Reads a part of a file."""
    return message.data
