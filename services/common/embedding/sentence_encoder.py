"""The port of the embedding model."""

from collections.abc import Sequence
from typing import Protocol

from services.common.embedding.tokens import TextEncoding, TokenSpace


class SentenceEncoder(Protocol):
    """A model that is run synchronously; `OnnxSentenceEncoder` is one. Must be callable from any thread."""

    @property
    def model_name(self) -> str:
        """Name of the model."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identity of the vector space."""
        ...

    @property
    def tokens(self) -> TokenSpace | None:
        """The space of the token vectors that it gives; None where it gives none."""
        ...

    def encode_with_tokens(self, texts: Sequence[str]) -> Sequence[TextEncoding]:
        """Return vector and token vectors of each text, in order."""
        ...
