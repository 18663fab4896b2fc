"""Composes the service of erasures."""

from __future__ import annotations

from services.common.embedding.embedder import Embedder
from services.common.rpc.server import ServiceBinding
from services.gateway.erasure.candidates import Candidates
from services.gateway.erasure.correcting import Correcting
from services.gateway.erasure.derived import DerivedMemories
from services.gateway.erasure.forgetting import Forgetting
from services.gateway.erasure.hiding import ErasedUsers
from services.gateway.erasure.model import ErasureSettings
from services.gateway.erasure.requests import ErasureRequestReader
from services.gateway.erasure.runner import ErasureRunner
from services.gateway.erasure.service import Erasing
from services.gateway.erasure.servicer import ErasureServicer, PurgesAfter, erasure_binding
from services.gateway.erasure.stores.postgres import PostgresErasures
from services.gateway.servicer import UseCases


def open_erasure(
    use_cases: UseCases,
    erasures: PostgresErasures,
    runner: ErasureRunner,
    erased: ErasedUsers,
    embedder: Embedder,
    settings: ErasureSettings,
    *,
    id_chars_max: int,
    purges_after: PurgesAfter,
) -> ServiceBinding:
    """Erase, Forget and Correct, for a server.

    Args:
        use_cases: Of the gateway: recalls, writes, tokens.
        erasures: Tombstones and receipts.
        runner: Carries erasures out in the background.
        erased: Hides users who are being erased.
        embedder: Makes the vectors of what shall be found.
        settings: Bounds.
        id_chars_max: Length of user ids and request ids.
        purges_after: What becomes of files after an erasure.
    """
    derived = DerivedMemories(use_cases.upstream, timeout_seconds=use_cases.deadline_seconds)
    erasing = Erasing(erasures, runner, derived, settings, erased)
    candidates = Candidates(erasures, use_cases.recall, embedder, use_cases.clock, settings)
    servicer = ErasureServicer(
        erasing,
        Forgetting(erasing, candidates, use_cases.pages, use_cases.clock),
        Correcting(use_cases.upstream, use_cases.remembering, candidates, erasures, embedder, settings),
        ErasureRequestReader(settings, id_chars_max=id_chars_max),
        tokens=use_cases.tokens,
        pages=use_cases.pages,
        clock=use_cases.clock,
        deadline_seconds=use_cases.deadline_seconds,
        purges_after=purges_after,
    )
    return erasure_binding(servicer)
