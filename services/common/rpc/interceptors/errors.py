"""Turns exceptions into statuses. What is not one of ours says nothing to the caller and everything to the log."""

from __future__ import annotations

from typing import Any, Final

import grpc
import structlog

from services.common.embedding.errors import EmbedderBusyError, EmbeddingError
from services.common.errors import LimitExceeded, StoreUnavailable
from services.common.errors_grpc import abort_with, status_code
from services.common.log_sampling import LogSampler
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

_log = structlog.get_logger("mneme.rpc")

_QUEUE: Final = "embedding.embedder.waiting_texts_max"
_RETRY_SECONDS: Final = 1.0


class ErrorInterceptor(AroundInterceptor):
    """Ends a call that failed with the status of its error."""

    def __init__(self) -> None:
        """Samples tracebacks by the class of the error."""
        self._sampler = LogSampler("call_failed")

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""

        async def serve(request: Any, context: Context) -> Any:
            try:
                return await call(request, context)
            except (grpc.aio.AbortError, grpc.aio.BaseError):
                raise  # the call has its status, or is gone
            except EmbedderBusyError as error:
                message = "too many texts wait to be embedded; try again later"
                refusal = LimitExceeded(_QUEUE, error.limit, message, retry_after_seconds=_RETRY_SECONDS)
                await abort_with(context, refusal)
            except EmbeddingError:
                if self._sampler.admits("embedding"):
                    _log.exception("embedding_failed", method=method.name)
                await abort_with(context, StoreUnavailable("embedder"))
            except Exception as error:
                # Cancellation is no Exception: it passes.
                if status_code(error) is grpc.StatusCode.INTERNAL and self._sampler.admits(type(error).__name__):
                    # Logged here once; the caller learns only that it happened.
                    _log.exception("call_failed", method=method.name)
                await abort_with(context, error)

        return serve
