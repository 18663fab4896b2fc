"""Statements that contradict each other, the job that decides about them, and what the other process does to them."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from services.common.comparing.port import ThreadComparer
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.maintenance import Job
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import InteractionId, Owner, TenantId
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from services.common.turns import MessageRole, Turn
from services.semantic.config import SemanticSettings, SupersessionQueueSettings, SupersessionSettings
from services.semantic.facts.arguments import DeleteFact
from services.semantic.facts.model import ExtractionResult, FactDraft, FactId, Statement, StatementId
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.store import FactWriter
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.maintenance.queue import ResolveSupersessions
from services.semantic.supersession.adjudication import Adjudicator
from services.semantic.supersession.model import (
    Decider,
    Decision,
    Marks,
    QueuedPair,
    QueuePolicy,
    State,
    Supersession,
    Verdict,
)
from services.semantic.supersession.service import SupersessionService
from services.semantic.supersession.store import original_pair
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from services.semantic.supersession.stores.postgres_queue import PostgresSupersessionQueue
from tests.contract.fact_samples import DAY_ONE, EMBEDDER, enter, likes
from tests.integration.maintenance.graph_cases import EVERY_STATUS
from tests.integration.maintenance.places import JobCase, Place
from tests.integration.maintenance.queue_case import ResolveQueue
from tests.property.interleavings.other import CallHome, Disturbance, Disturber, Kind, Outcome
from tests.property.interleavings.world import Moments, World
from tests.support.clock import FakeClock

_SUBJECTS: Final = (
    ("I live in {}.", "I bike to work in {}."),
    ("My office is in {}.", "I swim in the river near my office in {}."),
    ("My sister lives in {}.", "I swim at my sister's in {}."),
    ("My brother lives in {}.", "I swim at my brother's in {}."),
    ("My aunt lives in {}.", "I swim at my aunt's in {}."),
)
"""What is said of a place, and what rests on that."""
_CITIES: Final = ("Porto", "Lisbon", "Ghent")
_SEVERAL: Final = 3
_JOBS_DECIDE: Final = frozenset({Decider.POLICY, Decider.LANGUAGE_MODEL})
_RULINGS: Final = (Decision.LATER_STANDS, Decision.EARLIER_STANDS, Decision.BOTH_STAND, None)
_LOGGED: Final = "SELECT FROM maintenance.log WHERE user_id = $1"
_STATED: Final = "SELECT DISTINCT interaction_id::text FROM semantic.assertions WHERE user_id = $1"


@dataclass(frozen=True, slots=True)
class Told:
    """A turn, with the fact that is read in it."""

    turn_id: InteractionId
    sentences: tuple[str, ...]
    time: datetime
    fact: str
    confidence: float
    importance: float
    is_late: bool = False  # arrives only while a job runs

    def source(self, owner: Owner) -> SourceInteraction:
        """What the gateway hands on."""
        turn = Turn(MessageRole.USER, " ".join(self.sentences), self.time, "Ann")
        return SourceInteraction(self.turn_id, owner.user_id, "talk", 0, turn)


def told_by(owner: Owner) -> list[Told]:
    """What a user says: of each subject two or three places, most of them at the same time, and what rests on one."""
    chosen, number = random.Random(f"told by {owner.user_id}"), int(owner.user_id.rpartition("-")[2])
    found: list[Told] = []

    def tell(time: datetime, *sentences: str, is_late: bool = False) -> None:
        serial = number * 1_000 + len(found) + 1
        values = chosen.choice([0.5, 0.8, 0.95]), chosen.choice([0.3, 0.5, 0.9])
        turn_id = InteractionId(f"11111111-0000-7000-8000-{serial:012d}")
        found.append(Told(turn_id, sentences, time, f"Ann told fact {serial}.", *values, is_late=is_late))

    for place, (statement, rest) in enumerate(chosen.sample(_SUBJECTS, chosen.randint(_SEVERAL, len(_SUBJECTS)))):
        day = DAY_ONE + timedelta(days=place)
        names = [f"{city}{number}x{place}" for city in _CITIES[: chosen.choice([2, 2, 3])]]
        for nth, name in enumerate(names):
            hens = [f"My uncle keeps {number}{place}{nth} hens."] if chosen.random() < 0.3 else []
            later = timedelta(hours=nth if place and chosen.random() < 0.3 else 0)
            tell(day + later, statement.format(name), *hens)
        tell(day - timedelta(hours=1), rest.format(names[0]), is_late=chosen.random() < 0.5)
    return found


class _Rules:
    """Rules on pairs by their ids, as a language model would."""

    is_configured = True

    async def verdicts(self, tenant_id: TenantId, pairs: Sequence[QueuedPair]) -> Mapping[str, Verdict]:
        del tenant_id
        ruled = ((pair.supersession.supersession_id, ruling_on(pair.supersession)) for pair in pairs)
        return {key: Verdict(ruling, Decider.LANGUAGE_MODEL, "as ruled") for key, ruling in ruled}


def ruling_on(pair: Supersession) -> Decision | None:
    """What the language model says."""
    return _RULINGS[zlib.crc32(pair.supersession_id.encode()) % len(_RULINGS)]


@dataclass(frozen=True)
class Resolve(ResolveQueue):
    """The job with a policy."""

    policy: QueuePolicy = QueuePolicy.CONFIDENCE

    def job(self, place: Place) -> Job[Any]:
        queue = SupersessionQueueSettings(page_size=2, model_pairs_max=2, owners_page=1)
        settings = SupersessionSettings(policy=self.policy, queue=queue)
        model = cast("Adjudicator", _Rules()) if self.policy is QueuePolicy.LANGUAGE_MODEL else None
        return ResolveSupersessions(PostgresSupersessionQueue(place.pool), place.clock, settings, model)


_JOBS: Final[tuple[JobCase, ...]] = tuple(
    Resolve("semantic.resolve_supersessions", policy=policy)
    for policy in (QueuePolicy.CONFIDENCE, QueuePolicy.IMPORTANCE, QueuePolicy.REDUCE, QueuePolicy.LANGUAGE_MODEL)
)


class StatementDisturber:
    """Uses the services as a replica of the tier does."""

    def __init__(self, pool: Pool, clock: FakeClock) -> None:
        settings, ids, store = SemanticSettings(), Uuid7Ids(clock), PostgresFactStore(pool)
        log = PostgresMaintenanceStore(pool)
        self._pairs = pairs_of(pool, clock)
        self._removal = FactRemoval(
            store, TierEmbedder(EMBEDDER), clock=clock, ids=ids, settings=settings, maintenance=log
        )

    async def do(self, disturbance: Disturbance) -> str:
        owner, target = disturbance.owner, disturbance.target
        key = IdempotencyKey("ann", disturbance.request_id, "")
        match disturbance.kind:
            case Kind.ERASE:
                await self._pairs.remove_sources(owner, [InteractionId(target)])
                await self._removal.remove_by_source(owner, [InteractionId(target)])
            case Kind.FORGET:
                await self._removal.delete(DeleteFact(owner, key, FactId(target), ""))
            case Kind.DECIDE:
                await self._pairs.resolve(owner, key, target, Decision[disturbance.text])
            case Kind.DELIVER:
                late = next(each for each in told_by(owner) if each.turn_id == target)
                await self._pairs.take_in(owner.tenant_id, [late.source(owner)])
            case Kind.ERASE_ALL:
                await self._pairs.remove_owner(owner)
                await self._removal.remove_owner(owner)
        return ""


def pairs_of(pool: Pool, clock: FakeClock) -> SupersessionService:
    """The service of a tier."""
    settings = SupersessionSettings()
    return SupersessionService(PostgresSupersessionStore(pool), ThreadComparer(), clock=clock, settings=settings)


def statement_disturber(pool: Pool, clock: FakeClock, home: CallHome) -> Disturber:
    """The other process's."""
    del home
    return StatementDisturber(pool, clock)


