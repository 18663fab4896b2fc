"""Which facts of one topic contradict each other: neighbours in time, never all pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from services.common.knowledge.slots import slot_of
from services.common.values.replacement.ages import can_be_of_age
from services.semantic.config import EvidenceSettings
from services.semantic.facts.evidence import counted_statements, leading_draft
from services.semantic.facts.identity import Exclusion, exclusion
from services.semantic.facts.model import FactId, FactRecord, Statement

_AGE: Final = "age"


class Topic:
    """The facts of one topic, as far as they are loaded, in the order in which they were last said."""

    def __init__(self, records: Iterable[FactRecord], settings: EvidenceSettings) -> None:
        """Order the facts and their statements; what cannot end a validity is left out of the latter."""
        self._settings = settings
        # Ties, two facts of one utterance, are broken by what they mean: ids depend on the order of arrival.
        self._records = sorted(records, key=lambda r: (max(s.order for s in r.statements), r.identity))
        self._drafts = {record.fact_id: leading_draft(record) for record in self._records}
        said = [
            (statement, record.fact_id)
            for record in self._records
            for statement in record.statements
            if statement.draft.confidence >= settings.superseding_confidence_min and _holds(statement)
        ]
        self._said = sorted(said, key=lambda item: (*item[0].order, self._drafts[item[1]].text))
        self._times = [statement.time for statement, _ in self._said]
        self._begun = {record.fact_id: min(s.time for s in record.statements) for record in self._records}
        self._against: dict[FactId, list[Statement]] = {}
        self._links: dict[FactId, set[FactId]] = {record.fact_id: set() for record in self._records}
        for number, record in enumerate(self._records):
            self._link_neighbours(number)
            self._against[record.fact_id] = self._find_against(record)

    @property
    def records(self) -> Sequence[FactRecord]:
        """Its facts."""
        return self._records

    def against(self, fact_id: FactId) -> Sequence[Statement]:
        """The first statement against the fact after each own one, before the next own one, by time."""
        return self._against[fact_id]

    def contradictions(self, record: FactRecord) -> list[FactId]:
        """The nearest facts before and after it that exclude it, and those that ended it in between.

        Links to facts that are not loaded stay as they were stored.
        """
        stored = record.fact.contradictions if record.fact is not None else ()
        not_loaded = {fact_id for fact_id in stored if fact_id not in self._drafts}
        return sorted(self._links[record.fact_id] | not_loaded)

    def _find_against(self, record: FactRecord) -> list[Statement]:
        found: list[Statement] = []
        own = counted_statements(record, self._settings)
        for number, statement in enumerate(own):
            until = own[number + 1].time if number + 1 < len(own) else None
            for i in range(bisect_right(self._times, statement.time), len(self._said)):
                other, fact_id = self._said[i]
                if until is not None and other.time >= until:
                    break
                begin = statement.draft.valid_from
                if begin is not None and other.effective_time < begin:
                    continue  # what is so before a fact begins does not end it
                if self._exclusion(record.fact_id, fact_id) is Exclusion.ENDED:
                    found.append(other)
                    self._link(record.fact_id, fact_id)
                    break
        return found

    def _link_neighbours(self, number: int) -> None:
        mine = self._records[number].fact_id
        after = (record.fact_id for record in self._records[number + 1 :])
        before = (record.fact_id for record in reversed(self._records[:number]))
        follows: Callable[[FactId], bool] = lambda other: self._excludes(mine, other)  # noqa: E731
        precedes: Callable[[FactId], bool] = lambda other: self._excludes(other, mine)  # noqa: E731
        for others, contradicts in ((after, follows), (before, precedes)):
            nearest = next(filter(contradicts, others), None)
            if nearest is not None:
                self._link(mine, nearest)

    def _excludes(self, earlier: FactId, later: FactId) -> bool:
        return self._exclusion(earlier, later) is not Exclusion.NONE

    def _exclusion(self, earlier: FactId, later: FactId) -> Exclusion:
        if earlier == later:
            return Exclusion.NONE
        found = exclusion(self._drafts[earlier], self._drafts[later])
        if found is Exclusion.ENDED and not self._can_follow(earlier, later):
            return Exclusion.LINKED
        return found

    def _can_follow(self, earlier: FactId, later: FactId) -> bool:
        """Whether the later value can have come in the time between: nobody is 34 in April and 95 in June."""
        drafts = self._drafts[earlier], self._drafts[later]
        if not all(slot_of(draft.predicate).name == _AGE for draft in drafts):
            return True
        first, second = (self._begun[fact_id] for fact_id in (earlier, later))
        return can_be_of_age(drafts[0].object, drafts[1].object, second - first)

    def _link(self, one: FactId, other: FactId) -> None:
        self._links[one].add(other)
        self._links[other].add(one)


def _holds(statement: Statement) -> bool:
    """Whether what was said still held then: what was over ends nothing, as when a fact that ended is corrected."""
    return statement.draft.valid_to is None or statement.draft.valid_to > statement.time
