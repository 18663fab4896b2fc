"""The embedding model's tokenizer without the model: all that this tier needs of it."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.weights import locate_weights


class ModelTokenizer:
    """A `TokenCounter` by a tokenizer file. Thread-safe."""

    def __init__(self, file: Path) -> None:
        """Load a tokenizer.json.

        Raises:
            ModelUnavailableError: It cannot be read.
        """
        try:
            self._tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises bare Exception for every unreadable file
            raise ModelUnavailableError(f"{file} is not a tokenizer file") from error
        # Files come with the padding and truncation that suit the model, not the measuring of texts.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def count_tokens(self, text: str) -> int:
        """See `TokenCounter.count_tokens`."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def load_tokenizer(model_dir: Path | None) -> ModelTokenizer:
    """The tokenizer of a model folder, of the packaged model where None.

    Raises:
        ModelUnavailableError: There is none.
    """
    if model_dir is not None:
        return ModelTokenizer(model_dir / "tokenizer.json")
    return ModelTokenizer(locate_weights().tokenizer)
