"""Runs a sentence encoder on onnxruntime, synchronously.

A model is a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`: one that we built, or
any sentence-transformers export. Models differ in three ways that are read from the folder itself:
whether they take `token_type_ids`, whether they pool by themselves, and how (mean or first token).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from tokenizers import Tokenizer

from services.common.embedding.errors import EmbeddingFailedError, ModelUnavailableError
from services.common.embedding.graph import MANIFEST_FILE
from services.common.embedding.vectors import Matrix
from services.common.embedding.weights import sha256_of
from services.common.settings_types import Count

_POOLED_OUTPUTS: Final = ("sentence_embedding",)
_TOKEN_OUTPUTS: Final = ("token_embeddings", "last_hidden_state")
_KNOWN_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx")
_WARM_UP_TEXT: Final = "This is an example sentence"


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How a model is run; none of these changes which vectors may be compared."""

    max_tokens: Count = 256
    """Word pieces of a text that are read, special tokens included; the rest is cut. MiniLM's own limit."""
    batch_size: Count = 32
    """Texts in one run of the model; more brings no speed and takes memory."""
    intra_op_threads: Count = 2
    """Threads inside one run. Two halve the time of a query on two cores."""
    allow_spinning: bool = False
    """Whether idle model threads burn their core for a while to start sooner. Measured on two shared cores:
    a query takes 3.3 instead of 4.8 ms, and 17 instead of 5 ms of processor time."""


@dataclass(frozen=True, slots=True)
class _ModelFolder:
    """What a model folder says about itself."""

    model_name: str
    fingerprint: str
    model_file: Path
    tokenizer_file: Path
    max_tokens: int | None
    first_token_pooling: bool


