"""Runs a cross-encoder: a model that reads a question and a text together and says how well the text answers.

Any ONNX export will do that takes pairs and gives one logit, or two of which the second one stands for "it does":
a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from tokenizers import Encoding

from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.runtime import find_model_files, load_session, load_tokenizer, pad_id

Scores = npt.NDArray[np.float32]

_KNOWN_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_OUTPUT: Final = "logits"
_WARM_UP_WORD: Final = "word "


class CrossEncodingFailedError(Exception):
    """A run of the model failed. Carries no text that a user wrote."""


class PairScorer(Protocol):
    """Tells how well texts answer a question."""

    async def score(self, question: str, texts: Sequence[str]) -> Scores:
        """Returns a logit for each text, in their order: higher is better, comparable within one call.

        Cancelling the call ends the work.

        Raises:
            CrossEncodingFailedError: The model could not be run.
        """
        ...

    async def aclose(self) -> None:
        """Ends the scorer, which nobody calls any more."""
        ...


class Interruption:
    """Ends a run of the model from another thread."""

    def __init__(self) -> None:
        """Nothing is ended yet."""
        self.run_options: Final = ort.RunOptions()
        self.is_set = False

    def set(self) -> None:
        """Ends the run that is under way, and all that are to come."""
        self.is_set = True
        self.run_options.terminate = True


class OnnxCrossEncoder:
    """Scores pairs on onnxruntime, synchronously. Calls may come from any thread."""

    def __init__(self, folder: Path, *, max_tokens: int = 256, batch_size: int = 8, threads: int = 2) -> None:
        """Loads a model and runs it once with the longest pair, which tells whether it fits, and warms it up.

        Args:
            folder: Folder with the ONNX model and its tokenizer.
            max_tokens: Word pieces of a pair, special tokens included. Of longer ones the longer text is cut.
            batch_size: Pairs in one run.
            threads: Threads inside one run.

        Raises:
            ModelUnavailableError: A file is missing, cannot be loaded, or the model is of another kind.
        """
        model_file, tokenizer_file = find_model_files(folder)
        self._batch_size = batch_size
        self._tokenizer = load_tokenizer(tokenizer_file)
        self._tokenizer.enable_truncation(max_tokens)
        self._pad_id = pad_id(self._tokenizer)
        self._session = load_session(model_file, threads=threads)
        inputs = {node.name for node in self._session.get_inputs()}
        if not {"input_ids", "attention_mask"} <= inputs <= _KNOWN_INPUTS:
            raise ModelUnavailableError(f"{model_file} takes {sorted(inputs)}, not the inputs of a cross-encoder")
        self._takes_token_types = "token_type_ids" in inputs
        outputs = [node.name for node in self._session.get_outputs()]
        self._output = _OUTPUT if _OUTPUT in outputs else outputs[0]
        try:
            self.score(_WARM_UP_WORD, [_WARM_UP_WORD * max_tokens, _WARM_UP_WORD])
        except CrossEncodingFailedError as error:
            raise ModelUnavailableError(
                f"{model_file} gives no logit for a pair of {max_tokens} tokens: {error}"
            ) from error

    def score(self, question: str, texts: Sequence[str], interruption: Interruption | None = None) -> Scores:
        """Returns a logit for each text: float32 `[n]`; see `PairScorer.score`.

        Texts of like length share a batch. Alone or in a batch a text's logit is the same up to float rounding.
        """
        ends = interruption or Interruption()
        try:
            pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        except Exception as error:  # the library raises bare Exception, for a limit that holds no pair for example
            raise CrossEncodingFailedError("pairs cannot be cut into tokens") from error
        order = sorted(range(len(texts)), key=lambda index: len(pairs[index].ids))
        logits = np.zeros(len(texts), dtype=np.float32)
        for start in range(0, len(order), self._batch_size):
            if ends.is_set:
                raise CrossEncodingFailedError("interrupted")
            batch = order[start : start + self._batch_size]
            logits[batch] = self._run([pairs[index] for index in batch], ends)
        return logits

    def _run(self, pairs: Sequence[Encoding], ends: Interruption) -> Scores:
        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        input_ids = np.full(shape, self._pad_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, pair in enumerate(pairs):
            input_ids[row, : len(pair.ids)] = pair.ids
            mask[row, : len(pair.ids)] = 1
            types[row, : len(pair.ids)] = pair.type_ids
        feed = {"input_ids": input_ids, "attention_mask": mask}
        if self._takes_token_types:
            feed["token_type_ids"] = types
        try:
            (output,) = self._session.run([self._output], feed, ends.run_options)
        except Exception as error:  # onnxruntime has a class per failure and no public root of them
            raise CrossEncodingFailedError(f"a run of {len(pairs)} pairs failed") from error
        return _logits(output, len(pairs))


class ThreadedCrossEncoder:
    """A cross-encoder on a thread of its own, so that the event loop goes on; a `PairScorer`."""

    def __init__(self, encoder: OnnxCrossEncoder) -> None:
        """One call after another: runs beside each other would only take each other's cores."""
        self._encoder = encoder
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mneme-cross-encoder")

    async def score(self, question: str, texts: Sequence[str]) -> Scores:
        """See `PairScorer.score`. A call that is cancelled before its turn costs nothing."""
        interruption = Interruption()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, self._encoder.score, question, texts, interruption)
        finally:
            interruption.set()

    async def aclose(self) -> None:
        """See `PairScorer.aclose`."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


def _logits(output: Any, count: int) -> Scores:
    """One logit for each pair: the only one, or the odds of "it does" against "it does not"."""
    table: Scores = np.asarray(output, dtype=np.float32).reshape(count, -1)
    if table.shape[1] not in {1, 2}:
        raise CrossEncodingFailedError(f"the model gives {table.shape[1]} values for a pair, not one or two logits")
    logits: Scores = table[:, 0] if table.shape[1] == 1 else table[:, 1] - table[:, 0]
    if not np.isfinite(logits).all():
        raise CrossEncodingFailedError("the model gives logits that are no numbers")
    return logits
