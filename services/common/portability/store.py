"""Where a tier's records of one user are read and written: the port."""

from __future__ import annotations

import contextlib
from typing import Protocol

from services.common.copying.model import OwnedRecords


class UserRecordStore(Protocol):
    """Opens a tier's records for one request."""

    def open(self, tenant_id: str) -> contextlib.AbstractAsyncContextManager[OwnedRecords]:
        """The records of a tenant; what is written is durable when the block ends.

        Raises:
            InvalidArgument: The engine refuses a record.
            MnemeError: The engine cannot be used.
        """
        ...
