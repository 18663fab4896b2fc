"""Composition root of the gateway."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial

import grpc

from services.common.auth import IdentitySigner
from services.common.background import BackgroundWork, every
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.embedding.serving import ServingEmbedder
from services.common.encryption.postgres import data_keys
from services.common.encryption.ring import DataKeyRing
from services.common.errors import MnemeError
from services.common.ids import IdSource
from services.common.maintenance.postgres import migrate_maintenance
from services.common.maintenance.purges import purges_after
from services.common.model_change import LACKING_MAX
from services.common.paging import PageTokens
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rates import RateLimiter, SharedRates
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.server import ServiceBinding, needing
from services.common.serving_model.following import ServingModel
from services.common.serving_model.postgres import PostgresServingModels
from services.common.tokens import token_counter
from services.gateway.activity_procedures import learn_from_activity
from services.gateway.audit.log import AuditLog
from services.gateway.audit.stores.postgres import PostgresAudit
from services.gateway.bindings import grant_binding, memory_bindings
from services.gateway.config import GatewaySettings, TierTargets
from services.gateway.context.service import ContextBuilder
from services.gateway.context_window.app import open_context_windows
from services.gateway.documents.app import open_documents
from services.gateway.door import Door
from services.gateway.embedding_model.service import EmbeddingModels, TierCheck
from services.gateway.embedding_model.servicer import embedding_model_binding
from services.gateway.erasure.app import open_erasure
from services.gateway.erasure.hiding import ErasedUsers, hiding
from services.gateway.erasure.runner import ErasureRunner
from services.gateway.erasure.steps import ErasureSteps
from services.gateway.erasure.stores.postgres import PostgresErasures
from services.gateway.erasure.stores.postgres_pending import PostgresPendingErasures
from services.gateway.grants.service import Grants
from services.gateway.grants.stores.postgres import PostgresGrants
from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.notice import JournalNotice, NoNotice, PostgresNotice
from services.gateway.journal.recall_log import RecallLog
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from services.gateway.journal.uses import UseReports
from services.gateway.maintenance.service import Maintaining
from services.gateway.maintenance.servicer import MaintenanceServicer, maintenance_binding
from services.gateway.marks import Marks, marked
from services.gateway.note_queries import SEARCH_NOTES, FirstPersonQueries
from services.gateway.own_methods import own_methods
from services.gateway.portability.service import Portability
from services.gateway.portability.servicer import portability_binding
from services.gateway.portability.stores.postgres import PostgresImports
from services.gateway.portability.tiers import all_records
from services.gateway.rates.postgres import PostgresDemand
from services.gateway.recall.answer.conflicts import ConflictResolution
from services.gateway.recall.pipeline import RecallPipeline, Stages
from services.gateway.recall.question.speakers import SpeakerNames
from services.gateway.recall.question.task_types import IntentClassifier
from services.gateway.recall.ranking.fitted import Rankers
from services.gateway.recall.stages.access import AccessRecorder
from services.gateway.recall.stages.coarse_search import CoarseSearch
from services.gateway.recall.stages.consistency import ConsistencyWait
from services.gateway.recall.stages.fetch import Fetch
from services.gateway.recall.stages.fusion import Fusion
from services.gateway.recall.stages.loadout import Loadout
from services.gateway.recall.stages.profile import CachedProfiles, ProfileStage
from services.gateway.recall.stages.rewriting import Rewriting, open_patterns
from services.gateway.recall.stages.sources import SourceTrusts
from services.gateway.recall.superseded import SupersededCache
from services.gateway.remembering import Remembering
from services.gateway.requests import RequestReader
from services.gateway.servicer import UseCases
from services.gateway.session_archive import SessionArchive
from services.gateway.sessions import SessionAccess
from services.gateway.sinks import all_sinks
from services.gateway.suggestions import GET_SUGGESTIONS, RecentQueries
from services.gateway.tokens import ConsistencyTokens
from services.gateway.upstream import TierChannels, Upstream


@dataclass(frozen=True, kw_only=True)
class GatewayResources:
    """What the gateway uses and others own."""

    embedder: Embedder  # makes the vectors of questions; the same model as the tiers'
    second_embedder: Embedder | None = None  # of a second model, while the model is being changed
    serving: ServingModel | None = None  # which of two models serves; None: the first one, for good
    clock: Clock
    ids: IdSource
    secret: bytes  # the service secret, the same in all services
    notice_dsn: str = ""  # connection URL for NOTIFY; empty where the gateway is alone
    rates: RateLimiter | None = None  # shared with other gateways
    key_ring: DataKeyRing | None = None  # encrypts content; None: it is stored as it is


@dataclass(frozen=True)
class Gateway:
    """The gateway, ready to be served."""

    bindings: tuple[ServiceBinding, ...]
    use_cases: UseCases


async def migrate_gateway(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Brings the gateway's schema up to date."""
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS, app_role=app_role)
    await migrate_maintenance(owner_dsn, app_role=app_role)  # it holds the choice of the embedding model


