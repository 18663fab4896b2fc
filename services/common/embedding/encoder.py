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
from tokenizers import Encoding

from services.common.embedding.errors import EmbeddingFailedError, ModelUnavailableError
from services.common.embedding.graph import MANIFEST_FILE
from services.common.embedding.projection import TokenProjection, find_projection
from services.common.embedding.runtime import find_model_files, load_session, load_tokenizer, pad_id
from services.common.embedding.tokens import TOKEN_ID_MAX, TextEncoding, TokenSpace, TokenVectors, split_tokens
from services.common.embedding.vectors import Matrix
from services.common.embedding.weights import sha256_of
from services.common.settings_types import Count

_POOLED_OUTPUTS: Final = ("sentence_embedding",)
_TOKEN_OUTPUTS: Final = ("token_embeddings", "last_hidden_state")
_KNOWN_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_SENTENCE_ENDS: Final = (".", "?", "!")
_RUN_TOKENS: Final = 64
"""Tokens that take as long as the fixed work of one more run."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """What one run of the model gave."""

    vectors: Matrix  # [texts, dimension], of length 1
    tokens: Sequence[TokenVectors] | None


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
        self._tokenizer = load_tokenizer(described.tokenizer_file)
        self._tokenizer.enable_truncation(self.max_tokens)
        self._pad_id = pad_id(self._tokenizer)
        self._session = load_session(
            described.model_file,
            threads=self._settings.intra_op_threads,
            allow_spinning=self._settings.allow_spinning,
        )
        self._takes_token_types = self._check_inputs(described.model_file)
        self._output, self._pooled = self._choose_output(described.model_file)
        self._token_output: str | None = None
        self._projection = self._find_projection(folder)
        self.tokens: Final = self._token_space()
        self.dimension: Final = int(self._run([self._tokenizer.encode(_WARM_UP_TEXT)]).vectors.shape[1])

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per text, in the order of the texts: float32 `[n, dimension]`.

        Texts of like length share a batch, so that little of the work is padding. An empty text has a
        vector too (that of the special tokens alone). Alone or in a batch a text's vector is the same
        up to float rounding (1e-6).

        Raises:
            EmbeddingFailedError: The model could not be run.
        """
        encodings = self.encode_with_tokens(texts)
        if not encodings:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([encoding.vector for encoding in encodings])

    def encode_with_tokens(self, texts: Sequence[str]) -> list[TextEncoding]:
        """Return the vector and the token vectors of each text, both of one run of the model. See `encode`.

        Token vectors are those of the text's own word pieces, without special ones; of a text that is cut, those of
        what is read. None where the model has none, or no projection.

        Raises:
            EmbeddingFailedError: The model could not be run.
        """
        pieces = self._tokenizer.encode_batch_fast(list(texts))
        found: dict[int, TextEncoding] = {}
        for batch in batches_of_like_length([len(piece.ids) for piece in pieces], texts_max=self._settings.batch_size):
            run = self._run([pieces[index] for index in batch])
            for row, index in enumerate(batch):
                # A copy: a view would keep the whole run's matrix alive.
                found[index] = TextEncoding(run.vectors[row].copy(), run.tokens[row] if run.tokens else None)
        return [found[index] for index in range(len(texts))]

    def _run(self, texts: Sequence[Encoding]) -> _Run:
        longest = max(1, *(len(text.ids) for text in texts))
        input_ids = np.full((len(texts), longest), self._pad_id, dtype=np.int64)
        mask = np.zeros((len(texts), longest), dtype=np.int64)
        for row, text in enumerate(texts):
            input_ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
        feed = {"input_ids": input_ids, "attention_mask": mask}
        if self._takes_token_types:
            feed["token_type_ids"] = np.zeros_like(input_ids)
        # The same output is not to be asked for twice.
        names = dict.fromkeys(name for name in (self._output, self._token_output) if name)
        try:
            outputs = dict(zip(names, self._session.run(list(names), feed), strict=True))
        except Exception as error:  # onnxruntime has a class per failure and no public root of them
            raise EmbeddingFailedError(f"{self.model_name} could not embed {len(texts)} texts") from error
        output: Matrix = outputs[self._output]
        if not self._pooled:
            output = self._pool(output, mask)
        tokens = None
        if self._projection is not None and self._token_output:
            tokens = self._compact(outputs[self._token_output], texts, self._projection)
        return _Run(_unit_rows(output), tokens)

    def _compact(
        self, hidden: npt.NDArray[np.float32], texts: Sequence[Encoding], projection: TokenProjection
    ) -> list[TokenVectors]:
        """Return the token vectors of texts from the model's last layer: `[texts, longest, hidden]`."""
        own = np.zeros(hidden.shape[:2], dtype=np.bool_)
        ids: list[int] = []
        counts: list[int] = []
        for row, text in enumerate(texts):
            is_own = np.array(text.special_tokens_mask, dtype=np.int8) == 0
            own[row, : is_own.size] = is_own
            ids += [token_id for token_id, keep in zip(text.ids, is_own, strict=True) if keep]
            counts.append(int(is_own.sum()))
        fingerprint = f"{self.fingerprint}+{projection.fingerprint}"
        return split_tokens(fingerprint, np.array(ids, dtype=np.uint16), projection.apply(hidden[own]), counts)

    def _find_projection(self, folder: Path) -> TokenProjection | None:
        outputs = {node.name: node.shape for node in self._session.get_outputs()}
        name = next((name for name in _TOKEN_OUTPUTS if name in outputs), None)
        if name is None or self._tokenizer.get_vocab_size() > TOKEN_ID_MAX + 1:
            return None
        # Graphs need not say how wide their outputs are: the projection is tried on a run then.
        width = outputs[name][-1] if outputs[name] else None
        if not isinstance(width, int):
            run = self._session.run([name], self._feed_of_one_text())
            width = int(run[0].shape[-1])
        projection = find_projection(self.model_name, model_folder=folder, hidden=width)
        self._token_output = name if projection is not None else None
        return projection

    def _feed_of_one_text(self) -> dict[str, npt.NDArray[np.int64]]:
        ids = np.array([self._tokenizer.encode(_WARM_UP_TEXT).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        return feed | {"token_type_ids": np.zeros_like(ids)} if self._takes_token_types else feed

    def _token_space(self) -> TokenSpace | None:
        if self._projection is None:
            return None
        ends = (self._tokenizer.token_to_id(token) for token in _SENTENCE_ENDS)
        return TokenSpace(
            fingerprint=f"{self.fingerprint}+{self._projection.fingerprint}",
            dimension=self._projection.dimension,
            sentence_ends=tuple(token_id for token_id in ends if token_id is not None),
        )

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


def batches_of_like_length(lengths: Sequence[int], *, texts_max: int) -> list[list[int]]:
    """Return the places of texts in batches: all texts of a batch are computed at the length of its longest.

    Args:
        lengths: Of the texts, in tokens.
        texts_max: Of a batch.
    """
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        batch = batches[-1] if batches else []
        padding = len(batch) * (lengths[place] - lengths[batch[-1]]) if batch else 0
        if not batch or len(batch) == texts_max or padding > _RUN_TOKENS:
            batches.append([place])
        else:
            batch.append(place)
    return batches


def _unit_rows(vectors: Matrix) -> Matrix:
    scaled: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled.astype(np.float32, copy=False)


def _describe(folder: Path) -> _ModelFolder:
    model_file, tokenizer_file = find_model_files(folder)
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
