"""The records of a user in all tiers: those of the journal here, the others' by their internal service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import grpc

from mneme.common.internal.v1 import user_records_pb2, user_records_pb2_grpc
from services.common.encryption.postgres import DataKeys
from services.common.errors_grpc import from_rpc_error
from services.common.portability.records import Page, UserRecords
from services.common.postgres.types import Pool
from services.gateway.portability.store import Records
from services.gateway.portability.stores.postgres import journal_records, journal_user_records
from services.gateway.upstream import TierChannels
from services.gateway.upstream_client import MetadataSource
from services.gateway.worker import worker_principal


class UpstreamRecords:
    """Implements `Records` for a tier."""

    def __init__(
        self, name: str, channel: grpc.aio.Channel, metadata: MetadataSource, *, timeout_seconds: float
    ) -> None:
        """Calls the tier on the gateway's own behalf; each page has so much time."""
        self._name = name
        self._stub = user_records_pb2_grpc.UserRecordsServiceStub(channel)
        self._metadata = metadata
        self._timeout_seconds = timeout_seconds

    async def read(self, owner: tuple[str, str], token: str, *, limit: int, memories_only: bool) -> Page:
        """See `Records.read`."""
        request = user_records_pb2.ReadUserRecordsRequest(
            user_id=owner[1], page_token=token, memories_only=memories_only, page_size=limit
        )
        try:
            response = await self._stub.ReadUserRecords(
                request, timeout=self._timeout_seconds, metadata=self._metadata(worker_principal(owner[0]))
            )
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, store=self._name) from error
        return Page(list(response.lines), response.next_page_token)

    async def write(self, owner: tuple[str, str], lines: Sequence[str], *, validate_only: bool) -> None:
        """See `Records.write`."""
        request = user_records_pb2.WriteUserRecordsRequest(user_id=owner[1], lines=lines, validate_only=validate_only)
        try:
            await self._stub.WriteUserRecords(
                request, timeout=self._timeout_seconds, metadata=self._metadata(worker_principal(owner[0]))
            )
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, store=self._name) from error


def all_records(
    pool: Pool, keys: DataKeys, channels: TierChannels, metadata: MetadataSource, *, timeout_seconds: float
) -> Mapping[str, Records]:
    """The records of all tiers by their names; `pool` and `keys` are the journal's."""

    def tier(name: str, channel: grpc.aio.Channel) -> Records:
        return UpstreamRecords(name, channel, metadata, timeout_seconds=timeout_seconds)

    return {
        "gateway": UserRecords(journal_user_records(pool, keys), journal_records(pool)),
        "episodic": tier("episodic", channels.episodic),
        "semantic": tier("semantic", channels.semantic),
        "agentic": tier("agentic", channels.agentic),
    }
