"""Enters statements into the facts of one user, and finds what changes by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from services.common.embedding.vectors import Vector
from services.common.owners import UserId
from services.common.scope import Scope
from services.semantic.config import EvidenceSettings
from services.semantic.facts.identity import Keys, keys_of
from services.semantic.facts.model import Fact, FactDraft, FactId, FactRecord, Statement, StatementId
from services.semantic.facts.rivals import Topic
from services.semantic.facts.settling import changed, leading_draft, settle, with_statement
from services.semantic.facts.store import FactChange


class FactLedger:
    """The facts that a batch of statements touches, in memory.

    Load the stored facts first; then enter statements; then ask for the changes, once.
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
        self._touched: dict[FactId, None] = {}
        self._vectors: dict[str, Vector] = {}
        self._states: dict[FactId, Fact] = {}

    def keys(self, drafts: Iterable[tuple[FactDraft, Scope]]) -> list[Keys]:
        """What to load for the drafts, each once.

        A complete draft may mean a fact that is known by its text alone, so that its text is asked for too.
        """
        keys: dict[Keys, None] = {}
        for draft, scope in drafts:
            key = keys_of(draft, scope)
            keys[key] = None
            keys[Keys(key.text_identity, key.text_identity, None)] = None
        return list(keys)

    def load(self, records: Sequence[FactRecord]) -> None:
        """Take in stored facts, by ascending id."""
        for record in records:
            self._records[record.fact_id] = record
            self._stored[record.fact_id] = frozenset(s.statement_id for s in record.statements)
            self._index(record)

    def enter(self, statement: Statement, scope: Scope, vector: Vector) -> FactId:
        """The fact that a statement confirms, or the new one that it begins. Entering it again changes nothing."""
        keys = keys_of(statement.draft, scope)
        fact_id = self._known(keys)
        if fact_id is None:
            fact_id = FactId(self._new_id())
            record = FactRecord(fact_id, keys.identity, keys.text_identity, keys.topic, (statement,), scope)
            self._stored[fact_id] = frozenset()
        else:
            record = with_statement(self._records[fact_id], statement)
        self._records[fact_id] = record
        self._index(record)
        self._vectors[statement.draft.text] = vector
        self._touched[fact_id] = None
        return fact_id

    def changes(self) -> list[FactChange]:
        """New states of the facts that were entered, and of those they exclude."""
        by_topic: dict[bytes, list[FactRecord]] = {}
        touched = {self._records[fact_id].topic for fact_id in self._touched}
        for record in self._records.values():
            if record.topic is not None and record.topic in touched:
                by_topic.setdefault(record.topic, []).append(record)
        topics = {topic: Topic(records, self._settings) for topic, records in by_topic.items()}
        affected = dict(self._touched)
        for topic in topics.values():
            affected.update(dict.fromkeys(record.fact_id for record in topic.records if not record.is_context))
        found: list[FactChange] = []
        for fact_id in affected:
            record = self._records[fact_id]
            own_topic = topics[record.topic] if record.topic is not None else None
            settled = settle(
                record,
                own_topic.against(fact_id) if own_topic is not None else (),
                own_topic.contradictions(record) if own_topic is not None else (),
                user_id=self._user_id,
                settings=self._settings,
            )
            fact = changed(record, settled)
            self._states[fact_id] = fact or settled
            if fact is not None:
                found.append(self._change(record, fact))
        return found

    def state(self, fact_id: FactId) -> Fact:
        """The state of a fact that was entered, after `changes`."""
        return self._states[fact_id]

    def _change(self, record: FactRecord, fact: Fact) -> FactChange:
        is_same_text = record.fact is not None and record.fact.text == fact.text
        keys = keys_of(replace(leading_draft(record), text=fact.text), record.scope)
        return FactChange(
            record=replace(record, text_identity=keys.text_identity),
            fact=fact,
            new_statements=tuple(s for s in record.statements if s.statement_id not in self._stored[record.fact_id]),
            vector=None if is_same_text else self._vectors[fact.text],
            model=self._model,
        )

    def _known(self, keys: Keys) -> FactId | None:
        known = self._by_identity.get(keys.identity)
        if known is None and keys.is_by_text:
            return self._by_text.get(keys.text_identity)
        return known if known is not None else self._by_identity.get(keys.text_identity)

    def _index(self, record: FactRecord) -> None:
        self._by_identity.setdefault(record.identity, record.fact_id)
        self._by_text.setdefault(record.text_identity, record.fact_id)
