"""Facts as of a time: what was believed then, and what held then (SPEC 3.7).

Facts that were deprecated or archived since are among them. Those that were merged are not: the fact that they were
merged into has their evidence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from services.common.owners import Owner
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.arguments import FactPage, ListFacts
from services.semantic.facts.believing import believed
from services.semantic.facts.ends import FactEnds
from services.semantic.facts.evidence import confidence_at
from services.semantic.facts.model import ACTIVE, Fact, FactId, FactStatus, ScoredFact
from services.semantic.facts.store import FactPosition, FactSearch, FactStore


class FormerFacts:
    """Lists and searches facts as of a time."""

    def __init__(self, store: FactStore, ends: FactEnds, settings: SemanticSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._ends = ends
        self._settings = settings

    async def listed(self, command: ListFacts, *, faded_at: datetime) -> FactPage:
        """A page of what was believed, or held, at a time, in the order of today; see `FactService.list_facts`.

        What held has the decay of `faded_at`.
        """
        statuses = frozenset(FactStatus) - (frozenset() if command.known_at else {FactStatus.MERGED_INTO})
        which, after = replace(command.which, statuses=statuses, confidence_min=0.0), command.after
        while True:
            found = await self._store.list_facts(command.owner, which=which, after=after, limit=command.page_size + 1)
            page, more = found[: command.page_size], len(found) > command.page_size
            by_id = {fact.fact_id: fact for fact in await self._then(command, page, faded_at)}
            listed = [fact for fact in page if fact.fact_id in by_id]
            if page:
                after = position_of(page[-1])
            if listed or not more:
                facts = tuple(by_id[fact.fact_id] for fact in listed)
                return FactPage(facts, after if more else None, tuple(map(position_of, listed)))

    async def _then(self, command: ListFacts, page: Sequence[Fact], faded_at: datetime) -> list[Fact]:
        """Those of a page that belong to the list, as they were believed then."""
        owner, known_at, held_at = command.owner, command.known_at, command.held_at
        if known_at is not None:
            page = list((await self._states(owner, [fact.fact_id for fact in page], known_at)).values())
        shown = await self._ends.of(owner, page, known_at=known_at)
        if held_at is not None:
            begun = _begun(shown, held_at)
            shown = [fact for fact in shown if fact.fact_id in begun and not _has_ended(fact, held_at)]
        least, evidence = self._settings.use.explicit_confidence_min, self._settings.evidence
        if command.include_low_confidence:
            return list(shown)
        if known_at is not None:
            return [fact for fact in shown if fact.confidence >= least]
        return [fact for fact in shown if confidence_at(fact, faded_at, evidence) >= least]

    async def believed(
        self,
        owner: Owner,
        wanted: FactSearch,
        known_at: datetime,
        *,
        held_at: datetime | None = None,
        faded_at: datetime,
    ) -> list[ScoredFact]:
        """The nearest facts that were believed enough at a time, with their validity of then, faded up to another time.

        With `held_at` those that were believed to have begun, or had been said, by then. They are found by what they
        say today: their former texts have no vectors.
        """
        widest = replace(self._widened(wanted), confidence=0.0, includes_threshold=True)
        hits = await self._store.search(owner, widest)
        states = await self._states(owner, [hit.fact.fact_id for hit in hits], known_at)
        former = [replace(hit, fact=states[hit.fact.fact_id]) for hit in hits if hit.fact.fact_id in states]
        facts = await self._ends.of(owner, [hit.fact for hit in former], known_at=known_at)
        return self._admitted(former, facts, wanted, faded_at, held_at)

    async def held(
        self, owner: Owner, wanted: FactSearch, held_at: datetime, *, faded_at: datetime
    ) -> list[ScoredFact]:
        """The nearest facts that had begun or been said, with the decay of `faded_at`.

        Active ones that had ended by then are found with their end, as in searches of the present; retired ones not.
        """
        hits = await self._store.search(owner, self._widened(wanted))
        facts = await self._ends.of(owner, [hit.fact for hit in hits])
        return self._admitted(hits, facts, wanted, faded_at, held_at)

    def _widened(self, wanted: FactSearch) -> FactSearch:
        """The search with room for facts that turn out not to have been believed then."""
        limit = max(wanted.limit, self._settings.use.former_candidates)
        return replace(wanted, limit=limit, includes_retired=True)

    def _admitted(
        self,
        hits: Sequence[ScoredFact],
        facts: Sequence[Fact],
        wanted: FactSearch,
        at: datetime,
        held_at: datetime | None,
    ) -> list[ScoredFact]:
        evidence = self._settings.evidence
        begun = None if held_at is None else _begun(facts, held_at)
        shown = (
            with_confidence(hit, fact, at, evidence)
            for hit, fact in zip(hits, facts, strict=True)
            if begun is None or held_at is None or _may_be_found(fact, held_at, has_begun=fact.fact_id in begun)
        )
        return [one for one in shown if admits(wanted, one)][: wanted.limit]

    async def _states(self, owner: Owner, fact_ids: Sequence[FactId], known_at: datetime) -> Mapping[FactId, Fact]:
        """The states of then, without marks; of those facts of which something had been recorded."""
        if not fact_ids:
            return {}
        records = await self._store.write(owner, lambda writer: writer.records_of(fact_ids, are_reduced=True))
        evidence = self._settings.evidence
        # Some hundred facts with their statements take longer than the event loop may wait.
        states = await asyncio.to_thread(believed, records, known_at, user_id=owner.user_id, settings=evidence)
        return {fact_id: states[fact_id] for fact_id in fact_ids if fact_id in states}


def with_confidence(hit: ScoredFact, shown: Fact, at: datetime, evidence: EvidenceSettings) -> ScoredFact:
    """A hit with its fact as marks leave it, and with the confidence that this one has with the decay at a time."""
    share = shown.confidence / hit.fact.confidence if hit.fact.confidence else 1.0
    return replace(hit, fact=shown, confidence_now=share * confidence_at(hit.fact, at, evidence))


def admits(search: FactSearch, hit: ScoredFact) -> bool:
    """Whether a search admits a hit with the confidence that marks and decay leave of it."""
    least = min(hit.fact.confidence, hit.fact.confidence if hit.confidence_now is None else hit.confidence_now)
    return least > search.confidence or (search.includes_threshold and least == search.confidence)


def position_of(fact: Fact) -> FactPosition:
    """The place of a fact in lists."""
    return FactPosition(fact.last_confirmed_time, fact.fact_id)


def _begun(facts: Iterable[Fact], held_at: datetime) -> frozenset[FactId]:
    """Ids of the facts that had begun by a time, those of corrections when what they correct was said to begin.

    A fact that says nothing of its beginning began when its first evidence was said. What is corrected never held.
    """
    begun: set[FactId] = set()
    corrected: dict[str, datetime] = {}  # by the turn that corrects, since when
    for fact in sorted(facts, key=lambda one: one.valid_from_time or one.first_observed_time):
        own = fact.valid_from_time or fact.first_observed_time
        begin = min([own, *(corrected[source] for source in fact.derived_from if source in corrected)])
        if fact.superseded_by and fact.valid_to_time is not None and fact.valid_to_time <= own:
            corrected[fact.superseded_by] = min(begin, corrected.get(fact.superseded_by, begin))
        if begin <= held_at:
            begun.add(fact.fact_id)
    return frozenset(begun)


def _may_be_found(fact: Fact, held_at: datetime, *, has_begun: bool) -> bool:
    """Whether a search as of a time may find a fact: also one that had been said by then of a day to come."""
    return (has_begun or fact.first_observed_time <= held_at) and (
        fact.status in ACTIVE or not _has_ended(fact, held_at)
    )


def _has_ended(fact: Fact, held_at: datetime) -> bool:
    return fact.valid_to_time is not None and fact.valid_to_time <= held_at
