"""Turns exceptions into statuses. What is not one of ours says nothing to the caller and everything to the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import structlog

from services.common.embedding.errors import EmbedderBusyError, EmbeddingError
from services.common.errors import DeadlineExceeded, LimitExceeded, MnemeError, Reason, StoreUnavailable
from services.common.errors_grpc import abort_with
from services.common.rpc.interceptors.around import AroundInterceptor, Context

_log = structlog.get_logger("mneme.rpc")


class ErrorInterceptor(AroundInterceptor):
    """Ends a call that failed with the status of its error."""

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        try:
            yield
        except MnemeError as error:
            await abort_with(context, error)
        except TimeoutError:
            await abort_with(context, DeadlineExceeded("the call's time ran out"))
        except EmbedderBusyError:
            await abort_with(context, LimitExceeded("embedding_queue", 0, "too many texts wait to be embedded"))
        except EmbeddingError:
            _log.exception("embedding_failed", method=method)
            await abort_with(context, StoreUnavailable("embedder"))
        except (grpc.aio.AbortError, grpc.aio.BaseError):
            raise
        except Exception:
            # Logged here once; the caller learns only that it happened. Cancellation is no Exception.
            _log.exception("call_failed", method=method)
            await abort_with(context, MnemeError("internal error", reason=Reason.INTERNAL))
