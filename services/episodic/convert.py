"""From the models to the messages of mneme.episodic. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.convert import attachments_to_proto, write_scope, write_timestamp
from services.common.errors_grpc import item_status
from services.common.paging import Cursor, PageTokens, cut_page, fitting
from services.common.scope import Scope
from services.episodic.candidates import Candidates, Statistics
from services.episodic.commands import list_identity
from services.episodic.comparison import ModelComparison
from services.episodic.model import Episode, EpisodeStatus
from services.episodic.service import EpisodePage, StoreResult
from services.episodic.similar import ScoredEpisode
from services.episodic.store import UNASSESSED

_COUNT_MAX: Final = 2**31 - 1


def page_to_proto(
    page: EpisodePage,
    request: pb.ListEpisodesRequest,
    decay_factor: Callable[[Episode], float],
    *,
    tenant_id: str,
    tokens: PageTokens,
    bytes_max: int,
) -> pb.ListEpisodesResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        last = page.episodes[index].content
        return last.time.isoformat(), str(last.episode_id)

    episodes, cursor = cut_page(
        [episode_to_proto(episode, decay_factor) for episode in page.episodes],
        has_more=page.next_cursor is not None,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=tenant_id, query=list_identity(request))
    return pb.ListEpisodesResponse(episodes=episodes, next_page_token=token)


def batch_to_proto(
    found: Sequence[Episode], decay_factor: Callable[[Episode], float], *, bytes_max: int
) -> pb.BatchGetEpisodesResponse:
    """The first of the episodes that were asked for, as many as fit, and the names of the others."""
    response = pb.BatchGetEpisodesResponse()
    for episode in found:
        _write_episode(response.episodes.add(), episode, decay_factor(episode))
    count = fitting(response.episodes, bytes_max=bytes_max)
    response.omitted_episode_ids.extend(episode.episode_id for episode in response.episodes[count:])
    del response.episodes[count:]
    return response


def store_results_to_proto(results: Sequence[StoreResult]) -> internal_pb.StoreEpisodesResponse:
    """The outcomes of a batch."""
    response = internal_pb.StoreEpisodesResponse()
    for result in results:
        if result.error is not None:
            response.results.add(error=item_status(result.error))
        else:
            response.results.add(
                response=internal_pb.StoredEpisode(
                    episode_id=result.episode_id,
                    created=result.created,
                    deleted=result.deleted,
                    status=None if result.status is None else _status_name(result.status),
                )
            )
    return response


def episode_to_proto(episode: Episode, decay_factor: Callable[[Episode], float]) -> pb.Episode:
    """A stored episode."""
    message = pb.Episode()
    _write_episode(message, episode, decay_factor(episode))
    return message


def _write_episode(message: pb.Episode, episode: Episode, decay_factor: float) -> None:
    """Write an episode into a message, in place: each Recall reads some, and messages made of messages copy them."""
    content = episode.content
    message.episode_id = str(content.episode_id)
    message.user_id = content.owner.user_id
    message.conversation_id = content.conversation_id
    message.position = content.position
    message.role = cast("common_pb2.MessageRole", int(content.role))
    message.speaker = content.speaker
    message.query = content.query
    message.response = content.response
    if content.attachments:
        message.attachments.extend(attachments_to_proto(content.attachments))
    if content.sources:
        message.sources.extend(content.sources)
    if content.confidence is not None:
        message.confidence = content.confidence
    message.feedback = episode.feedback
    message.importance = UNASSESSED.importance if content.importance is None else content.importance
    message.summary = episode.summary
    message.decay_factor = decay_factor
    message.access_count = min(episode.access_count, _COUNT_MAX)
    write_timestamp(message.time, content.time)
    write_timestamp(message.create_time, episode.create_time)
    write_scope(message.scope, Scope.from_key(content.scope_key))
    message.status = cast("pb.EpisodeStatus", int(episode.status))
    if content.metadata:
        message.metadata.update(content.metadata)
    if episode.last_access_time is not None:
        write_timestamp(message.last_access_time, episode.last_access_time)


def scored_to_proto(
    hits: Sequence[ScoredEpisode], decay_factor: Callable[[Episode], float], *, bytes_max: int
) -> pb.SearchEpisodesResponse:
    """The best hits of a search, as many as fit."""
    messages = [
        pb.ScoredEpisode(
            episode=episode_to_proto(hit.episode, decay_factor),
            score=hit.score,
            similarity=hit.similarity,
        )
        for hit in hits
    ]
    count = fitting(messages, bytes_max=bytes_max)
    return pb.SearchEpisodesResponse(hits=messages[:count], omitted_count=len(messages) - count)


def candidates_to_proto(found: Candidates) -> internal_pb.SearchCandidatesResponse:
    """Candidates as columns, with conversations and speakers as indexes into lists of distinct names."""
    columns = found.columns
    conversation_numbers = {name: i for i, name in enumerate(dict.fromkeys(columns.conversation_ids))}
    speaker_numbers = {name: i for i, name in enumerate(dict.fromkeys(columns.speakers))}
    response = internal_pb.SearchCandidatesResponse(
        episode_ids=b"".join(columns.episode_ids),
        dense_scores=found.dense_scores,
        lexical_scores=found.lexical_scores,
        dense_ranks=found.dense_ranks,
        lexical_ranks=found.lexical_ranks,
        conversation_indexes=[conversation_numbers[name] for name in columns.conversation_ids],
        positions=columns.positions,
        speaker_indexes=[speaker_numbers[name] for name in columns.speakers],
        times=columns.times,
        lengths=columns.lengths,
        traits=columns.traits,
        feedbacks=columns.feedbacks,
        importances=columns.importances,
        conversation_ids=list(conversation_numbers),
        speakers=list(speaker_numbers),
        degraded=found.degraded,
        active_count=found.active_count,
    )
    if found.late is not None:
        response.token_scores = found.late.token_scores.astype("<f4", copy=False).tobytes()
        response.token_present.extend(found.late.present.tolist())
        response.token_frequencies.extend(found.late.frequencies.tolist())
        response.reverse_scores.extend(found.late.reverse.tolist())
        response.sentence_scores = found.late.sentence.astype("<f4", copy=False).tobytes()
    if found.statistics is not None:
        _add_statistics(response, found.statistics)
    return response


def comparison_to_proto(comparison: ModelComparison) -> pb.GetModelComparisonResponse:
    """What two models find."""
    return pb.GetModelComparisonResponse(
        questions=[
            pb.ModelQuestionComparison(
                overlap=each.overlap, first_recall=each.first_recall, second_recall=each.second_recall
            )
            for each in comparison.questions
        ],
        first_model=comparison.first_model,
        second_model=comparison.second_model,
        first_piece_count=comparison.first_pieces,
        second_piece_count=comparison.second_pieces,
    )


def _add_statistics(response: internal_pb.SearchCandidatesResponse, found: Statistics) -> None:
    response.access_counts.extend(min(use.access_count, _COUNT_MAX) for use in found.uses)
    response.last_access_times.extend(use.last_access_time or 0.0 for use in found.uses)
    response.confidences.extend(-1.0 if use.confidence is None else use.confidence for use in found.uses)
    response.decay_factors.extend(found.decay_factors)


def _status_name(status: EpisodeStatus) -> str:
    return f"EPISODE_STATUS_{status.name}"
