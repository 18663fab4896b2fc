"""The tiers as takers of deliveries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from mneme.agentic.internal.v1 import notes_pb2
from mneme.common.internal.v1 import interactions_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from services.common.convert import scope_to_proto, turn_to_proto
from services.common.errors import Conflict, DeadlineExceeded, LimitExceeded, MnemeError, StoreUnavailable
from services.common.errors_grpc import from_item_status
from services.common.turns import MessageRole
from services.gateway.erasure.marking import corrected_by, mark
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.dispatcher import PERMANENT_REASONS, DeliverySink
from services.gateway.journal.model import (
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    Feedback,
    Interaction,
    RecallRecord,
    SessionEvent,
    Tier,
)
from services.gateway.recall_judgement import recall_judgement
from services.gateway.session_archive import SessionArchive
from services.gateway.sessions import SessionAccess, session_turn
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_Result: TypeAlias = (
    episodic_internal_pb2.StoreEpisodeResult | semantic_pb2.ExtractFactsResult | notes_pb2.GenerateNotesResult
)


def all_sinks(
    upstream: Upstream,
    sessions: SessionAccess,
    archive: SessionArchive,
    *,
    on_change: Callable[[str, str], None],
    timeout_seconds: float,
) -> dict[Tier, DeliverySink]:
    """Where the deliveries of each tier go; `on_change` is called with tenant and user where a profile may change."""
    return {
        Tier.SESSION: SessionSink(sessions, archive, timeout_seconds=timeout_seconds),
        Tier.EPISODIC: EpisodicSink(upstream, timeout_seconds=timeout_seconds),
        Tier.SEMANTIC: SemanticSink(upstream, on_change=on_change, timeout_seconds=timeout_seconds),
        Tier.AGENTIC: AgenticSink(upstream, timeout_seconds=timeout_seconds),
        Tier.PROFILE: ProfileSink(upstream, on_change=on_change, timeout_seconds=timeout_seconds),
    }


class SessionSink:
    """Puts turns into their sessions, and events of sessions that were set aside into the log."""

    def __init__(self, sessions: SessionAccess, archive: SessionArchive, *, timeout_seconds: float) -> None:
        """One call for each conversation."""
        self._sessions = sessions
        self._archive = archive
        self._timeout_seconds = timeout_seconds

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink.deliver`."""
        principal = worker_principal(tenant_id)
        done: list[Delivery] = []
        failed: list[DeliveryFailure] = []
        for delivery in deliveries:
            if isinstance(delivery.subject, SessionEvent):
                await self._archive.deliver(delivery.subject)
                done.append(delivery)
        for group in _by_conversation([d for d in deliveries if isinstance(d.subject, Interaction)]):
            interactions = [_interaction(delivery) for delivery in group]
            first = interactions[0]
            try:
                await self._sessions.append_turns(
                    principal,
                    first.user_id,
                    first.conversation_id,
                    [session_turn(interaction) for interaction in interactions],
                    timeout_seconds=self._timeout_seconds,
                )
            except StoreUnavailable:
                raise
            except MnemeError as error:
                failed += [DeliveryFailure(d, str(error.reason), error.reason in PERMANENT_REASONS) for d in group]
            else:
                done += group
        return DeliveryOutcome(tuple(done), tuple(failed))


