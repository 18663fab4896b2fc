"""What gRPC's library logs of calls whose caller has gone."""

from __future__ import annotations

import logging
from typing import Final

import grpc

_LIBRARY_LOGGER: Final = "grpc._cython.cygrpc"


class _CallerHasGone(logging.Filter):
    """Drops the traceback of a response that could not be sent: the log has a line of the call already."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, grpc.aio.InternalError)


_FILTER: Final = _CallerHasGone()


def silence_lost_callers() -> None:
    """Leaves the failures of calls whose caller has gone out of the log, in all of the process."""
    logging.getLogger(_LIBRARY_LOGGER).addFilter(_FILTER)  # adding it again changes nothing
