"""Late interaction: each word of a query is compared with each word of the candidates. Pure.

The idea is that of ColBERT's MaxSim: a text answers a question when each word of the question matches some word of the
text. The parts of that sum are returned one by one, so that a ranker can weigh them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from services.common.embedding.byte_products import Products, Unsigned, products, unsigned
from services.common.embedding.tokens import COMPACT_SCALE, TOKEN_ID_MAX, TokenVectors
from services.episodic.token_format import EpisodeTokens

_SCALE: Final = np.float32(1.0 / (COMPACT_SCALE * COMPACT_SCALE))


@dataclass(frozen=True, slots=True, eq=False)
class TokenRun:
    """Token vectors of k candidates, concatenated; each has at least one token."""

    ids: npt.NDArray[np.uint16]  # [tokens]
    vectors: Unsigned  # [tokens, dimension]
    begins: npt.NDArray[np.bool_]  # [tokens]: a sentence begins here, as each candidate's first one does
    sizes: npt.NDArray[np.int64]  # [k]: tokens of each


@dataclass(frozen=True, slots=True, eq=False)
class LateScores:
    """How q query tokens meet n candidates; 0 throughout for a candidate without token vectors."""

    token_scores: npt.NDArray[np.float32]  # [q, n]: best cosine of the query token to any token of the candidate
    present: npt.NDArray[np.bool_]  # [n]: the candidate has token vectors
    frequencies: npt.NDArray[np.int32]  # [q]: candidates that hold the same word piece
    reverse: npt.NDArray[np.float32]  # [n]: mean over the candidate's tokens of their best cosine to the query
    sentence: npt.NDArray[np.float32]  # [n]: best over its sentences of the mean over q of the sentence's best cosines


def sentence_end_table(sentence_ends: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Returns for every id of a word piece whether it ends a sentence: bool `[65536]`."""
    table = np.zeros(TOKEN_ID_MAX + 1, dtype=np.bool_)
    table[list(sentence_ends)] = True
    return table


def candidate_tokens(stored: EpisodeTokens, ends: npt.NDArray[np.bool_]) -> TokenRun:
    """Returns episodes' tokens cut into sentences.

    A sentence ends with the last of one or several marks that end one, and with a piece of the text.

    Args:
        stored: Token vectors from the store, of episodes that have at least one token each.
        ends: Which ids are marks that end a sentence; see `sentence_end_table`.
    """
    count = len(stored.ids)
    is_end = ends[stored.ids]
    # One place more: a piece without a token begins where the next one does, or after the last token.
    begins = np.zeros(count + 1, dtype=np.bool_)
    np.greater(is_end[:-1], is_end[1:], out=begins[1:count])
    begins[np.cumsum(stored.sizes) - stored.sizes] = True
    begins[stored.piece_starts] = True
    return TokenRun(stored.ids, unsigned(stored.vectors), begins[:count], np.ascontiguousarray(stored.sizes))


def late_scores(query: TokenVectors, known: TokenRun | None, places: Sequence[int], *, count: int) -> LateScores:
    """Returns how the tokens of a query meet candidates.

    One product for all of them, and maxima over its parts.

    Args:
        query: q tokens, at least one; of the candidates' space.
        known: The candidates that have token vectors; None where none has.
        places: Which of all candidates each of these is, each once.
        count: Number of all candidates.
    """
    rows = len(query)
    found = LateScores(
        token_scores=np.zeros((rows, count), dtype=np.float32),
        present=np.zeros(count, dtype=np.bool_),
        frequencies=np.zeros(rows, dtype=np.int32),
        reverse=np.zeros(count, dtype=np.float32),
        sentence=np.zeros(count, dtype=np.float32),
    )
    if known is None or not rows:
        return found
    at = np.array(places, dtype=np.intp)
    starts = np.cumsum(known.sizes) - known.sizes
    sentences = known.begins.nonzero()[0]
    first_sentences = np.searchsorted(sentences, starts)  # each candidate's first token begins a sentence

    met = products(known.vectors, query.vectors)  # [q, tokens]
    by_sentence = _cosines(np.maximum.reduceat(met, sentences, axis=1))  # [q, sentences]
    found.present[at] = True
    found.token_scores[:, at] = np.maximum.reduceat(by_sentence, first_sentences, axis=1)
    found.sentence[at] = np.maximum.reduceat(by_sentence.mean(axis=0), first_sentences)
    found.reverse[at] = np.add.reduceat(_cosines(met.max(axis=0)), starts) / known.sizes
    holds = np.logical_or.reduceat(known.ids == query.ids[:, np.newaxis], starts, axis=1)  # [q, k]
    found.frequencies[:] = holds.sum(axis=1)
    return found


def _cosines(met: Products) -> npt.NDArray[np.float32]:
    """Cosines by products. Rounding to bytes may leave a vector a little too long: they are cut to 1."""
    cosines: npt.NDArray[np.float32] = met * _SCALE
    return np.clip(cosines, -1.0, 1.0, out=cosines)
