"""The embedding model that serves, and the cut-over to another one."""

from __future__ import annotations

from mneme.gateway.v1 import embedding_model_pb2
from mneme_client import from_wire_embedding_model as from_wire
from mneme_client import results_embedding_model as r
from mneme_client import to_wire
from mneme_client.aio.operations import Operations
from mneme_client.calls import Call

_SERVICE = "/mneme.gateway.v1.EmbeddingModelService"


class EmbeddingModelOperations(Operations):
    """Changes the embedding model while the services run. Needs the role admin."""

    async def get_embedding_model(self, *, timeout_seconds: float | None = None) -> r.EmbeddingModelState:
        """Which model serves, and what each running process holds."""
        request, response = embedding_model_pb2.GetEmbeddingModelRequest, embedding_model_pb2.GetEmbeddingModelResponse
        call = Call(f"{_SERVICE}/GetEmbeddingModel", request(), response, from_wire.state)
        return await self._call(call, timeout_seconds)

    async def cut_over_embedding_model(
        self,
        model: str,
        *,
        allow_gaps: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.EmbeddingModelState:
        """Makes another model serve, without a restart; the way back is a cut-over to the former one.

        Processes follow within a second, by default; calls go on meanwhile.

        Args:
            model: Its fingerprint, one of `EmbeddingModelState.held_models`.
            allow_gaps: Cut over although episodes, facts or notes lack the model.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With FAILED_PRECONDITION: a process does not hold the model, or episodes, facts or notes
                lack it.
        """
        request = embedding_model_pb2.CutOverEmbeddingModelRequest(
            request_id=request_id or to_wire.new_request_id(), model=model, allow_gaps=allow_gaps
        )
        response = embedding_model_pb2.CutOverEmbeddingModelResponse
        call = Call(f"{_SERVICE}/CutOverEmbeddingModel", request, response, from_wire.state)
        return await self._call(call, timeout_seconds)
