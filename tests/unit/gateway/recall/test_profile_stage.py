"""What a profile asks of a recall: sources by their names, what they raise, and the cache of profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import procedures_pb2
from services.common.convert import scope_to_proto
from services.common.errors import StoreUnavailable
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.sources import names_any
from services.gateway.journal.store import JournalReader
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.model import AppliedProfile, CoarseResult, RankedEpisode, TurnSources
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.profile import CachedProfiles, with_preferred
from tests.unit.gateway.tiers import ADA, FakeTiers, candidates, fact_hit, uuid


@pytest.mark.parametrize(
    ("source", "name", "is_meant"),
    [
        ("Wikipedia", "wikipedia", True),
        ("https://en.wikipedia.org/wiki/Tea", "wikipedia.org", True),
        ("https://en.wikipedia.org/wiki/Tea", "en.wikipedia.org", True),
        ("en.wikipedia.org/wiki/Tea", "wikipedia.org", True),
        ("https://notwikipedia.org", "wikipedia.org", False),
        ("https://example.org/wikipedia.org.html", "wikipedia.org", False),
        ("minutes.pdf", "pdf", True),
        ("https://example.org/a/minutes.PDF", ".pdf", True),
        ("pdfs", "pdf", False),
        ("Wikipedia, the free one", "wikipedia", False),
        ("https://[broken", "broken", False),
        ("https://en.wikipedia.org/wiki/Tea", "Wikipedia", True),
        ("https://news.bbc.co.uk/1", "BBC", True),
        ("https://stackoverflow.com/questions/1", "Stack Overflow", True),
        ("https://en.wikipedia.org/wiki/Tea", "en", False),
        ("https://en.wikipedia.org/wiki/Tea", "org", False),
        ("https://wikipedia.example.org", "Wikipedia", False),
        ("https://en.wikipedia.org/wiki/Tea", "www.wikipedia.org", True),
        ("https://www.wikipedia.org/", "wikipedia.org", True),
        ("https://en.wikipedia.org/wiki/Tea", "https://en.wikipedia.org/", True),
        ("https://en.wikipedia.org/wiki/Tea", "http://www.wikipedia.org", True),
        ("https://example.org/blog/1", "https://example.org/blog", True),
        ("https://example.org/blogs", "example.org/blog/", False),
    ],
)
def test_spec_3_10_a_source_is_meant_by_its_name_its_domain_or_its_extension(
    source: str, name: str, is_meant: bool
) -> None:
    assert names_any([source], [name]) is is_meant


def ranked(*scores: float) -> list[RankedEpisode]:
    return [RankedEpisode(f"e{i}", score, (), (("dense", score),)) for i, score in enumerate(scores)]


def test_spec_3_10_preferred_turns_rise_and_excluded_ones_are_replaced() -> None:
    sources = TurnSources(excluded=frozenset({"e0"}), preferred=frozenset({"e3"}))
    found = with_preferred(ranked(0.9, 0.8, 0.6, 0.5, 0.4), sources, boost=0.5, limit=3)
    assert [episode.episode_id for episode in found] == ["e1", "e3", "e2"]
    assert found[1].score == pytest.approx(0.65)
    assert sum(value for _, value in found[1].parts) == pytest.approx(found[1].score)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Sources:
    """A journal that knows the sources of turns."""

    async def turn_sources(self, _tenant_id: str, interaction_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {turn: ["Blog"] for turn in interaction_ids if turn == uuid(2)}


def cached(tiers: FakeTiers, clock: Clock) -> CachedProfiles:
    journal = cast("JournalReader", Sources())
    return CachedProfiles(tiers.upstream(), journal, RecallSettings(), monotonic=clock)


async def test_spec_3_10_a_profile_is_read_once_in_some_seconds_and_anew_after_a_change() -> None:
    tiers, clock = FakeTiers(), Clock()
    method = tiers.profile.method("for_reading")
    method.answer = semantic_pb2.GetReadingProfileResponse(excluded_sources=["Blog"], fact_confidence_min=0.6)
    profiles = cached(tiers, clock)

    async def read(scope: Scope = GLOBAL_SCOPE) -> AppliedProfile:
        return (await profiles.read(ADA, "ada", scope, timeout_seconds=1.0)).profile

    assert await read() == AppliedProfile((), ("Blog",), 0.6)
    await read()
    assert len(method.requests) == 1
    await read(Scope(context_id="agent"))
    assert len(method.requests) == 2
    profiles.forget(ADA.tenant_id, "ada")
    await read()
    clock.now = 6.0
    method.answer = StoreUnavailable("profile")
    assert (await read()).excluded_sources == ("Blog",)
    profiles.forget(ADA.tenant_id, "ada")
    with pytest.raises(StoreUnavailable):
        await read()


async def test_spec_3_9_procedures_are_read_with_the_profile_and_sent_anew_only_where_they_changed() -> None:
    tiers, clock = FakeTiers(), Clock()
    method = tiers.profile.method("for_reading")
    rewriting = procedures_pb2.Procedure(
        procedure_id="p",
        kind=procedures_pb2.PROCEDURE_KIND_QUERY_REWRITING,
        trigger="ML",
        action="machine learning",
        scope=scope_to_proto(GLOBAL_SCOPE),
    )
    unknown = cast("procedures_pb2.ProcedureKind", 99)
    newer_kind = procedures_pb2.Procedure(procedure_id="q", kind=unknown, scope=scope_to_proto(GLOBAL_SCOPE))
    method.answer = semantic_pb2.GetReadingProfileResponse(procedures_revision=4, procedures=[rewriting, newer_kind])
    profiles = cached(tiers, clock)

    async def actions() -> list[str]:
        found = await profiles.read(ADA, "ada", GLOBAL_SCOPE, timeout_seconds=1.0)
        return [pattern.action for pattern in found.patterns.matching("ML papers", GLOBAL_SCOPE)]

    assert await actions() == ["machine learning"]
    method.answer = semantic_pb2.GetReadingProfileResponse(procedures_revision=4)
    assert await actions() == ["machine learning"]
    assert len(method.requests) == 1
    profiles.expire(ADA.tenant_id, "ada")
    assert await actions() == ["machine learning"]
    assert [r.HasField("cached_procedures_revision") for r in method.requests] == [False, True]
    assert method.requests[1].cached_procedures_revision == 4
    method.answer = semantic_pb2.GetReadingProfileResponse(procedures_revision=5)
    clock.now = 6.0
    assert await actions() == []
    profiles.forget(ADA.tenant_id, "ada")
    await actions()
    assert not method.requests[-1].HasField("cached_procedures_revision")


async def test_spec_3_10_sources_of_all_candidates_and_of_what_facts_rest_on_are_read() -> None:
    columns = EpisodeColumns.from_response(candidates([1, 2, 3], dense=[0.9, 0.5, 0.1]))
    coarse = CoarseResult(episodes=columns, facts=(fact_hit("f", 2),))
    found = await cached(FakeTiers(), Clock()).sources(ADA, AppliedProfile((), ("blog",)), coarse)
    assert found == TurnSources(excluded=frozenset({uuid(2)}))