class OnnxSentenceEncoder:
    """Turns texts into vectors of length 1, and counts tokens with the model's own tokenizer.

    Calls may come from any thread; runs of the model are safe beside each other but share its threads.
    """

    def __init__(self, folder: Path, settings: EncoderSettings | None = None) -> None:
        """Load a model and run it once, so that the first query does not pay for the warming up.

        Args:
            folder: Folder with the ONNX model and its tokenizer.
            settings: How to run it.

        Raises:
            ModelUnavailableError: A file is missing, cannot be loaded, or the model is of another kind.
        """
        self._settings = settings or EncoderSettings()
        described = _describe(folder)
        self.model_name: Final = described.model_name
        self.fingerprint: Final = described.fingerprint
        self._first_token_pooling = described.first_token_pooling
        limits = [self._settings.max_tokens, *([described.max_tokens] if described.max_tokens else [])]
        self.max_tokens: Final = min(limits)
        self._tokenizer = _load_tokenizer(described.tokenizer_file)
        self._tokenizer.enable_truncation(self.max_tokens)
        self._counter = _load_tokenizer(described.tokenizer_file)
        self._pad_id = _pad_id(self._tokenizer)
        self._session = _load_session(described.model_file, self._settings)
        self._takes_token_types = self._check_inputs(described.model_file)
        self._output, self._pooled = self._choose_output(described.model_file)
        self.dimension: Final = int(self.encode([_WARM_UP_TEXT]).shape[1])

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per text, in the order of the texts: float32 `[n, dimension]`.

        Texts of like length share a batch, so that little of the work is padding. An empty text has a
        vector too (that of the special tokens alone). Alone or in a batch a text's vector is the same
        up to float rounding (1e-6).

        Raises:
            EmbeddingFailedError: The model could not be run.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        token_ids: list[list[int]] = [encoding.ids for encoding in encodings]
        order = sorted(range(len(texts)), key=lambda index: len(token_ids[index]))
        size = self._settings.batch_size
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        sorted_vectors = np.concatenate([self._run([token_ids[row] for row in batch]) for batch in batches])
        vectors = np.empty_like(sorted_vectors)
        vectors[order] = sorted_vectors
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return how many word pieces the text has, without special tokens and without any limit."""
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def _run(self, token_ids: Sequence[Sequence[int]]) -> Matrix:
        longest = max(1, *(len(ids) for ids in token_ids))
        input_ids = np.full((len(token_ids), longest), self._pad_id, dtype=np.int64)
        mask = np.zeros((len(token_ids), longest), dtype=np.int64)
        for row, ids in enumerate(token_ids):
            input_ids[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        feed = {"input_ids": input_ids, "attention_mask": mask}
        if self._takes_token_types:
            feed["token_type_ids"] = np.zeros_like(input_ids)
        try:
            output: Matrix = self._session.run([self._output], feed)[0]
        except Exception as error:  # onnxruntime has a class per failure and no public root of them
            raise EmbeddingFailedError(f"{self.model_name} could not be run on {len(token_ids)} texts") from error
        if not self._pooled:
            output = self._pool(output, mask)
        return _unit_rows(output)

    def _pool(self, tokens: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> Matrix:
        if self._first_token_pooling:
            return tokens[:, 0]
        weights = mask.astype(np.float32)[:, :, np.newaxis]
        pooled: Matrix = (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        return pooled

    def _check_inputs(self, file: Path) -> bool:
        names = {node.name for node in self._session.get_inputs()}
        if not {"input_ids", "attention_mask"} <= names <= _KNOWN_INPUTS:
            raise ModelUnavailableError(f"{file} takes {sorted(names)}, not the inputs of a sentence encoder")
        return "token_type_ids" in names

    def _choose_output(self, file: Path) -> tuple[str, bool]:
        names = [node.name for node in self._session.get_outputs()]
        for candidates, pooled in ((_POOLED_OUTPUTS, True), (_TOKEN_OUTPUTS, False)):
            for name in candidates:
                if name in names:
                    return name, pooled
        raise ModelUnavailableError(f"{file} gives {names}, none of which is a sentence or token embedding")


def _unit_rows(vectors: Matrix) -> Matrix:
    scaled: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled.astype(np.float32, copy=False)


def _describe(folder: Path) -> _ModelFolder:
    model_file = next((folder / name for name in _MODEL_FILES if (folder / name).is_file()), None)
    tokenizer_file = folder / "tokenizer.json"
    if model_file is None or not tokenizer_file.is_file():
        raise ModelUnavailableError(f"{folder} needs model.onnx (or onnx/model.onnx) and tokenizer.json")
    manifest = _read_json(folder / MANIFEST_FILE)
    limits = _read_json(folder / "sentence_bert_config.json")
    limit = manifest.get("max_tokens") or limits.get("max_seq_length")
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    return _ModelFolder(
        model_name=str(manifest.get("model_name") or folder.resolve().name),
        fingerprint=str(manifest.get("fingerprint") or _fingerprint_files(folder, model_file)),
        model_file=model_file,
        tokenizer_file=tokenizer_file,
        max_tokens=int(limit) if limit else None,
        first_token_pooling=bool(pooling.get("pooling_mode_cls_token", False)),
    )


def _fingerprint_files(folder: Path, model_file: Path) -> str:
    """Identify a user's model by its bytes: graph, external weights, tokenizer."""
    files = [*sorted(model_file.parent.glob(f"{model_file.name}*")), folder / "tokenizer.json"]
    return "-".join(sha256_of(file)[:16] for file in files if file.is_file())


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelUnavailableError(f"{path} is not JSON") from error
    return content if isinstance(content, dict) else {}


def _load_tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for every unreadable file
        raise ModelUnavailableError(f"{path} is not a tokenizer file") from error
    # The file's own padding to a fixed length would make a query of ten tokens cost as much as 128.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _pad_id(tokenizer: Tokenizer) -> int:
    for token in ("[PAD]", "<pad>"):
        identity = tokenizer.token_to_id(token)
        if identity is not None:
            return int(identity)
    return 0


def _load_session(file: Path, settings: EncoderSettings) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = settings.intra_op_threads
    options.inter_op_num_threads = 1
    spinning = "1" if settings.allow_spinning else "0"
    options.add_session_config_entry("session.intra_op.allow_spinning", spinning)
    try:
        return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class per failure and no public root of them
        raise ModelUnavailableError(f"{file} cannot be loaded by onnxruntime") from error
