"""From the messages of EmbeddingModelService to results."""

from __future__ import annotations

from mneme.gateway.v1 import embedding_model_pb2 as pb
from mneme_client import results_embedding_model as r
from mneme_client.from_wire import moment


def state(
    message: pb.GetEmbeddingModelResponse | pb.CutOverEmbeddingModelResponse,
) -> r.EmbeddingModelState:
    """How things stand."""
    found = message.state
    return r.EmbeddingModelState(
        serving_model=found.serving_model,
        former_model=found.former_model,
        change_time=moment(found, "change_time"),
        held_models=tuple(found.held_models),
        processes=tuple(
            r.EmbeddingModelProcess(one.process_id, one.service, tuple(one.held_models), one.serving_model)
            for one in found.processes
        ),
    )
