"""Builds the embedder of a service from its settings."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from services.common.embedding.embedder import EmbedderSettings, OnnxEmbedder
from services.common.embedding.encoder import EncoderSettings, OnnxSentenceEncoder
from services.common.embedding.graph import ensure_model_folder
from services.common.embedding.weights import ALL_MINILM_L6_V2, PackagedWeights, locate_weights


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model is used and how it is run."""

    data_dir: Path
    """Folder of the installation; the packaged model is built into `models/` below it."""
    model_dir: Path | None = None
    """Folder with a ready ONNX model and tokenizer to use instead (`MNEME_EMBEDDING_MODEL_DIR`)."""
    packaged: PackagedWeights = ALL_MINILM_L6_V2
    """The model that is built when no folder is given."""
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    """How the model is run."""
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    """How work is cut and bounded."""


def load_encoder(settings: EmbeddingSettings) -> OnnxSentenceEncoder:
    """Load the model, building it first if need be (3 s, once). Blocks: call it before serving.

    Raises:
        ModelUnavailableError: There is no usable model.
    """
    folder = settings.model_dir or ensure_model_folder(
        locate_weights(settings.packaged), data_dir=settings.data_dir, max_tokens=settings.encoder.max_tokens
    )
    return OnnxSentenceEncoder(folder, settings.encoder)


def create_embedder(settings: EmbeddingSettings) -> OnnxEmbedder:
    """Return the embedder of a service; its owner closes it with `aclose`. Blocks like `load_encoder`.

    Raises:
        ModelUnavailableError: There is no usable model.
    """
    threads = settings.embedder.document_threads

    def load_copy() -> OnnxSentenceEncoder:
        return load_encoder(replace(settings, encoder=replace(settings.encoder, intra_op_threads=threads)))

    return OnnxEmbedder(load_encoder(settings), settings.embedder, load_copy=load_copy if threads else None)
