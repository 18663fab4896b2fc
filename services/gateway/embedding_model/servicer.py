"""The gRPC edge of the serving model."""

from __future__ import annotations

from typing import Final

from mneme.gateway.v1 import embedding_model_pb2 as pb
from mneme.gateway.v1 import embedding_model_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.convert import timestamp
from services.common.idempotency.requests import idempotency_key
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.common.validation import Violations
from services.gateway.embedding_model.service import EmbeddingModels, ModelsState

SERVICE_NAME: Final = "mneme.gateway.v1.EmbeddingModelService"
ROLES: Final = {"GetEmbeddingModel": Role.ADMIN, "CutOverEmbeddingModel": Role.ADMIN}
_ID_CHARS_MAX: Final = 128
_MODEL_CHARS_MAX: Final = 256


class EmbeddingModelServicer(embedding_model_pb2_grpc.EmbeddingModelServiceServicer):
    """Implements EmbeddingModelService."""

    def __init__(self, models: EmbeddingModels, *, deadline_seconds: float) -> None:
        """Serves the use cases; `deadline_seconds` are for a call whose deadline is not known."""
        self._models = models
        self._deadline_seconds = deadline_seconds

    async def GetEmbeddingModel(
        self, request: pb.GetEmbeddingModelRequest, context: Context
    ) -> pb.GetEmbeddingModelResponse:
        """See the proto."""
        return pb.GetEmbeddingModelResponse(state=_state(await self._models.state()))

    async def CutOverEmbeddingModel(
        self, request: pb.CutOverEmbeddingModelRequest, context: Context
    ) -> pb.CutOverEmbeddingModelResponse:
        """See the proto."""
        v = Violations()
        v.identifier("request_id", request.request_id, chars_max=_ID_CHARS_MAX)
        v.text("model", request.model, chars_max=_MODEL_CHARS_MAX)
        v.raise_if_any()
        principal = current_principal()
        state = await self._models.cut_over(
            principal,
            idempotency_key(request, principal),
            request.model,
            allow_gaps=request.allow_gaps,
            seconds_left=seconds_left(self._deadline_seconds),
        )
        return pb.CutOverEmbeddingModelResponse(state=_state(state))


def embedding_model_binding(models: EmbeddingModels, *, deadline_seconds: float) -> ServiceBinding:
    """The service, for a server."""
    return ServiceBinding(
        SERVICE_NAME,
        embedding_model_pb2_grpc.add_EmbeddingModelServiceServicer_to_server,
        EmbeddingModelServicer(models, deadline_seconds=deadline_seconds),
        ROLES,
    )


def _state(state: ModelsState) -> pb.EmbeddingModelState:
    # A choice of a model that this process does not hold says nothing about it.
    choice = state.choice if state.choice is not None and state.choice.model == state.serving else None
    return pb.EmbeddingModelState(
        serving_model=state.serving,
        former_model=(choice.former or "") if choice is not None else "",
        change_time=timestamp(choice.change_time) if choice is not None else None,
        held_models=state.held,
        processes=[
            pb.EmbeddingModelProcess(
                process_id=holder.process_id,
                service=holder.service,
                held_models=holder.models,
                serving_model=holder.serving,
            )
            for holder in state.holders
        ],
    )
