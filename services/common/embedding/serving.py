"""An embedder over two models, of which one serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from services.common.embedding.embedder import Embedder
from services.common.embedding.tokens import TextEncoding, TokenSpace
from services.common.embedding.vectors import Matrix, Vector


class ServingEmbedder:
    """Embeds by whichever model serves at the call.

    What compares two results, or names the model of one, takes `pinned` first: the serving model may change between
    two calls.
    """

    def __init__(self, embedders: Mapping[str, Embedder], serving: Callable[[], str]) -> None:
        """Chooses among `embedders`, by fingerprint, the one that `serving` names; their owner closes them."""
        self.embedders = dict(embedders)
        self._serving = serving

    @property
    def pinned(self) -> Embedder:
        """The embedder of the model that serves now."""
        return self.embedders[self._serving()]

    @property
    def model_name(self) -> str:
        """See `Embedder.model_name`: of the serving model."""
        return self.pinned.model_name

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`: of the serving model."""
        return self.pinned.dimension

    @property
    def fingerprint(self) -> str:
        """See `Embedder.fingerprint`: of the serving model."""
        return self.pinned.fingerprint

    @property
    def tokens(self) -> TokenSpace | None:
        """See `Embedder.tokens`: of the serving model."""
        return self.pinned.tokens

    async def encode_query(self, text: str) -> TextEncoding:
        """See `Embedder.encode_query`."""
        return await self.pinned.encode_query(text)

    async def encode_documents(self, texts: Sequence[str]) -> Sequence[TextEncoding]:
        """See `Embedder.encode_documents`."""
        return await self.pinned.encode_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        """See `Embedder.embed_query`."""
        return await self.pinned.embed_query(text)

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder.embed_documents`."""
        return await self.pinned.embed_documents(texts)


def pinned(embedder: Embedder) -> Embedder:
    """The embedder of one model, for the length of a call: the one that serves now where there are two."""
    return embedder.pinned if isinstance(embedder, ServingEmbedder) else embedder


def every_model(embedder: Embedder) -> Sequence[Embedder]:
    """The embedders of all models that there are."""
    return list(embedder.embedders.values()) if isinstance(embedder, ServingEmbedder) else [embedder]
