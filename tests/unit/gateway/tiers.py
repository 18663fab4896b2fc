"""Tiers that answer, refuse, or never answer, as the gateway's clients see them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from uuid import UUID

from google.protobuf import duration_pb2
from google.protobuf.message import Message

from mneme.agentic.internal.v1 import notes_pb2 as note_internal_pb2
from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.internal.v1 import session_internal_pb2
from mneme.session.v1 import session_pb2
from services.common.auth import Principal, Role
from services.common.errors import MnemeError
from services.common.scope import Scope
from services.common.turns import MessageRole, Turn
from services.gateway.journal.ending import SessionBeginning, SessionRecord
from services.gateway.journal.model import DeliveryState, Interaction, SequenceSpan, Tier
from services.gateway.journal.store import Journal
from services.gateway.session_archive import SessionArchive
from services.gateway.sessions import SessionAccess, SessionSettings
from services.gateway.upstream import Upstream
from tests.support.clock import FakeClock

ADA: Final = Principal("acme", "agent", Role.WRITER)
NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class _Never:
    """The answer of a tier that hangs."""


NEVER: Final = _Never()
_DEFAULTS: Final = session_internal_pb2.SessionSettings(window_turns=10, ttl=duration_pb2.Duration(seconds=3_600))
NO_EVENTS: Final = session_internal_pb2.ListLogEventsResponse(defaults=_DEFAULTS)

Answer = Message | MnemeError | _Never | Callable[[Any], Message]


class FakeMethod:
    """One method of a tier's client: answers as told, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[Any] = []
        self.principals: list[Principal] = []
        self.timeouts: list[float] = []
        self.gate: asyncio.Event | None = None  # it answers once this is set
        self.was_cancelled = False  # a call was given up
        self._asked = asyncio.Condition()

    async def __call__(self, principal: Principal, request: Any, *, timeout_seconds: float) -> Any:
        self.requests.append(request)
        self.principals.append(principal)
        self.timeouts.append(timeout_seconds)
        async with self._asked:
            self._asked.notify_all()
        try:
            if self.gate is not None:
                await self.gate.wait()
            if isinstance(self.answer, _Never):
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if isinstance(self.answer, MnemeError):
            raise self.answer
        return self.answer(request) if callable(self.answer) else self.answer

    async def until_asked(self, count: int) -> None:
        """Returns when it was called so often."""
        async with asyncio.timeout(5.0), self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= count)


def facts_answer(hits: Iterable[facts_pb2.ScoredFact]) -> semantic_pb2.SearchCandidatesResponse:
    """What the semantic tier returns: facts, and no superseded statements."""
    return semantic_pb2.SearchCandidatesResponse(facts=facts_pb2.SearchFactsResponse(hits=hits))


class FakeClient:
    """A tier's client; a method without an answer is a fault of the test."""

    def __init__(self, **answers: Answer) -> None:
        for name, answer in answers.items():
            setattr(self, name, FakeMethod(answer))

    def method(self, name: str) -> FakeMethod:
        return cast("FakeMethod", getattr(self, name))


@dataclass
class FakeTiers:
    """All tiers; each answers with nothing unless told otherwise."""

    session: FakeClient = field(
        default_factory=lambda: FakeClient(
            get=session_pb2.GetSessionResponse(),
            append=session_internal_pb2.IngestTurnsResponse(),
            log_events=NO_EVENTS,
        )
    )
    episodic: FakeClient = field(
        default_factory=lambda: FakeClient(
            search_candidates=episodic_internal_pb2.SearchCandidatesResponse(),
            batch_get=episodic_pb2.BatchGetEpisodesResponse(),
            record_access=episodic_internal_pb2.RecordAccessResponse(),
            record_feedback=episodic_internal_pb2.RecordFeedbackResponse(),
            store=episodic_internal_pb2.StoreEpisodesResponse(),
        )
    )
    facts: FakeClient = field(
        default_factory=lambda: FakeClient(
            search_candidates=facts_answer(()), record_feedback=semantic_pb2.RecordFeedbackResponse()
        )
    )
    profile: FakeClient = field(
        default_factory=lambda: FakeClient(
            observe=semantic_pb2.ObserveInteractionsResponse(),
            judge=semantic_pb2.JudgeInteractionsResponse(),
            judge_recall=semantic_pb2.JudgeRecallResponse(),
            for_reading=semantic_pb2.GetReadingProfileResponse(),
        )
    )
    notes: FakeClient = field(
        default_factory=lambda: FakeClient(
            search=note_internal_pb2.SearchNotesResponse(), record_feedback=note_internal_pb2.RecordFeedbackResponse()
        )
    )

    def upstream(self) -> Upstream:
        others = (FakeClient(), FakeClient())  # of procedures and supersessions
        clients: Any = (self.session, self.episodic, self.facts, self.profile, *others, self.notes, {})
        return Upstream(*clients)


