"""What every driver must do with facts of sentences that are corrected (SPEC 3.12). Beside `FactMarksContract`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.comparing.port import ThreadComparer
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import SupersessionSettings
from services.semantic.facts.arguments import ListFacts, SearchFacts
from services.semantic.facts.model import FactUse
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter
from services.semantic.supersession.convert import supersession_to_proto
from services.semantic.supersession.service import SupersessionService
from services.semantic.supersession.store import SupersessionStore
from tests.contract.fact_marks import spoken
from tests.contract.supersession_samples import ADA, turn
from tests.support.clock import FakeClock


def _asked(query: str) -> SearchFacts:
    return SearchFacts(ADA, query=query, vector=None, reader=GLOBAL_SCOPE, use=FactUse.EXPLICIT_SEARCH, limit=10)


class FactCorrectionsContract:
    """Subclass it with `FactMarksContract`, whose fixtures it uses."""

    @pytest.fixture
    def marking(self, supersessions: SupersessionStore) -> SupersessionService:
        return SupersessionService(supersessions, ThreadComparer(), clock=FakeClock(), settings=SupersessionSettings())

    async def test_spec_3_12_a_corrected_sentence_ends_the_one_fact_that_was_read_in_it(
        self, service: FactService, marking: SupersessionService
    ) -> None:
        corrected = ("I live in Leeds with my dog Rex.", "So far so good, but I work as a nurse.")
        source = spoken(1, " ".join([*corrected, "I like tea."]))
        [result] = await service.extract(ADA.tenant_id, [source])
        await marking.mark(ADA, [(turn(1), corrected[1])], turn(9), end_time=source.turn.time)
        facts = [await service.get(ADA, fact_id) for fact_id in result.fact_ids]
        ended = {fact.predicate: (fact.valid_to_time, fact.superseded_by) for fact in facts if fact.superseded_by}
        assert ended == {"works_as": (source.turn.time, turn(9))}
        assert {fact.predicate for fact in facts} >= {"lives_in", "works_as", "likes"}

    @pytest.mark.parametrize(
        ("about", "expected"),
        [
            ("", {"lives_in", "works_as"}),  # all that the sentence says
            ("I live in York.", {"lives_in"}),
            ("I work as a teacher.", {"works_as"}),
            ("I live in Leeds, and I am no nurse.", {"lives_in", "works_as"}),
        ],
    )
    async def test_spec_3_12_facts_of_a_corrected_sentence_end_that_the_correction_is_about(
        self, service: FactService, marking: SupersessionService, about: str, expected: set[str]
    ) -> None:
        corrected = "I live in Leeds and work as a nurse."
        source = spoken(1, f"It rains. {corrected} I like tea.")
        [result] = await service.extract(ADA.tenant_id, [source])
        await marking.mark(ADA, [(turn(1), corrected)], turn(9), end_time=source.turn.time, about=about)
        page = await service.list_facts(ListFacts(ADA, FactFilter(), 10, None))
        hits = await service.search(_asked(corrected))
        got = [await service.get(ADA, fact_id) for fact_id in result.fact_ids]
        for facts in (page.facts, [hit.fact for hit in hits], got):
            ends = {fact.predicate: (fact.valid_to_time, fact.superseded_by) for fact in facts}
            assert ends.keys() >= {"lives_in", "works_as", "likes"}
            assert {predicate for predicate, end in ends.items() if end == (source.turn.time, turn(9))} == expected
            assert {end for predicate, end in ends.items() if predicate not in expected} <= {(None, None)}
        [listed], _ = await marking.list_page(ADA, state=None, after=None, page_size=5)
        assert (listed.premise, supersession_to_proto(listed).premise) == (about, ""), "shown with PREMISE_ENDED alone"

    async def test_spec_3_7_what_a_correction_says_held_since_what_it_corrects(
        self, service: FactService, marking: SupersessionService
    ) -> None:
        wrong, right = spoken(1, "I live in Leeds."), spoken(9, "I live in York.")
        [old] = (await service.extract(ADA.tenant_id, [wrong]))[0].fact_ids
        await marking.mark(ADA, [(turn(1), wrong.turn.content)], turn(9), end_time=wrong.turn.time)
        [new] = (await service.extract(ADA.tenant_id, [right]))[0].fact_ids
        for days, found, listed in ((0, set(), set()), (5, {old, new}, {new})):
            held_at = wrong.turn.time + timedelta(days=days - 1)
            hits = await service.search(replace(_asked("I live in"), held_at=held_at))
            assert {hit.fact.fact_id for hit in hits} == found
            page = await service.list_facts(ListFacts(ADA, FactFilter(), 10, None, held_at=held_at))
            assert {fact.fact_id for fact in page.facts} == listed

    @pytest.mark.parametrize(
        ("about", "is_called_wrong", "is_ended"),
        [
            ("builder Monday", True, False),
            ("The builder comes on Tuesday.", False, True),  # may say the same in other words
            ("nuts", True, True),
            ("", False, True),
        ],
    )
    async def test_spec_3_12_the_one_fact_of_a_sentence_stays_where_its_other_words_were_called_wrong(
        self, service: FactService, marking: SupersessionService, about: str, is_called_wrong: bool, is_ended: bool
    ) -> None:
        corrected = "I'm allergic to nuts, and the builder comes on Monday."
        source = spoken(1, f"It rains. {corrected}")
        [result] = await service.extract(ADA.tenant_id, [source])
        [fact_id] = result.fact_ids
        await marking.mark(
            ADA,
            [(turn(1), corrected)],
            turn(9),
            end_time=source.turn.time,
            about=about,
            is_called_wrong=is_called_wrong,
        )
        found = await service.get(ADA, fact_id)
        assert (found.predicate, found.superseded_by == turn(9)) == ("allergic_to", is_ended)
        [listed], _ = await marking.list_page(ADA, state=None, after=None, page_size=5)
        assert listed.is_called_wrong == is_called_wrong

    async def test_spec_3_12_a_fact_of_a_corrected_sentence_stays_that_another_turn_says(
        self, service: FactService, marking: SupersessionService
    ) -> None:
        corrected = "I live in Leeds and work as a nurse."
        sources = [spoken(1, "I work as a nurse."), spoken(2, f"It rains. {corrected}")]
        results = await service.extract(ADA.tenant_id, sources)

        async def ended() -> set[str]:
            ids = {fact_id for result in results for fact_id in result.fact_ids}
            return {fact.predicate for i in ids if (fact := await service.get(ADA, i)).superseded_by}

        await marking.mark(ADA, [(turn(2), corrected)], turn(9), end_time=sources[1].turn.time)
        assert await ended() == {"lives_in"}
        await marking.mark(ADA, [(turn(1), "I work as a nurse.")], turn(9), end_time=sources[0].turn.time)
        assert await ended() == {"lives_in", "works_as"}
