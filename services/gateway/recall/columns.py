"""Evidence for candidate turns as columns, as the episodic tier sends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mneme.episodic.internal.v1 import episodic_internal_pb2

FloatColumn = npt.NDArray[np.float32]
IntColumn = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the store knows of the candidates' use: value i of every column belongs to candidate i."""

    access_count: npt.NDArray[np.int64]
    last_access_time: npt.NDArray[np.float64]  # seconds since the epoch; 0 if never
    confidence: FloatColumn  # in [0, 1]; -1 where it is not known
    decay: FloatColumn  # hyperbolic, in (0, 1]

    @classmethod
    def from_response(cls, response: episodic_internal_pb2.SearchCandidatesResponse) -> Statistics | None:
        """Columns of a response of the episodic tier; None where it has no statistics."""
        if not response.access_counts:
            return None
        return cls(
            access_count=np.array(response.access_counts, dtype=np.int64),
            last_access_time=np.array(response.last_access_times, dtype=np.float64),
            confidence=np.array(response.confidences, dtype=np.float32),
            decay=np.array(response.decay_factors, dtype=np.float32),
        )


@dataclass(frozen=True, slots=True)
class EpisodeColumns:
    """Evidence for candidate turns: value i of every column belongs to candidate i, n candidates in all."""

    ids: tuple[bytes, ...]  # 16 bytes each
    dense: FloatColumn  # cosine similarity, in [-1, 1]
    lexical: FloatColumn  # BM25, 0 without a shared term
    dense_rank: IntColumn  # from 1; 0 if the retriever did not return it
    lexical_rank: IntColumn
    session: IntColumn  # a number for each session
    position: IntColumn
    speaker: IntColumn  # index into speakers
    time: npt.NDArray[np.float64]  # seconds since the epoch
    length: IntColumn  # characters
    traits: IntColumn  # bit set, see Trait
    feedback: IntColumn  # -1, 0, 1
    importance: FloatColumn
    speakers: tuple[str, ...]
    is_incomplete: bool = False  # the index lacked some of the user's turns, or could not be asked
    statistics: Statistics | None = None  # where they were asked for
    active_count: int = 0  # active turns that the reader sees, candidates or not; 0 where the tier does not report it
    # Late interaction, float32 [q, n]: best cosine similarity of question token t to any token of candidate i, 0 for a
    # candidate without token vectors. None, and the columns below empty, where there is none.
    token_scores: FloatColumn | None = None
    token_ids: npt.NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, dtype=np.uint16))  # [q], word pieces
    token_frequencies: IntColumn = field(default_factory=lambda: np.zeros(0, dtype=np.int32))  # [q], candidates with it
    has_tokens: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # [n]
    reverse: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], candidate to question
    sentence: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], best sentence alone
    # What other tiers found that was made from the candidate, 0 where nothing; empty until they are joined.
    fact: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], similarity of its best fact
    note: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], score of its best note

    def __len__(self) -> int:
        """The number of candidates."""
        return len(self.ids)

    @classmethod
    def from_response(
        cls, response: episodic_internal_pb2.SearchCandidatesResponse, token_ids: bytes = b""
    ) -> EpisodeColumns:
        """Columns of a response of the episodic tier.

        Args:
            response: The tier's response.
            token_ids: Ids of the question's word pieces that were asked with, uint16, little endian.
        """
        return cls(
            ids=tuple(np.frombuffer(response.episode_ids, dtype="V16").tolist()),
            dense=np.array(response.dense_scores, dtype=np.float32),
            lexical=np.array(response.lexical_scores, dtype=np.float32),
            dense_rank=np.array(response.dense_ranks, dtype=np.int32),
            lexical_rank=np.array(response.lexical_ranks, dtype=np.int32),
            session=np.array(response.conversation_indexes, dtype=np.int32),
            position=np.array(response.positions, dtype=np.int32),
            speaker=np.array(response.speaker_indexes, dtype=np.int32),
            time=np.array(response.times, dtype=np.float64),
            length=np.array(response.lengths, dtype=np.int32),
            traits=np.array(response.traits, dtype=np.int32),
            feedback=np.array(response.feedbacks, dtype=np.int32),
            importance=np.array(response.importances, dtype=np.float32),
            speakers=tuple(response.speakers),
            is_incomplete=response.degraded,
            statistics=Statistics.from_response(response),
            active_count=response.active_count,
            **_late_interaction(response, token_ids),
        )


def _late_interaction(response: episodic_internal_pb2.SearchCandidatesResponse, token_ids: bytes) -> dict[str, Any]:
    """Columns of late interaction by name; none where the tier reports none, or columns of another shape."""
    count = len(response.episode_ids) // 16
    rows = len(response.token_frequencies)
    whole = (4 * rows * count, 4 * count, count, count)
    reported = (response.token_scores, response.sentence_scores, response.token_present, response.reverse_scores)
    if not rows or not count or tuple(map(len, reported)) != whole or len(token_ids) < 2 * rows:
        return {}
    return {
        "token_scores": np.frombuffer(response.token_scores, dtype="<f4").reshape(rows, count),
        "token_ids": np.frombuffer(token_ids, dtype="<u2", count=rows),
        "token_frequencies": np.array(response.token_frequencies, dtype=np.int32),
        "has_tokens": np.array(response.token_present, dtype=np.bool_),
        "reverse": np.array(response.reverse_scores, dtype=np.float32),
        "sentence": np.frombuffer(response.sentence_scores, dtype="<f4"),
    }


def episode_id_text(raw: bytes) -> str:
    """An episode id as text."""
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