@dataclass
class FakeJournal:
    """The few reads of the journal that a recall makes."""

    names: Sequence[str] = ()
    state: DeliveryState = DeliveryState.DELIVERED  # of what was written
    logged: Sequence[Interaction] = ()
    record: SessionRecord | None = None  # the session's own settings
    start: int = 0  # position that the session begins at
    said_by: Mapping[str, tuple[MessageRole, str]] = field(default_factory=dict)  # turns of ada
    speakers_error: Exception | None = None
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
        self.asked.append((tenant_id, user_id))
        return self.names

    async def turn_sources(self, _tenant_id: str, _interaction_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {}

    async def turn_speakers(
        self, _tenant_id: str, user_id: str, interaction_ids: Sequence[str]
    ) -> dict[str, tuple[MessageRole, str]]:
        if self.speakers_error is not None:
            raise self.speakers_error
        found = {identifier: self.said_by[identifier] for identifier in interaction_ids if identifier in self.said_by}
        return found if user_id == "ada" else {}

    async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
        self.asked.append((tenant_id, span, tuple(tiers)))
        return self.state

    async def session_interactions(
        self, _tenant_id: str, _user_id: str, _conversation_id: str, *, limit: int
    ) -> Sequence[Interaction]:
        return [said for said in self.logged if said.position >= self.start][-limit:]

    async def session_record(self, _tenant_id: str, _user_id: str, _conversation_id: str) -> SessionRecord | None:
        return self.record

    async def session_start(self, _tenant_id: str, _user_id: str, _conversation_id: str) -> int:
        return self.start

    async def session_beginning(self, _tenant_id: str, _user_id: str, _conversation_id: str) -> SessionBeginning:
        times = [said.create_time for said in self.logged if said.position >= self.start]
        return SessionBeginning(self.start, times[0] if times else None)

    def as_journal(self) -> Journal:
        return cast("Journal", self)


def archive(tiers: FakeTiers | None = None, journal: FakeJournal | None = None) -> SessionArchive:
    log = (journal or FakeJournal()).as_journal()
    return SessionArchive((tiers or FakeTiers()).upstream(), log, clock=FakeClock(NOON))


def sessions(tiers: FakeTiers, journal: FakeJournal | None = None) -> SessionAccess:
    log = (journal or FakeJournal()).as_journal()
    settings = SessionSettings()
    return SessionAccess(tiers.upstream(), log, archive(tiers, journal), clock=FakeClock(NOON), settings=settings)


def uuid(number: int) -> str:
    return str(UUID(int=number))


def candidates(
    numbers: Sequence[int],
    *,
    dense: Sequence[float] | None = None,
    lexical: Sequence[float] | None = None,
    speakers: Sequence[int] | None = None,
    names: Sequence[str] = ("",),
) -> episodic_internal_pb2.SearchCandidatesResponse:
    """Candidate turns far apart in one conversation; ranks follow the scores."""
    count = len(numbers)
    dense_scores = list(dense) if dense is not None else [0.5] * count
    lexical_scores = list(lexical) if lexical is not None else [0.0] * count
    return episodic_internal_pb2.SearchCandidatesResponse(
        episode_ids=b"".join(UUID(int=number).bytes for number in numbers),
        dense_scores=dense_scores,
        lexical_scores=lexical_scores,
        dense_ranks=_ranks(dense_scores),
        lexical_ranks=_ranks(lexical_scores),
        conversation_indexes=[0] * count,
        positions=[100 * place for place in range(count)],
        speaker_indexes=list(speakers) if speakers is not None else [0] * count,
        times=[NOON.timestamp()] * count,
        lengths=[40] * count,
        traits=[0] * count,
        feedbacks=[0] * count,
        importances=[0.5] * count,
        conversation_ids=["c1"],
        speakers=names,
    )


def _ranks(scores: Sequence[float]) -> list[int]:
    """Places from 1, best first; 0 for what has no score."""
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return [order.index(index) + 1 if scores[index] else 0 for index in range(len(scores))]


def scope_message(scope: Scope) -> common_pb2.Scope:
    return common_pb2.Scope(
        level=common_pb2.ScopeLevel.Name(int(scope.level)),
        project_id=scope.project_id,
        session_id=scope.session_id,
        task_id=scope.task_id,
        context_id=scope.context_id,
    )


def episode(number: int, text: str = "hello", *, scope: Scope | None = None) -> episodic_pb2.Episode:
    message = episodic_pb2.Episode(
        episode_id=uuid(number),
        user_id="ada",
        conversation_id="c1",
        role=common_pb2.MESSAGE_ROLE_USER,
        speaker="Ada",
        query=text,
    )
    message.time.FromDatetime(NOON)
    if scope is not None:
        message.scope.CopyFrom(scope_message(scope))
    return message


def fact_hit(
    name: str, *sources: int, similarity: float = 0.8, scope: Scope | None = None, **fields: Any
) -> facts_pb2.ScoredFact:
    fact = facts_pb2.Fact(fact_id=name, text=f"fact {name}", derived_from=map(uuid, sources), **fields)
    if scope is not None:
        fact.scope.CopyFrom(scope_message(scope))
    return facts_pb2.ScoredFact(fact=fact, similarity=similarity)


def note_hit(name: str, *sources: int, score: float = 0.5, scope: Scope | None = None) -> notes_pb2.ScoredNote:
    note = notes_pb2.Note(note_id=name, content=f"note {name}", derived_from=map(uuid, sources))
    if scope is not None:
        note.scope.CopyFrom(scope_message(scope))
    return notes_pb2.ScoredNote(note=note, score=score)


def session_turn(number: int, text: str = "hi", *, scope: Scope | None = None) -> session_pb2.SessionTurn:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, speaker="Ada", content=text)
    message = session_pb2.SessionTurn(interaction_id=uuid(number), position=number, turn=turn)
    if scope is not None:
        message.scope.CopyFrom(scope_message(scope))
    return message


def interaction(number: int, text: str = "hello", *, conversation: str = "c1", **turn_fields: Any) -> Interaction:
    fields = {"role": MessageRole.USER, "content": text, "time": NOON, **turn_fields}
    return Interaction(
        tenant_id="acme",
        interaction_id=uuid(number),
        user_id="ada",
        conversation_id=conversation,
        position=number,
        turn=Turn(**fields),
        scope=Scope(),
        create_time=NOON - timedelta(minutes=1),
    )
