"""Errors of single items of a batch, as tests compare them."""

from __future__ import annotations

from google.rpc.status_pb2 import Status

from services.common.errors_grpc import from_item_status


def reason_and_path(status: Status) -> tuple[str, str]:
    """The reason of an item's error and the path of the first field it names; empty texts for an unset status."""
    if not status.code:
        return "", ""
    error = from_item_status(status, store="test")
    return str(error.reason), error.violations[0].field_path if error.violations else ""