class StatementWorld(World):
    """Turns of which most contradict another one; the other process erases, forgets facts, decides and delivers."""

    cases = _JOBS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.case = self.case or self.random.choice(self.cases)
        self.told = {str(each.turn_id): each for each in told_by(self.owner)}
        self.late = {key for key, each in self.told.items() if each.is_late}
        self.facts: dict[str, str] = {}  # turns by the ids of what was read in them
        self.first: dict[str, Supersession] = {}  # pairs as the rules made them
        self.chosen: dict[str, Decision] = {}  # what the user decided
        self.is_undone = self.is_erasing = False
        self.seen: Marks | None = None

    @property
    def run_owner(self) -> Owner | None:
        """See `World.run_owner`: half of the runs are those for all users."""
        return self.owner if self.number % 2 else None

    async def fill(self) -> None:
        self.clock.set(DAY_ONE + timedelta(days=10))
        turns = [each for each in self.told.values() if not each.is_late]
        await pairs_of(self.place.pool, self.clock).take_in(
            self.owner.tenant_id, [each.source(self.owner) for each in turns]
        )
        store = PostgresFactStore(self.place.pool)
        read = [Statement(StatementId(t.turn_id), t.time, _draft(t), (t.turn_id,), sentences=(0,)) for t in turns]
        fact_ids = await enter(store, self.owner, read)
        extracted = [ExtractionResult(each.turn_id, (key,)) for each, key in zip(turns, fact_ids, strict=True)]

        async def mark(writer: FactWriter) -> None:
            await writer.add_extracted(extracted)

        await store.write(self.owner, mark)
        self.facts = {str(key): each.turn_id for each, key in zip(turns, fact_ids, strict=True)}
        assert len(self.facts) == len(turns), "each turn is a fact"
        self.originals = {each.turn_id: each.sentences[0] for each in turns}
        self.first = await self._listed()
        assert sum(one.state is State.PENDING for one in self.first.values()) >= 1, "something waits"
        self.clock.advance(days=8)

    async def change(self) -> None:
        left, pairs = sorted(set(self.originals) - self.erased), await self._listed()
        facts = sorted(key for key in self.facts if self.facts[key] in left and key not in self.forgotten)
        if self.is_erased or self.is_erasing or len(left) < _SEVERAL:
            return
        chance = self.random.random()
        if chance < 0.04:
            self.is_erasing = True
            await self._disturb(Kind.ERASE_ALL, "")
        elif chance < 0.25 and self.late:
            await self._disturb(Kind.DELIVER, self.late.pop())
        elif chance < 0.55 and pairs:
            await self._decide(pairs)
        elif chance < 0.7 and facts:
            await self._disturb(Kind.FORGET, self.random.choice(facts))
        else:
            await self._disturb(Kind.ERASE, self.random.choice(left))

    async def _decide(self, pairs: Mapping[str, Supersession]) -> None:
        """About a pair; now and then about what rests on a statement, and then about that statement."""
        rests = [key for key, one in sorted(pairs.items()) if one.premise]
        keys = [self.random.choice(rests if rests and self.random.random() < 0.5 else sorted(pairs))]
        if keys[0] in rests and self.random.random() < 0.5:
            keys += [key for key, one in pairs.items() if _ends(one, pairs[keys[0]])]
        for key in keys:
            text, number = self.random.choice(list(Decision)).name, self.ids.new_id()
            await self.other.disturb(Disturbance(Kind.DECIDE, self.owner, key, number, self.clock.now(), text=text))

    def _note(self, outcome: Outcome) -> None:
        super()._note(outcome)
        asked = outcome.disturbance
        if asked.kind is Kind.DECIDE and not outcome.error:
            self.chosen[asked.target] = Decision[asked.text]
            self.corrected[asked.target] = ("", asked.text)
        if asked.kind is Kind.DELIVER:
            assert not outcome.error
            self.originals[asked.target] = self.told[asked.target].sentences[0]

    async def undo(self) -> None:
        """Takes the runs back, half of the time while the other process goes on."""
        before = {key for key, one in (await self._listed()).items() if one.decided_by in _JOBS_DECIDE}
        moments = Moments({self.random.randint(1, 12): [self.change]} if self.random.random() < 0.5 else {})
        with moments.watched():
            await super().undo()
        await self.settled()
        self.is_undone = self.is_undone or bool(before)
        after = await self._listed()
        for key in before & set(after) - set(self.chosen):
            one = after[key]
            assert (one.state, one.decided_by) == (State.PENDING, Decider.USER), "a decision of the job stays"
            assert _sides(one) == _sides(self.first[key]), "the sides of a pair are not as they were"

    async def run(self, job: Job[Any], actions: Any) -> bool:
        """See `World.run`: what can be decided is."""
        is_reached = await super().run(job, actions)
        for key, one in (await self._listed()).items():
            is_queued = one.state is State.PENDING and one.decided_by is Decider.NOBODY
            if is_queued and not self._is_doubtful(one):
                assert self._expected(self.first[key]) is None, "a pair waits about which the policy says something"
        return is_reached

    async def check(self) -> None:
        gone = set(self.originals) if self.is_erased else self.erased
        pairs = await self._listed()
        for one in pairs.values():
            assert not gone & _turns(one), "a pair outlives a statement"
        lost = {key for key, one in self.first.items() if not gone & _turns(one)} - set(pairs)
        assert not lost, f"pairs that nobody removed are gone: {lost}"
        for key, one in pairs.items():
            self._check_pair(key, one, pairs)
        await self._check_marks(pairs)
        stated = {row[0] for row in await self.superuser.fetch(_STATED, self.owner.user_id)}
        assert stated == set(self.originals) - gone, "statements are lost, or back"
        store = PostgresFactStore(self.place.pool)
        listed = await store.list_facts(self.owner, which=EVERY_STATUS, after=None, limit=500)
        expected = {key for key, turn in self.facts.items() if turn not in gone and key not in self.forgotten}
        assert {str(fact.fact_id) for fact in listed} == expected, "facts are lost, or back"
        texts = {sentence for turn in gone for sentence in self.told[turn].sentences}
        texts |= {self.told[turn].fact for key, turn in self.facts.items() if turn in gone or key in self.forgotten}
        await self.check_rows(texts)
        if self.is_erased and self.run_owner is not None:
            assert not await self.superuser.fetch(_LOGGED, self.owner.user_id), "a run is logged of an erased user"

    def _check_pair(self, key: str, one: Supersession, pairs: Mapping[str, Supersession]) -> None:
        first = self.first.get(key)
        if key in self.chosen:
            assert one.decided_by is Decider.USER, "the user did not decide last"
            assert _is_decided(one, self.chosen[key]), f"{self.chosen[key].name} became {one.state.name}"
        elif one.premise:
            (premise,) = [each for each in pairs.values() if _ends(each, one)]
            is_ended = premise.ends_premises and not premise.is_turned
            assert (one.state is State.APPLIED) is is_ended, "what rests on a premise does not follow it"
        elif one.decided_by in _JOBS_DECIDE:
            assert first is not None
            expected = self._expected(first)
            if one.state is State.PENDING:
                assert expected is None, "what the job decided waits"
            else:
                assert expected is not None, "the policy says nothing about it"
                assert _is_decided(one, expected), f"{expected.name} became {one.state.name}"
        elif first is not None and one != first:
            assert self.is_undone, "a pair changed that nobody decided about"
            assert one == replace(first, decided_by=Decider.USER), "an undo changed a pair"

    async def _check_marks(self, pairs: Mapping[str, Supersession]) -> None:
        """That recalls see what is decided, those too that know an earlier revision."""
        store = PostgresSupersessionStore(self.place.pool)
        marks = await store.marks(self.owner, cached_revision=None, limit=1_000)
        assert marks.superseded == [one for one in pairs.values() if one.state is State.APPLIED]
        assert marks.reduced == [one for one in pairs.values() if one.state in {State.PENDING, State.REDUCED}]
        if self.seen is not None and self.seen.revision == marks.revision:
            assert self.seen == marks, "marks changed, and their revision did not"
        self.seen = marks

    def _expected(self, pair: Supersession) -> Decision | None:
        """What the policy says about a pair whose facts are all there."""
        assert isinstance(self.case, Resolve)
        policy = self.case.policy
        if policy is QueuePolicy.LANGUAGE_MODEL:
            return ruling_on(pair)
        if pair.loser.number:
            return None  # no fact is read in the second sentence of a turn
        if policy is QueuePolicy.REDUCE:
            return Decision.BOTH_REDUCED
        earlier, later = (self.told[place.interaction_id] for place in original_pair(pair))
        less, more = (
            (earlier.confidence, later.confidence)
            if policy is QueuePolicy.CONFIDENCE
            else (earlier.importance, later.importance)
        )
        if less == more:
            return None
        return Decision.LATER_STANDS if more > less else Decision.EARLIER_STANDS

    def _is_doubtful(self, pair: Supersession) -> bool:
        """Whether a fact of a side was forgotten, maybe before the job."""
        return any(self.facts[key] in _turns(pair) for key in self.forgotten)

    async def _listed(self) -> dict[str, Supersession]:
        store = PostgresSupersessionStore(self.place.pool)
        listed = await store.list_page(self.owner, state=None, after=None, limit=1_000)
        return {one.supersession_id: one for one in listed}


