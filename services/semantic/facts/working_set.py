"""Applies statements, corrections and removals to the facts of one user, and finds what changes by them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from services.common.embedding.vectors import Vector
from services.common.errors import AlreadyExists
from services.common.owners import InteractionId, UserId
from services.common.scope import Scope
from services.semantic.config import EvidenceSettings
from services.semantic.facts.contradictions import Topic
from services.semantic.facts.evidence import (
    changed,
    derived_fact,
    fade_time,
    leading_draft,
    united_supports,
    with_statement,
    without_given,
)
from services.semantic.facts.identity import Keys, is_open, joint_topic, keys_of
from services.semantic.facts.model import (
    Fact,
    FactDraft,
    FactId,
    FactRecord,
    FactStatus,
    Statement,
    StatementId,
    Support,
)
from services.semantic.facts.store import FactChange


class FactWorkingSet:
    """The facts that a write touches, in memory.

    Load the stored facts first; then enter, correct or remove; then ask for the changes, once.
    """

    def __init__(self, user_id: UserId, settings: EvidenceSettings, *, new_id: Callable[[], str], model: str) -> None:
        """Take ids of new facts from `new_id`; vectors are of `model`."""
        self._user_id = user_id
        self._settings = settings
        self._new_id = new_id
        self._model = model
        self._records: dict[FactId, FactRecord] = {}
        self._by_identity: dict[bytes, FactId] = {}
        self._by_text: dict[bytes, FactId] = {}
        self._stored: dict[FactId, frozenset[StatementId]] = {}
        self._stored_supports: dict[FactId, frozenset[InteractionId]] = {}
        self._touched: dict[FactId, None] = {}
        self._touched_topics: set[bytes] = set()
        self._vectors: dict[str, Vector] = {}
        self._states: dict[FactId, Fact] = {}
        self._moved: set[FactId] = set()  # those of which only the topic or the identity may be new

    def keys(self, drafts: Iterable[tuple[FactDraft, Scope]]) -> list[Keys]:
        """What to load for the drafts, each once.

        A complete draft may mean a fact that is known by its text alone, so that its text is asked for too.
        """
        keys: dict[Keys, None] = {}
        for draft, scope in drafts:
            key = keys_of(draft, scope)
            keys[key] = None
            keys[Keys(key.text_identity, key.text_identity, None)] = None
            if key.former is not None:
                keys[Keys(key.former, key.text_identity, None)] = None
        return list(keys)

    def load(self, records: Sequence[FactRecord]) -> None:
        """Take in stored facts, by ascending id; those that are known already are passed over."""
        for record in records:
            if record.fact_id in self._records:
                continue
            self._records[record.fact_id] = record
            self._stored[record.fact_id] = frozenset(s.statement_id for s in record.statements)
            self._stored_supports[record.fact_id] = frozenset(
                support.interaction_id for support in record.supports if record.fact_id in support.given_to
            )
            self._index(record)

    def missing_winners(self) -> list[FactId]:
        """The facts that loaded ones were merged into, as far as they are not loaded."""
        winners = {r.fact.merged_into_fact_id for r in self._records.values() if r.fact is not None}
        return sorted(winner for winner in winners if winner is not None and winner not in self._records)

    def enter(self, statement: Statement, scope: Scope, vector: Vector) -> FactId:
        """The fact that a statement confirms, or the new one that it begins. Entering it again changes nothing."""
        keys = keys_of(statement.draft, scope)
        fact_id = self._known(keys)
        if fact_id is None:
            fact_id = FactId(self._new_id())
            record = FactRecord(fact_id, keys.identity, keys.text_identity, keys.topic, (statement,), scope)
            self._stored[fact_id] = frozenset()
            self._stored_supports[fact_id] = frozenset()
        else:
            record = self._placed(with_statement(self._records[fact_id], statement), keys)
        self._records[fact_id] = record
        self._index(record)
        self._vectors[statement.draft.text] = vector
        self._touch(fact_id)
        return fact_id

    def _placed(self, record: FactRecord, keys: Keys) -> FactRecord:
        """A fact that a statement confirms, found by what that says where so far only its text was known.

        So is one that was stored while predicates counted as they were written.
        """
        was_open = record.topic is None and is_open(leading_draft(self._records[record.fact_id]))
        is_former = keys.former is not None and record.identity == keys.former
        if not ((was_open and not keys.is_by_text) or is_former) or keys.identity in self._by_identity:
            return record
        self._moved.add(record.fact_id)
        return replace(record, identity=keys.identity, topic=keys.topic)

    def join(self, one_id: FactId, other_id: FactId) -> None:
        """Have two loaded facts compared: the texts say what excludes what. See `identity.exclusion`.

        A fact whose slot is known stays with those of its slot; the others, and all that they are compared with, move.
        """
        one, other = self._records[one_id], self._records[other_id]
        if one.topic is not None and one.topic == other.topic:
            return
        fixed = [record.topic for record in (one, other) if not is_open(leading_draft(record))]
        known = [record.topic for record in (one, other) if record.topic is not None]
        topic = fixed[0] if fixed else min(known, default=joint_topic(one, other))
        if topic is None or len(fixed) > 1:
            return
        moving = {r.topic for r in (one, other) if r.topic is not None and r.topic != topic}
        for record in list(self._records.values()):
            is_asked = record.fact_id in (one_id, other_id)
            if record.topic != topic and (is_asked or record.topic in moving) and is_open(leading_draft(record)):
                self._records[record.fact_id] = replace(record, topic=topic)
                self._moved.add(record.fact_id)
        for fact_id in (one_id, other_id):
            self._touch(fact_id)

    def record(self, fact_id: FactId) -> FactRecord | None:
        """A fact as it is in the set, if it is."""
        return self._records.get(fact_id)

    def support(self, fact_id: FactId, support: Support) -> None:
        """Add an interaction that supports a fact of the set in other words. Adding it again changes nothing."""
        record = self._records[fact_id]
        known = (one.interaction_id for one in record.supports if fact_id in one.given_to)
        if support.interaction_id not in known:
            own = replace(support, given_to=(fact_id,))
            self._records[fact_id] = replace(record, supports=united_supports(record.supports, [own]))
            self._touch(fact_id)

    def unite(self, winner_id: FactId, loser_id: FactId) -> None:
        """Give a fact the evidence of another one, which is merged into it; both are loaded as reduced."""
        united, loser = self._records[winner_id], self._records[loser_id]
        for statement in loser.statements:
            united = with_statement(united, statement)
        self._records[winner_id] = replace(united, supports=united_supports(united.supports, loser.supports))
        self._merge(loser, FactStatus.MERGED_INTO, winner_id)
        self._touch(winner_id)

    def separate(self, winner_id: FactId, loser_id: FactId) -> list[StatementId]:
        """Take back what `unite` did; both are loaded as reduced. Returns the statements to remove from the winner."""
        winner, loser = self._records[winner_id], self._records[loser_id]
        left = tuple(statement for statement in winner.statements if statement not in loser.statements)
        taken = {loser_id, *(fact_id for support in loser.supports for fact_id in support.given_to)}
        self._records[winner_id] = replace(winner, statements=left, supports=without_given(winner.supports, taken))
        self._merge(loser, FactStatus.TENTATIVE, None)
        self._touch(winner_id)
        return [statement.statement_id for statement in winner.statements if statement not in left]

    def _merge(self, record: FactRecord, status: FactStatus, winner_id: FactId | None) -> None:
        if record.fact is not None:
            state = replace(record.fact, status=status, merged_into_fact_id=winner_id)
            self._records[record.fact_id] = replace(record, fact=state)
        self._touch(record.fact_id)

    def correct(self, fact_id: FactId, correction: Statement, vector: Vector | None) -> None:
        """Replace what a fact says. Its links must have been removed from the store.

        Args:
            fact_id: A loaded fact.
            correction: The statement that replaces those before.
            vector: Of its text; None if the fact has that text already.

        Raises:
            AlreadyExists: Another fact says that.
        """
        record = self._records[fact_id]
        keys = keys_of(correction.draft, record.scope)
        other = self._known(keys)
        if other is not None and other != fact_id:
            raise AlreadyExists("fact", other)
        self._touch(fact_id)
        # What a fact says may be the words of one that was merged into it, which has the identity and leads here.
        is_same = (keys.identity, keys.text_identity) == (record.identity, record.text_identity)
        is_free = self._by_identity.get(keys.identity, fact_id) == fact_id
        self._records[fact_id] = replace(
            with_statement(record, correction),
            identity=keys.identity if is_free else record.identity,
            text_identity=keys.text_identity,
            # What is compared by its text is compared with the same facts while it says the same.
            topic=record.topic if is_same and is_open(correction.draft) else keys.topic,
            judgement=0,  # it was of what the fact said before
        )
        self._unlink({fact_id})
        self._touch(fact_id)
        if vector is not None:
            self._vectors[correction.draft.text] = vector

    def remove(self, fact_ids: Collection[FactId]) -> None:
        """Take facts out. They and their links must have been removed from the store."""
        for fact_id in fact_ids:
            self._touch(fact_id)
            del self._touched[fact_id]
            del self._records[fact_id]
        for record in list(self._records.values()):  # what was given to them supports nothing any more
            self._records[record.fact_id] = replace(record, supports=without_given(record.supports, fact_ids))
        self._unlink(fact_ids)

    def judge(self, fact_id: FactId, feedback: int) -> None:
        """Set the judgement of a loaded fact: -1, 0 or 1."""
        self._records[fact_id] = replace(self._records[fact_id], judgement=feedback)
        self._touch(fact_id)

    def rederive(self, fact_ids: Iterable[FactId]) -> None:
        """Have the states of loaded facts follow from the statements they have now."""
        for fact_id in fact_ids:
            self._touch(fact_id)

    def changes(self) -> list[FactChange]:
        """New states of the facts that were touched, and of those that contradict them.

        A change to a text whose vector is not known has no vector; see `lacks_vector`.
        """
        by_topic: dict[bytes, list[FactRecord]] = {}
        for record in self._records.values():
            if record.topic is not None and record.topic in self._touched_topics:
                by_topic.setdefault(record.topic, []).append(record)
        topics = {topic: Topic(self._compared(records), self._settings) for topic, records in by_topic.items()}
        affected = dict(self._touched)
        for topic in topics.values():
            affected.update(dict.fromkeys(record.fact_id for record in topic.records if not record.is_context))
        found: list[FactChange] = []
        for fact_id in affected:
            record = self._records[fact_id]
            own_topic = topics[record.topic] if record.topic is not None else None
            derived = derived_fact(
                record,
                own_topic.against(fact_id) if own_topic is not None else (),
                own_topic.contradictions(record) if own_topic is not None else (),
                user_id=self._user_id,
                settings=self._settings,
                is_confirmed=any(not s.is_correction for s in self._new_statements(record)),
            )
            has_news = self._new_statements(record) or self._new_supports(record)
            if record.is_reduced or record.judgement is not None or has_news:
                derived = replace(derived, fade_time=fade_time(record, derived, self._settings))
            fact = changed(record, derived)
            if fact is None and fact_id in self._moved and record.fact is not None:
                fact = replace(derived, revision=record.fact.revision)  # what it says is as it was
            self._states[fact_id] = fact or derived
            if fact is not None:
                found.append(self._change(record, fact))
        return found

    def _compared(self, records: Sequence[FactRecord]) -> list[FactRecord]:
        """The facts of a topic, of those that only texts compare the last said: earlier ones stay as they are."""
        by_text = [r for r in records if r.fact_id not in self._touched and is_open(leading_draft(r))]
        by_text.sort(key=lambda record: max(statement.order for statement in record.statements))
        earlier = {record.fact_id for record in by_text[: -self._settings.contradiction_texts_max]}
        return [record for record in records if record.fact_id not in earlier]

    def state(self, fact_id: FactId) -> Fact:
        """The state of a fact that was touched, after `changes`."""
        return self._states[fact_id]

    def _change(self, record: FactRecord, fact: Fact) -> FactChange:
        is_same_text = record.fact is not None and record.fact.text == fact.text
        keys = keys_of(replace(leading_draft(record), text=fact.text), record.scope)
        return FactChange(
            record=replace(record, text_identity=keys.text_identity),
            fact=fact,
            new_statements=tuple(self._new_statements(record)),
            new_supports=tuple(self._new_supports(record)),
            vector=None if is_same_text else self._vectors.get(fact.text),
            model=self._model,
        )

    def _new_statements(self, record: FactRecord) -> list[Statement]:
        return [s for s in record.statements if s.statement_id not in self._stored[record.fact_id]]

    def _new_supports(self, record: FactRecord) -> list[Support]:
        """Those given to the fact itself: what was given to facts merged into it is stored with these."""
        stored = self._stored_supports[record.fact_id]
        return [s for s in record.supports if record.fact_id in s.given_to and s.interaction_id not in stored]

    def _touch(self, fact_id: FactId) -> None:
        self._touched[fact_id] = None
        topic = self._records[fact_id].topic
        if topic is not None:
            self._touched_topics.add(topic)

    def _unlink(self, fact_ids: Collection[FactId]) -> None:
        """Have the stored states without the links that were removed from the store."""
        for record in list(self._records.values()):
            if record.fact is None or not record.fact.contradictions:
                continue
            is_unlinked = record.fact_id in fact_ids
            links = () if is_unlinked else tuple(i for i in record.fact.contradictions if i not in fact_ids)
            self._records[record.fact_id] = replace(record, fact=replace(record.fact, contradictions=links))

    def _known(self, keys: Keys) -> FactId | None:
        known = self._by_identity.get(keys.identity)
        if known is None and keys.former is not None:
            known = self._by_identity.get(keys.former)
        if known is None:
            known = (self._by_text if keys.is_by_text else self._by_identity).get(keys.text_identity)
        return None if known is None else self._standing(known)

    def _standing(self, fact_id: FactId) -> FactId:
        """The fact itself, or the one it was merged into."""
        state = self._records[fact_id].fact
        winner = None if state is None else state.merged_into_fact_id
        return fact_id if winner is None or winner not in self._records else self._standing(winner)

    def _index(self, record: FactRecord) -> None:
        self._by_identity.setdefault(record.identity, record.fact_id)
        self._by_text.setdefault(record.text_identity, record.fact_id)


def lacks_vector(change: FactChange) -> bool:
    """Whether a change has a text of which the working set knew no vector: one that evidence fell back to."""
    return change.vector is None and (change.record.fact is None or change.record.fact.text != change.fact.text)
