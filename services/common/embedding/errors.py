"""What can go wrong while a model is prepared or run."""


class EmbeddingError(Exception):
    """Root of the errors of this package. Carries no text that a user wrote."""


class ModelUnavailableError(EmbeddingError):
    """The weights or the model folder are absent, incomplete, damaged, or of a shape we cannot run."""


class EmbedderBusyError(EmbeddingError):
    """More texts wait for the model than the bound allows; try again later."""

    def __init__(self, message: str = "", *, limit: int = 0) -> None:
        """Says how many texts may wait."""
        super().__init__(message)
        self.limit = limit


class EmbedderClosedError(EmbeddingError):
    """The embedder was closed while, or before, the text was embedded."""


class EmbeddingFailedError(EmbeddingError):
    """The model was loaded but a run of it failed, for want of memory for example."""