def _draft(told: Told) -> FactDraft:
    about = replace(likes("tea"), predicate="event", text=told.fact, object=told.fact)
    return replace(about, confidence=told.confidence, importance=told.importance)


def _turns(one: Supersession) -> set[str]:
    """Whose words a pair has."""
    places = [one.loser, one.winner]
    if one.premise and one.premise_place is not None:
        places.append(one.premise_place)
    return {str(place.interaction_id) for place in places}


def _sides(one: Supersession) -> tuple[object, ...]:
    return (one.loser, one.winner, one.statement, one.standing_statement, one.is_whole, one.is_turned)


def _ends(premise: Supersession, rest: Supersession) -> bool:
    """Whether a pair is the one by which the premise of another one ended."""
    return not premise.premise and original_pair(premise) == (rest.premise_place, rest.winner)


def _is_decided(one: Supersession, decision: Decision) -> bool:
    if one.premise:
        return one.state is (State.APPLIED if decision is Decision.LATER_STANDS else State.REJECTED)
    if decision in {Decision.BOTH_STAND, Decision.BOTH_REDUCED}:
        return one.state is (State.REJECTED if decision is Decision.BOTH_STAND else State.REDUCED)
    return one.state is State.APPLIED and one.is_turned is (decision is Decision.EARLIER_STANDS)
