"""What a profile learns from turns: preferences that they state, sources and a threshold by their judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from services.common.owners import InteractionId
from services.common.sources import is_meant
from services.semantic.config import LearningSettings
from services.semantic.profile.model import Learned, Lesson, Preferences, preferences_from_values
from services.semantic.profile.reading import ALLOWED_SOURCES, preferences_stated


def learned_from(lessons: Sequence[Lesson], settings: LearningSettings) -> Learned:
    """What follows from the newest lessons.

    Of what turns state the latest holds. A source is preferred where answers from it were judged good often enough;
    bad judgements never exclude one, only a statement does.

    Args:
        lessons: Newest first.
        settings: Bounds and rates.
    """
    return Learned(_preferences(lessons, settings), _threshold(lessons, settings))


def without_corrected(lessons: Sequence[Lesson], corrected: Iterable[tuple[InteractionId, str]]) -> Sequence[Lesson]:
    """The lessons without what was read in corrected sentences; judgements of their turns stay.

    Args:
        lessons: In any order, which stays.
        corrected: Sentences, each with its turn; an empty one stands for all of the turn.
    """
    taken_back: dict[InteractionId, list[str]] = {}
    for interaction_id, sentence in corrected:
        taken_back.setdefault(interaction_id, []).append(sentence)
    return [
        replace(lesson, stated=_without_sentences(lesson.stated or {}, taken_back[lesson.interaction_id]) or None)
        if lesson.interaction_id in taken_back
        else lesson
        for lesson in lessons
    ]


def effective(stated: Preferences, learned: Preferences) -> Preferences:
    """What holds: what was set explicitly, and where nothing was, what was learned.

    Sources are joined; one that was set as preferred is not excluded by what was learned, and the other way round.
    """
    values = {
        name: getattr(stated, name) or getattr(learned, name)
        for name in ("response_format", "detail_level", "citation_style", "language")
    }
    preferred, excluded = _folded(stated.preferred_sources), _folded(stated.excluded_sources)
    return Preferences(
        **values,
        preferred_sources=_joined(stated.preferred_sources, _without(learned.preferred_sources, excluded)),
        excluded_sources=_joined(stated.excluded_sources, _without(learned.excluded_sources, preferred)),
        other=stated.other,
    )


def _without_sentences(stated: Mapping[str, Any], sentences: Iterable[str]) -> Mapping[str, Any]:
    left = dict(stated)
    for sentence in sentences:
        if not sentence:
            return {}
        for name, value in preferences_stated(sentence).items():
            stated_value = left.get(name)
            if isinstance(value, list) and isinstance(stated_value, list):
                left[name] = list(_without(stated_value, _folded(value)))
            elif stated_value == value:
                del left[name]
    return left


def _preferences(lessons: Sequence[Lesson], settings: LearningSettings) -> Preferences:
    found = Preferences()
    for lesson in reversed(lessons):
        said = preferences_from_values(lesson.stated or {})
        allowed = (lesson.stated or {}).get(ALLOWED_SOURCES, ())
        found = replace(
            found,
            response_format=said.response_format or found.response_format,
            detail_level=said.detail_level or found.detail_level,
            citation_style=said.citation_style or found.citation_style,
            language=said.language or found.language,
            # What is said of a source replaces what was said of it before, by whichever of its names.
            preferred_sources=_joined(
                said.preferred_sources, _without_meant(found.preferred_sources, said.excluded_sources)
            ),
            excluded_sources=_joined(
                said.excluded_sources, _without_meant(found.excluded_sources, (*said.preferred_sources, *allowed))
            ),
        )
    judged = _well_judged(lessons, settings)
    preferred = _joined(found.preferred_sources, _without(judged, _folded(found.excluded_sources)))
    return replace(
        found,
        preferred_sources=preferred[: settings.sources_max],
        excluded_sources=found.excluded_sources[: settings.sources_max],
    )


def _well_judged(lessons: Sequence[Lesson], settings: LearningSettings) -> tuple[str, ...]:
    net: Counter[str] = Counter()
    for lesson in lessons:
        for source in lesson.sources if lesson.feedback else ():
            net[source] += lesson.feedback
    return tuple(sorted(s for s, count in net.items() if count >= settings.source_judgements_min))


def _threshold(lessons: Sequence[Lesson], settings: LearningSettings) -> float:
    judgements = [lesson.feedback for lesson in lessons if lesson.feedback][: settings.threshold_judgements]
    wanted = settings.fact_confidence_default - settings.fact_confidence_rate * sum(judgements)
    return min(max(wanted, settings.fact_confidence_low), settings.fact_confidence_high)


def _folded(sources: Iterable[str]) -> frozenset[str]:
    return frozenset(source.casefold() for source in sources)


def _without(sources: Iterable[str], folded: frozenset[str]) -> tuple[str, ...]:
    return tuple(source for source in sources if source.casefold() not in folded)


def _without_meant(sources: Iterable[str], said: Sequence[str]) -> tuple[str, ...]:
    """The sources without those that are said, by whichever of their names: "Wikipedia" and wikipedia.org are one."""

    def is_said(source: str) -> bool:
        return any(is_meant(source, name) or ("." not in source and is_meant(name, source)) for name in said)

    return tuple(source for source in sources if not is_said(source))


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    by_name = {source.casefold(): source for source in (*second, *first)}
    return tuple(dict.fromkeys(by_name[source.casefold()] for source in (*first, *second)))
