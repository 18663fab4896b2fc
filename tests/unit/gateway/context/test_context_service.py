"""What an answer offers to each section of a context."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from mneme.common.v1 import common_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.auth import Principal
from services.gateway.context.candidates import candidates, failed_sections
from services.gateway.context.model import Candidate, ContextRequest, ContextSettings, SectionKind, SectionState
from services.gateway.context.service import ContextBuilder
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Tier
from services.gateway.recall.answer.assembly import Assembled
from services.gateway.recall.choices import ConflictPolicy
from services.gateway.recall.model import (
    AppliedPattern,
    AppliedProfile,
    Conflict,
    ConflictKind,
    ConflictReason,
    RankedEpisode,
    Reading,
    Recalled,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RecallQuery,
    RetrieverRank,
    TierReport,
    TierState,
)
from services.gateway.recall.patterns import PatternKind
from tests.support.tokens import WordCounter
from tests.unit.gateway.context.offers import count_words
from tests.unit.gateway.tiers import ADA, NOON, episode, fact_hit, note_hit, session_turn, uuid


def fact(name: str, *sources: int, **fields: Any) -> RecalledFact:
    return RecalledFact(fact_hit(name, *sources, **fields).fact, 0.5, 0.5, RetrieverRank("facts", 1, 0.5), ())


def note(name: str, *sources: int) -> RecalledNote:
    return RecalledNote(note_hit(name, *sources).note, 0.5, 0.5, RetrieverRank("notes", 1, 0.5), ())


def memory(number: int, text: str = "text") -> RecalledMemory:
    return RecalledMemory(RankedEpisode(uuid(number), 1.0, (), ()), episode(number, text))


def recalled(**parts: object) -> Recalled:
    fields: dict[str, object] = {
        "memories": (),
        "facts": (),
        "notes": (),
        "recent_turns": (),
        "reading": Reading("", (), (), applied_profile=AppliedProfile()),
        "reports": (TierReport(Tier.EPISODIC, TierState.FAILED, "STORE_UNAVAILABLE"),),
        **parts,
    }
    return Recalled(
        recall_id="r",
        stage_seconds=(),
        is_degraded=True,
        **fields,  # type: ignore[arg-type]
    )


def offers(**parts: object) -> dict[SectionKind, Sequence[Candidate]]:
    return candidates(recalled(**parts), overlap_rank_max=20)


def offered(kind: SectionKind, **parts: object) -> list[str]:
    return [candidate.body for candidate in offers(**parts)[kind]]


def test_spec_5_9_notes_made_of_turns_that_are_told_anyway_are_left_out() -> None:
    notes = (
        note("of a memory", 1),
        note("of the conversation", 2),
        note("of both", 1, 2),
        note("of another turn", 1, 9),
        note("of nothing"),
    )
    told = offers(memories=(memory(1),), recent_turns=(session_turn(2),), notes=notes)
    assert [c.memory_id for c in told[SectionKind.NOTES]] == ["of another turn", "of nothing"]


def test_spec_5_9_a_note_of_a_turn_far_down_may_be_told_as_the_turn_will_hardly_be() -> None:
    answer = recalled(memories=tuple(memory(n) for n in range(5)), notes=(note("of the fourth", 3),))
    assert not candidates(answer, overlap_rank_max=4)[SectionKind.NOTES]
    assert candidates(answer, overlap_rank_max=3)[SectionKind.NOTES]


def test_a_turn_is_offered_with_its_source() -> None:
    (candidate,) = offers(memories=(memory(1, "I moved."),))[SectionKind.MEMORIES]
    assert candidate.body == "I moved."
    assert candidate.turn is not None
    assert (candidate.turn.label, candidate.turn.date) == ("Ada", "2026-03-01")
    assert (candidate.turn.conversation_id, candidate.turn.position) == ("c1", 0)


def test_a_turn_without_a_speaker_is_told_by_its_role() -> None:
    nameless = memory(1)
    nameless.episode.speaker = ""
    nameless.episode.role = common_pb2.MESSAGE_ROLE_ASSISTANT
    (candidate,) = offers(memories=(nameless,))[SectionKind.MEMORIES]
    assert candidate.turn is not None
    assert candidate.turn.label == "assistant"


def test_a_turn_of_an_unknown_role_is_told_as_a_users() -> None:
    newer = memory(1)
    newer.episode.speaker = ""
    newer.episode.role = 99  # type: ignore[assignment]  # of a newer tier
    (candidate,) = offers(memories=(newer,))[SectionKind.MEMORIES]
    assert candidate.turn is not None
    assert candidate.turn.label == "user"


def test_a_photo_is_told_by_its_caption() -> None:
    shown = memory(1, "Look!")
    shown.episode.attachments.add(uri="s3://cat", caption="a cat on a sofa")
    shown.episode.attachments.add(uri="s3://no-caption")
    assert offered(SectionKind.MEMORIES, memories=(shown,)) == ["Look! [photo: a cat on a sofa]"]


def test_a_turn_without_a_text_is_not_offered() -> None:
    assert offered(SectionKind.MEMORIES, memories=(memory(1, " "),)) == []


def test_a_fact_says_what_kind_it_is_and_until_when_it_held() -> None:
    ended = fact("f1", category=facts_pb2.FACT_CATEGORY_COMMITMENT)
    ended.fact.valid_to_time.FromDatetime(datetime(2026, 4, 2, tzinfo=UTC))
    standing = fact("f2", category=facts_pb2.FACT_CATEGORY_INSTRUCTION)
    plain = fact("f3", category=facts_pb2.FACT_CATEGORY_PREFERENCE)
    assert offered(SectionKind.FACTS, facts=(ended, standing, plain)) == [
        "fact f1 (commitment, until 2026-04-02)",
        "fact f2 (standing instruction)",
        "fact f3",
    ]


def test_spec_3_5_facts_that_hold_come_before_superseded_ones() -> None:
    ended, lost = fact("f1"), fact("f2")
    ended.fact.superseded_by = "later"
    ended.fact.valid_to_time.FromDatetime(datetime(2026, 4, 2, tzinfo=UTC))
    won = Conflict(
        ConflictKind.VALUE, "Ada", "f3", MemoryKind.FACT, ("f2",), MemoryKind.FACT, ConflictPolicy.RECENCY,
        ConflictReason.LATER,
    )  # fmt: skip
    found = offered(SectionKind.FACTS, facts=(ended, lost, fact("f3")), conflicts=(won,))
    assert found == ["fact f3", "fact f1 (until 2026-04-02)", "fact f2 (superseded)"]


def test_spec_3_12_a_corrected_fact_has_no_time_until_which_it_held() -> None:
    corrected = fact("f1")
    corrected.fact.superseded_by = "correction"
    corrected.fact.first_observed_time.FromDatetime(datetime(2026, 4, 2, tzinfo=UTC))
    corrected.fact.valid_to_time.FromDatetime(datetime(2026, 4, 2, tzinfo=UTC))
    assert offered(SectionKind.FACTS, facts=(corrected,)) == ["fact f1 (superseded)"]


def test_spec_5_9_a_section_whose_tier_failed_is_known() -> None:
    reports = (TierReport(Tier.AGENTIC, TierState.FAILED), TierReport(Tier.SEMANTIC, TierState.RESPONDED))
    assert failed_sections(recalled(reports=reports)) == {SectionKind.NOTES}
    unread = recalled(reports=(), reading=Reading("", (), (), applied_profile=None))
    assert failed_sections(unread) == {SectionKind.PROCEDURES}


def test_spec_5_9_procedures_say_what_to_do_and_for_what() -> None:
    patterns = (
        AppliedPattern("ML", "machine learning", 0.9, "1", PatternKind.QUERY_REWRITING),
        AppliedPattern("", "plain", 0.9, "2", PatternKind.RETRIEVAL_STRATEGY),
        AppliedPattern("", "Use bullet points.", 0.8, "3", PatternKind.RESPONSE_FORMATTING),
        AppliedPattern("connection refused", "Start the server.", 0.7, "4", PatternKind.ERROR_FIX),
    )
    reading = Reading("", (), (), applied_patterns=patterns)
    found = offers(reading=reading)[SectionKind.PROCEDURES]
    assert [(c.memory_id, c.body) for c in found] == [
        ("3", "Use bullet points."),
        ("4", "connection refused: Start the server."),
    ]


class _Recaller:
    """Answers every recall with the same."""

    def __init__(self, answer: Recalled) -> None:
        self.answer = answer
        self.recorded: list[tuple[str, Assembled]] = []

    async def run(self, *_asked: object, deadline_seconds: float, records: bool = True) -> Recalled:
        assert deadline_seconds > 0
        assert not records, "what is left out of the text is not returned"
        return self.answer

    async def record(
        self,
        _principal: Principal,
        _query: RecallQuery,
        recall_id: str,
        returned: Assembled,
        applied: Sequence[AppliedPattern],
        *,
        seconds_left: float,
        also_read: Sequence[str] = (),
    ) -> None:
        assert not also_read
        assert applied == self.answer.reading.applied_patterns
        assert 0 < seconds_left <= 1
        self.recorded.append((recall_id, returned))


async def test_spec_5_9_a_context_is_text_with_its_sources_and_says_what_is_missing() -> None:
    answer = recalled(memories=(memory(1, "I moved to Lyon."),), facts=(fact("f", 1),))
    builder = ContextBuilder(_Recaller(answer), WordCounter(), ContextSettings())
    query = RecallQuery("ada", "where", 10, NOON)
    context = await builder.build(ADA, query, ContextRequest(200), deadline_seconds=1.0)
    assert context.text == "## Known facts\n- fact f\n\n## Relevant memories\n[2026-03-01] Ada: I moved to Lyon."
    assert context.token_count == count_words(context.text) <= 200
    assert [item.interaction_ids for section in context.sections for item in section.items] == [(uuid(1),)] * 2
    assert context.tokenizer == "words"
    assert context.recalled is answer
    assert context.memory_ids == {"f", uuid(1)}
    assert {report.kind: report.state for report in context.section_reports} == {
        SectionKind.FACTS: SectionState.INCLUDED,
        SectionKind.PROCEDURES: SectionState.EMPTY,
        SectionKind.NOTES: SectionState.EMPTY,
        SectionKind.MEMORIES: SectionState.INCLUDED,
        SectionKind.RECENT_TURNS: SectionState.EMPTY,
    }


async def test_spec_6_4_and_6_10_what_is_in_the_text_or_cited_there_alone_is_recorded_as_returned() -> None:
    answer = recalled(
        memories=(
            memory(1, "I moved to Lyon."),
            memory(2, "I moved to Lyon"),
            memory(3, "I moved away again, " + "and then again, " * 200 + "and stayed."),
        ),
        facts=(fact("f", 1),),
        notes=(note("of a memory", 1),),
        recent_turns=(
            session_turn(7, "And where " + "or where " * 300 + "do I live now?"),
            session_turn(8, "Tell me!"),
        ),
    )
    recaller = _Recaller(answer)
    builder = ContextBuilder(recaller, WordCounter(), ContextSettings())
    query = RecallQuery("ada", "where", 10, NOON)
    context = await builder.build(ADA, query, ContextRequest(200), deadline_seconds=1.0)
    [(recall_id, returned)] = recaller.recorded
    assert recall_id == answer.recall_id
    assert returned == context.returned
    assert [found.memory_id for found in returned.memories] == [uuid(1), uuid(2)], "the second one is cited"
    assert [found.memory_id for found in returned.facts] == ["f"]
    assert returned.notes == ()
    assert [turn.interaction_id for turn in returned.recent_turns] == [uuid(8)]


class _HeldCounter(WordCounter):
    """Counts when the event loop has opened the gate, for which it must not wait on the loop."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def count_tokens(self, text: str) -> int:
        assert self.gate.wait(timeout=20)
        return super().count_tokens(text)


async def test_issue_17_4_a_context_of_long_texts_is_written_beside_other_calls() -> None:
    counter = _HeldCounter()
    answer = recalled(memories=tuple(memory(n, f"{n} is a number. " * 2_000) for n in range(3)))
    builder = ContextBuilder(_Recaller(answer), counter, ContextSettings())
    query = RecallQuery("ada", "where", 10, NOON)
    building = asyncio.create_task(builder.build(ADA, query, ContextRequest(200), deadline_seconds=1.0))
    asyncio.get_running_loop().call_later(0.01, counter.gate.set)
    assert 0 < (await building).token_count <= 200


async def test_a_context_of_an_empty_answer_is_empty() -> None:
    builder = ContextBuilder(_Recaller(recalled()), WordCounter(), ContextSettings())
    query = RecallQuery("ada", "where", 10, NOON)
    context = await builder.build(ADA, query, ContextRequest(64), deadline_seconds=1.0)
    assert (context.text, context.token_count, context.sections) == ("", 0, ())