@contextlib.asynccontextmanager
async def open_gateway(
    pool: Pool,
    targets: TierTargets,
    resources: GatewayResources,
    settings: GatewaySettings | None = None,
    *,
    tls: TlsFiles | None = None,
    in_process: TierChannels | None = None,
) -> AsyncIterator[Gateway]:
    """The gateway on a journal whose schema is up to date; delivers in the background while it is open.

    Args:
        pool: Of the services' role.
        targets: Where the tiers are.
        resources: What others own.
        settings: Defaults where None.
        tls: Certificates to show to the tiers, and the authority to know them by.
        in_process: Channels to tiers of this process, used instead of sockets where the settings do not forbid it.
    """
    chosen = settings or GatewaySettings()
    serving, embedder = _serving_embedder(resources)
    async with contextlib.AsyncExitStack() as stack:
        direct = in_process if chosen.upstream.in_process else None
        channels = direct or _open_channels(stack, targets, tls)
        metadata = CallMetadata(IdentitySigner(resources.secret, clock=resources.clock))
        upstream = Upstream.over(channels, metadata)
        keys = data_keys(resources.key_ring, SCHEMA)
        journal = PostgresJournal(pool, clock=resources.clock, ids=resources.ids, settings=chosen.journal, keys=keys)

        archive = SessionArchive(
            upstream,
            journal,
            clock=resources.clock,
            on_archived=lambda: dispatcher.wake(),  # noqa: PLW0108 - it does not exist yet
        )
        sessions = SessionAccess(upstream, journal, archive, clock=resources.clock, settings=chosen.sessions)
        cache = OwnerCache()
        marks = Marks(upstream, SupersededCache(cache), resources.clock, chosen.marks)
        profiles = CachedProfiles(upstream, journal, chosen.recall, cache=cache)
        sinks = all_sinks(
            upstream,
            sessions,
            archive,
            on_change=profiles.expire,
            timeout_seconds=chosen.dispatcher.delivery_timeout.total_seconds(),
        )
        dispatcher = Dispatcher(queue=journal, sinks=sinks, clock=resources.clock, settings=chosen.dispatcher)
        stack.push_async_callback(_flush, dispatcher)
        stack.push_async_callback(sessions.aclose)
        background = await stack.enter_async_context(BackgroundWork[str]("gateway"))
        dispatcher.start(background)
        notice = _notice(background, resources, dispatcher, chosen)
        if resources.rates is not None:
            SharedRates(resources.rates, PostgresDemand(pool), resources.ids.new_id()).start(background)
        learning = learn_from_activity(upstream, profiles, chosen.activity_procedures, background)
        access = AccessRecorder(upstream, queue_max=chosen.recall.access_queue_max)
        bounds = chosen.recall
        recall_log = RecallLog(
            journal, resources.clock, queue_max=bounds.log_queue_max, wait_seconds=bounds.log_wait_seconds
        )
        stack.push_async_callback(recall_log.aclose)
        background.keep_running("record-access", access.run)
        background.keep_running("record-recalls", recall_log.run)
        UseReports(journal, upstream, resources.clock, chosen.uses).start(background)
        background.keep_running("archive-sessions", every(chosen.sessions.archive_seconds, archive.run_once))
        classifier = IntentClassifier(embedder, chosen.intent)
        background.keep_running("embed-examples", classifier.prepare)
        grants = Grants(
            PostgresGrants(pool, clock=resources.clock, ids=resources.ids, settings=chosen.grants),
            clock=resources.clock,
            settings=chosen.grants,
        )
        speakers = SpeakerNames(journal, keep_seconds=chosen.recall.speaker_cache_seconds)
        erasures = PostgresErasures(
            pool, clock=resources.clock, ids=resources.ids, audited_max=chosen.erasure.audited_max, keys=keys
        )
        steps = ErasureSteps(upstream, archive, (grants, speakers, profiles), chosen.erasure, learning.learn)
        runner = ErasureRunner(erasures, steps, clock=resources.clock, settings=chosen.erasure)
        runner.start(background)
        erased = ErasedUsers(PostgresPendingErasures(pool))
        erased.start(background, chosen.erasure.pending_poll_seconds)
        pipeline = RecallPipeline(
            Stages(
                consistency=ConsistencyWait(journal, dispatcher),
                speakers=speakers,
                embedder=embedder,
                coarse=CoarseSearch(upstream, sessions, chosen.recall, marks.cache),
                fusion=Fusion(chosen.evidence, chosen.derived, chosen.profiles, Rankers.open(chosen.rankers)),
                fetch=Fetch(upstream, chosen.recall),
                access=access,
                rewriting=Rewriting(open_patterns(chosen.rewriting), chosen.rewriting),
                loadout=Loadout(classifier, chosen.loadout),
                grants=grants,
                conflicts=ConflictResolution(chosen.conflicts),
                profile=ProfileStage(profiles, chosen.recall),
                trust=SourceTrusts(journal, chosen.recall),
                recall_log=recall_log,
            ),
            ids=resources.ids,
            settings=chosen.recall,
        )
        tokens = ConsistencyTokens(resources.secret)
        reader = RequestReader(chosen.limits, tokens)
        remembering = Remembering(journal, sessions, dispatcher, notice, recall_log, chosen.remember, chosen.admission)
        stack.push_async_callback(remembering.aclose)
        windows = open_context_windows(
            channels,
            metadata,
            journal,
            reader,
            resources.clock,
            chosen.context_window,
            on_archived=remembering.announce,
            deadline_seconds=chosen.deadline_seconds,
        )
        use_cases = UseCases(
            reader=reader,
            remembering=remembering,
            recall=pipeline,
            context=ContextBuilder(pipeline, token_counter(), chosen.context),
            sessions=sessions,
            archive=archive,
            journal=journal,
            upstream=upstream,
            tokens=tokens,
            pages=PageTokens(resources.secret),
            clock=resources.clock,
            prepare_context=windows.prepare,
            deadline_seconds=chosen.deadline_seconds,
        )
        door = Door(
            channels,
            metadata,
            grants,
            handlers=own_methods(use_cases, windows, grants),
            completions={
                GET_SUGGESTIONS: RecentQueries(recall_log, resources.clock, chosen.suggestions),
                SEARCH_NOTES: FirstPersonQueries(speakers),
            },
            check_user=use_cases.reader.user,
            on_change=profiles.expire,
            deadline_seconds=chosen.deadline_seconds,
        )
        tiers = all_records(pool, keys, channels, metadata, timeout_seconds=chosen.portability.page_timeout_seconds)
        portability = Portability(
            tiers,
            PostgresImports(pool, clock=resources.clock),
            archive,
            access,
            erasures,
            runner,
            resources.ids,
            chosen.portability,
        )
        services = (
            *memory_bindings(use_cases),
            open_documents(
                pool,
                keys,
                embedder,
                resources.clock,
                resources.ids,
                use_cases.pages,
                chosen.documents,
                background,
                id_chars_max=chosen.limits.journal.id_chars_max,
            ),
            portability_binding(portability, use_cases.reader, deadline_seconds=chosen.deadline_seconds),
            grant_binding(grants, use_cases, chosen),
            open_erasure(
                use_cases,
                erasures,
                runner,
                erased,
                embedder,
                chosen.erasure,
                id_chars_max=chosen.limits.journal.id_chars_max,
                purges_after=partial(purges_after, pool),
            ),
            embedding_model_binding(
                EmbeddingModels(PostgresServingModels(pool), serving, _model_checks(upstream), clock=resources.clock),
                deadline_seconds=use_cases.deadline_seconds,
            ),
            maintenance_binding(
                MaintenanceServicer(
                    Maintaining(upstream.maintenance), use_cases.pages, deadline_seconds=use_cases.deadline_seconds
                )
            ),
        )
        audit = AuditLog(
            PostgresAudit(pool), resources.clock, chosen.audit, resources.secret, use_cases.pages, recall_log.flush
        )
        stack.push_async_callback(audit.recorder.flush)
        audit.start(background)
        # A tier that is away degrades responses, and no more.
        served = (*needing(readiness_check(pool), services), *door.bindings())
        shown = [hiding(marked(binding, marks), erased) for binding in served]
        yield Gateway(audit.over(shown, readiness_check(pool)), use_cases)


