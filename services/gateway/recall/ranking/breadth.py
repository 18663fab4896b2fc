"""What moves turns where a question is answered by many of them: an order of events, a summary, a list, a total.

A ranker judges each turn by itself, so that for such questions the best places go to turns that say the same. Their
evidence is spread: each session has a turn that raises the matter, mostly early, and what was asked belongs with what
was answered. Nothing of this is fitted; the weights are round, and twice or half as much does about as well.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from services.common.turn_traits import Trait
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.kinds import QuestionKind, read_kinds
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.standardising import Column, standardised
from services.gateway.recall.ranking.surroundings import Surroundings

BREADTH: Final = "breadth"
"""The part of a score that is computed here."""

# All in standard deviations of the candidates' scores.
_BEST_OF_SESSION: Final = 0.5  # for the best turn of a session; 2/3 of it for the second, 2/4 for the third
_RANK_SCALE: Final = 2.0
_EARLY: Final = 1.0  # for the first turn of a session, where an order of events is asked for
_EARLY_IN_SUMMARY: Final = 0.5
_EARLY_TURNS: Final = 30.0  # by so many turns it is down to 1/e
_EXCHANGE: Final = 0.5  # of the score of what was asked to an answer, and the reverse
_ALONE: Final = -0.5  # what counts as the score of the other half of an exchange that is no candidate
_INSTRUCTION: Final = -1.0  # for standing instructions, which are no event

_SPREAD_KINDS: Final = QuestionKind.ORDER | QuestionKind.LIST
_TOTAL: Final = re.compile(
    r"\b(?:across|throughout|total)\b|\bhow many (?:different|times)\b"
    r"|\b(?:all|different|various) (?:\w+ ){0,2}(?:sessions?|conversations|requests|times)\b",
    re.IGNORECASE,
)


def read_breadth(scores: FloatColumn, columns: EpisodeColumns, question: QuestionEvidence) -> FloatColumn | None:
    """What is to be added to the scores of n candidates.

    Args:
        scores: Of a ranker, `[n]`.
        columns: The candidates.
        question: What was read from the question.

    Returns:
        float32 `[n]`, or None where the question is none of those.
    """
    kinds = read_kinds(question.text)
    is_order = QuestionKind.ORDER in kinds
    is_summary = QuestionKind.SUMMARY in kinds and QuestionKind.HOW_MANY not in kinds  # "how much progress" is none
    is_spread = bool(kinds & _SPREAD_KINDS) or _TOTAL.search(question.text) is not None
    if not (is_summary or is_spread):
        return None
    own = standardised(scores)
    added = np.zeros_like(own)
    if is_order or is_summary:
        traits = columns.traits & (Trait.INSTRUCTION | Trait.ASSISTANT)
        added += _INSTRUCTION * (traits == Trait.INSTRUCTION)
        added += (_EARLY if is_order else _EARLY_IN_SUMMARY) * np.exp(-columns.position / _EARLY_TURNS)
    if is_summary:
        added += _EXCHANGE * _other_half(own, columns)
    else:
        ranks = _ranks_in_session(own + added, columns)
        added += _BEST_OF_SESSION * _RANK_SCALE / (_RANK_SCALE + ranks)
    broadened: FloatColumn = (added * scores.std()).astype(np.float32)
    return broadened


def _other_half(scores: Column, columns: EpisodeColumns) -> Column:
    """The score of the answer that a user's turn got, or of the turn that the assistant answers: `[n]`."""
    around = Surroundings.of(columns.session, columns.position)
    by_assistant = columns.traits & Trait.ASSISTANT != 0
    other = np.where(by_assistant, around.rows(-1), around.rows(1))
    is_exchange = np.append(by_assistant, False)[other] != by_assistant
    scores_of_others: Column = np.where(is_exchange, np.append(scores, _ALONE)[other], _ALONE)
    return scores_of_others


def _ranks_in_session(scores: Column, columns: EpisodeColumns) -> Column:
    """How many candidates of its session are better than each: `[n]`."""
    order = np.lexsort((-scores, columns.session))
    sessions = columns.session[order]
    ranks = np.empty_like(scores)
    ranks[order] = np.arange(len(scores)) - np.searchsorted(sessions, sessions)
    return ranks