class EpisodicSink:
    """Stores interactions as episodes, and feedback on them."""

    def __init__(self, upstream: Upstream, *, timeout_seconds: float) -> None:
        """A delivery is done when its episode can be found."""
        self._upstream = upstream
        self._timeout_seconds = timeout_seconds

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink.deliver`."""
        interactions = _said(deliveries)
        stored = await self._store(tenant_id, interactions) if interactions else DeliveryOutcome()
        return stored + await _judge(deliveries, MemoryKind.EPISODE, self._record_feedback)

    async def _store(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        request = episodic_internal_pb2.StoreEpisodesRequest(
            episodes=[_new_episode(_interaction(delivery)) for delivery in deliveries], wait_until_active=True
        )
        response = await self._upstream.episodic.store(
            worker_principal(tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        return _outcome(deliveries, response.results)

    async def _record_feedback(self, feedback: Feedback, episode_ids: Sequence[str]) -> None:
        request = episodic_internal_pb2.RecordFeedbackRequest(
            request_id=feedback.feedback_id,
            user_id=feedback.user_id,
            episode_ids=episode_ids,
            feedback=feedback.value,
        )
        await self._upstream.episodic.record_feedback(
            worker_principal(feedback.tenant_id), request, timeout_seconds=self._timeout_seconds
        )


class SemanticSink:
    """Has facts extracted and judged and procedures learned, and marks what turns correct."""

    def __init__(self, upstream: Upstream, *, on_change: Callable[[str, str], None], timeout_seconds: float) -> None:
        """One call for a batch, and one for each judgement; calls `on_change` with tenant and user after a batch."""
        self._upstream = upstream
        self._on_change = on_change
        self._timeout_seconds = timeout_seconds

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink.deliver`."""
        interactions = _said(deliveries)
        extracted = await self._extract(tenant_id, interactions) if interactions else DeliveryOutcome()
        return extracted + await _judge(deliveries, MemoryKind.FACT, self._record_feedback)

    async def _extract(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        for delivery in deliveries:
            await self._mark(_interaction(delivery))
        response = await self._upstream.facts.extract(
            worker_principal(tenant_id),
            semantic_pb2.ExtractFactsRequest(interactions=[source_interaction(_interaction(d)) for d in deliveries]),
            timeout_seconds=self._timeout_seconds,
        )
        for user_id in {delivery.subject.user_id for delivery in deliveries}:
            self._on_change(tenant_id, user_id)
        return _outcome(deliveries, response.results)

    async def _record_feedback(self, feedback: Feedback, fact_ids: Sequence[str]) -> None:
        request = semantic_pb2.RecordFeedbackRequest(
            request_id=feedback.feedback_id, user_id=feedback.user_id, fact_ids=fact_ids, feedback=feedback.value
        )
        await self._upstream.facts.record_feedback(
            worker_principal(feedback.tenant_id), request, timeout_seconds=self._timeout_seconds
        )

    async def _mark(self, interaction: Interaction) -> None:
        if corrected := corrected_by(interaction.turn.metadata):
            await mark(
                self._upstream,
                worker_principal(interaction.tenant_id),
                interaction.user_id,
                interaction.interaction_id,
                corrected,
                right=interaction.turn.content,
                timeout_seconds=self._timeout_seconds,
            )


class ProfileSink:
    """Has the profile learn from interactions, and from feedback on them."""

    def __init__(self, upstream: Upstream, *, on_change: Callable[[str, str], None], timeout_seconds: float) -> None:
        """One call for a batch, and one for each judgement; calls `on_change` with tenant and user after each."""
        self._upstream = upstream
        self._on_change = on_change
        self._timeout_seconds = timeout_seconds

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink.deliver`."""
        principal = worker_principal(tenant_id)
        said = _said(deliveries)
        if said:
            await self._upstream.profile.observe(
                principal,
                semantic_pb2.ObserveInteractionsRequest(
                    interactions=[source_interaction(_interaction(delivery)) for delivery in said]
                ),
                timeout_seconds=self._timeout_seconds,
            )
        judged = await _judge(deliveries, MemoryKind.EPISODE, self._judge_interactions)
        for delivery in deliveries:
            if isinstance(delivery.subject, Feedback) and delivery.subject.recall is not None:
                await self._judge_recall(delivery.subject, delivery.subject.recall)
        for user_id in {delivery.subject.user_id for delivery in deliveries}:
            self._on_change(tenant_id, user_id)
        return DeliveryOutcome(done=tuple(said)) + judged

    async def _judge_interactions(self, feedback: Feedback, interaction_ids: Sequence[str]) -> None:
        request = semantic_pb2.JudgeInteractionsRequest(
            user_id=feedback.user_id, interaction_ids=interaction_ids, feedback=feedback.value
        )
        await self._upstream.profile.judge(
            worker_principal(feedback.tenant_id), request, timeout_seconds=self._timeout_seconds
        )

    async def _judge_recall(self, feedback: Feedback, recall: RecallRecord) -> None:
        await self._upstream.profile.judge_recall(
            worker_principal(feedback.tenant_id),
            recall_judgement(feedback, recall),
            timeout_seconds=self._timeout_seconds,
        )


