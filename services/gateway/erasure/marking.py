"""Marks what a turn corrects. The turn itself names it, so that its delivery completes what a crash interrupted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from services.common.auth import Principal
from services.common.text import split_sentences
from services.gateway.upstream import Upstream

METADATA_KEY: Final = "mneme.corrects"
"""Of a turn's metadata: the statements that it corrects, by ids and numbers, without content."""
_WHOLE: Final = -1


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement that a turn corrects."""

    interaction_id: str
    number: int = _WHOLE  # of the sentence in its turn, from 0

    @property
    def is_whole(self) -> bool:
        """Whether all of the turn is corrected."""
        return self.number == _WHOLE

    def statement(self, said: str) -> str | None:
        """The sentence in the turn's text; empty for all of it, None where there is no such sentence."""
        if self.is_whole:
            return ""
        sentences = split_sentences(said)
        return sentences[self.number] if self.number < len(sentences) else None


def metadata_of(corrected: Iterable[Corrected]) -> dict[str, str]:
    """The metadata of a turn that corrects statements."""
    named = (one.interaction_id if one.is_whole else f"{one.interaction_id}:{one.number}" for one in corrected)
    return {METADATA_KEY: ",".join(named)}


def corrected_by(metadata: Mapping[str, str]) -> list[Corrected]:
    """What a turn with this metadata corrects; nothing where it says something else."""
    found = []
    for entry in filter(None, metadata.get(METADATA_KEY, "").split(",")):
        interaction_id, _, number = entry.partition(":")
        if number and not number.isdecimal():
            return []
        found.append(Corrected(interaction_id, int(number) if number else _WHOLE))
    return found


def text_of(episode: episodic_pb2.Episode) -> str:
    """What was said."""
    return episode.query or episode.response


async def mark(
    upstream: Upstream,
    principal: Principal,
    user_id: str,
    standing_id: str,
    corrected: Sequence[Corrected],
    *,
    timeout_seconds: float,
) -> None:
    """Marks statements as corrected by a turn. They never held: the marks begin when they were said. Repeatable."""
    found = await upstream.episodic.batch_get(
        principal,
        episodic_pb2.BatchGetEpisodesRequest(
            user_id=user_id, episode_ids=list(dict.fromkeys(one.interaction_id for one in corrected))
        ),
        timeout_seconds=timeout_seconds,
    )
    episodes = {episode.episode_id: episode for episode in found.episodes}
    requests: dict[int, semantic_pb2.MarkSupersededRequest] = defaultdict(
        lambda: semantic_pb2.MarkSupersededRequest(user_id=user_id, standing_interaction_id=standing_id)
    )
    for one in corrected:
        episode = episodes.get(one.interaction_id)
        statement = one.statement(text_of(episode)) if episode is not None else None
        if episode is not None and statement is not None:  # else it was erased
            request = requests[episode.time.ToNanoseconds()]
            request.end_time.CopyFrom(episode.time)
            request.statements.add(interaction_id=one.interaction_id, statement=statement)
    for request in requests.values():
        await upstream.facts.mark_superseded(principal, request, timeout_seconds=timeout_seconds)