def _model_checks(upstream: Upstream) -> Sequence[TierCheck]:
    """What must not be lacking for a cut-over to another embedding model."""
    return (
        TierCheck(upstream.episodic.count_lacking, "episodes of {} users", 100, "episodic.fill_second_index"),
        TierCheck(upstream.facts.count_lacking, "{} facts", LACKING_MAX, "semantic.fill_second_vectors"),
        TierCheck(upstream.notes.count_lacking, "{} notes", LACKING_MAX, "agentic.fill_second_vectors"),
    )


def _serving_embedder(resources: GatewayResources) -> tuple[ServingModel, Embedder]:
    """Which model serves, and the embedder that embeds by it."""
    first, second = resources.embedder, resources.second_embedder
    embedders = {each.fingerprint: each for each in (first, second) if each is not None}
    serving = resources.serving or ServingModel(tuple(embedders))
    return serving, first if second is None else ServingEmbedder(embedders, lambda: serving.current)


def _open_channels(stack: contextlib.AsyncExitStack, targets: TierTargets, tls: TlsFiles | None) -> TierChannels:
    def channel(target: str) -> grpc.aio.Channel:
        opened = open_channel(target, tls=tls)
        stack.push_async_callback(opened.close)
        return opened

    return TierChannels(
        session=channel(targets.session),
        episodic=channel(targets.episodic),
        semantic=channel(targets.semantic),
        agentic=channel(targets.agentic),
    )


async def _flush(dispatcher: Dispatcher) -> None:
    """Removes the last deliveries that were made directly; a repeat does no harm."""
    with contextlib.suppress(MnemeError):
        await dispatcher.flush()


def _notice(
    background: BackgroundWork[str],
    resources: GatewayResources,
    dispatcher: Dispatcher,
    settings: GatewaySettings,
) -> JournalNotice:
    if not resources.notice_dsn or not settings.tells_other_gateways:
        return NoNotice()
    notice = PostgresNotice(resources.notice_dsn, on_notice=dispatcher.wake, settings=settings.notice)
    background.keep_running("notice", notice.run)
    return notice