class AgenticSink:
    """Has notes generated and judged."""

    def __init__(self, upstream: Upstream, *, timeout_seconds: float) -> None:
        """One call for a batch, and one for each judgement."""
        self._upstream = upstream
        self._timeout_seconds = timeout_seconds

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink.deliver`."""
        interactions = _said(deliveries)
        generated = await self._generate(tenant_id, interactions) if interactions else DeliveryOutcome()
        return generated + await _judge(deliveries, MemoryKind.NOTE, self._record_feedback)

    async def _generate(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        response = await self._upstream.notes.generate(
            worker_principal(tenant_id),
            notes_pb2.GenerateNotesRequest(interactions=[source_interaction(_interaction(d)) for d in deliveries]),
            timeout_seconds=self._timeout_seconds,
        )
        return _outcome(deliveries, response.results)

    async def _record_feedback(self, feedback: Feedback, note_ids: Sequence[str]) -> None:
        request = notes_pb2.RecordFeedbackRequest(
            request_id=feedback.feedback_id, user_id=feedback.user_id, note_ids=note_ids, feedback=feedback.value
        )
        await self._upstream.notes.record_feedback(
            worker_principal(feedback.tenant_id), request, timeout_seconds=self._timeout_seconds
        )


async def _judge(
    deliveries: Sequence[Delivery], kind: MemoryKind, send: Callable[[Feedback, Sequence[str]], Awaitable[None]]
) -> DeliveryOutcome:
    """Sends each judgement among the deliveries to the tier whose memories are of a kind, with their ids."""
    outcome = DeliveryOutcome()
    for delivery in deliveries:
        if not isinstance(delivery.subject, Feedback):
            continue
        try:
            if memory_ids := delivery.subject.ids(kind):  # none is left where all were erased meanwhile
                await send(delivery.subject, memory_ids)
        except (StoreUnavailable, Conflict, LimitExceeded, DeadlineExceeded):
            raise
        except MnemeError as error:
            failure = DeliveryFailure(delivery, str(error.reason), error.reason in PERMANENT_REASONS)
            outcome += DeliveryOutcome(failed=(failure,))
        else:
            outcome += DeliveryOutcome(done=(delivery,))
    return outcome


def _said(deliveries: Sequence[Delivery]) -> list[Delivery]:
    return [delivery for delivery in deliveries if isinstance(delivery.subject, Interaction)]


def source_interaction(interaction: Interaction) -> interactions_pb2.SourceInteraction:
    """An interaction as the tiers take it that derive memories."""
    return interactions_pb2.SourceInteraction(
        interaction_id=interaction.interaction_id,
        user_id=interaction.user_id,
        conversation_id=interaction.conversation_id,
        position=interaction.position,
        turn=turn_to_proto(interaction.turn),
        scope=scope_to_proto(interaction.scope),
    )


def _new_episode(interaction: Interaction) -> episodic_internal_pb2.NewEpisode:
    turn = turn_to_proto(interaction.turn)
    is_answer = interaction.turn.role is MessageRole.ASSISTANT
    episode = episodic_internal_pb2.NewEpisode(
        episode_id=interaction.interaction_id,
        user_id=interaction.user_id,
        conversation_id=interaction.conversation_id,
        position=interaction.position,
        role=turn.role,
        speaker=turn.speaker,
        query="" if is_answer else turn.content,
        response=turn.content if is_answer else "",
        attachments=turn.attachments,
        sources=turn.sources,
        time=turn.time,
        scope=scope_to_proto(interaction.scope),
        metadata=turn.metadata,
    )
    if turn.HasField("confidence"):
        episode.confidence = turn.confidence
    if turn.HasField("importance"):
        episode.importance = turn.importance
    return episode


def _interaction(delivery: Delivery) -> Interaction:
    if not isinstance(delivery.subject, Interaction):
        raise TypeError(f"delivery {delivery.delivery_id} to {delivery.tier.name} carries no interaction")
    return delivery.subject


def _by_conversation(deliveries: Sequence[Delivery]) -> Iterator[list[Delivery]]:
    def key(delivery: Delivery) -> tuple[str, str, int]:
        interaction = _interaction(delivery)
        return interaction.user_id, interaction.conversation_id, interaction.position

    for _, group in groupby(sorted(deliveries, key=key), key=lambda delivery: key(delivery)[:2]):
        yield list(group)


def _outcome(
    deliveries: Sequence[Delivery],
    results: Iterable[
        episodic_internal_pb2.StoreEpisodeResult | semantic_pb2.ExtractFactsResult | notes_pb2.GenerateNotesResult
    ],
) -> DeliveryOutcome:
    """Pairs deliveries with the results of a call, which come in the same order."""
    done: list[Delivery] = []
    failed: list[DeliveryFailure] = []
    for delivery, result in zip(deliveries, results, strict=True):
        if result.HasField("error"):
            reason = from_item_status(result.error, store=delivery.tier.name.lower()).reason
            failed.append(DeliveryFailure(delivery, str(reason), reason in PERMANENT_REASONS))
        else:
            done.append(delivery)
    return DeliveryOutcome(tuple(done), tuple(failed))
