"""What a refused call says."""

from __future__ import annotations

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status


async def refused(call: object) -> tuple[grpc.StatusCode, str, set[str]]:
    """Status, reason and field paths of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
    return caught.value.code(), info.reason, {violation.field for violation in bad.field_violations}
