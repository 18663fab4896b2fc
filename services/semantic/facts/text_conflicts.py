"""Finds facts that may exclude a statement though no slot says so: that of one of them is not known (SPEC 3.5).

Similar vectors propose a fact, the value guard decides by both texts. At least one side is stated by a caller: of what
is read in turns, statements supersede each other sentence by sentence (`services.semantic.supersession`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from services.common.knowledge.slots import slot_of
from services.common.values.comparison.compare import relation
from services.common.values.model import Relation
from services.semantic.config import EvidenceSettings
from services.semantic.facts.evidence import leading_draft
from services.semantic.facts.identity import Exclusion, exclusion, is_known_slot
from services.semantic.facts.model import FactDraft, FactRecord
from services.semantic.facts.store import FactWriter
from services.semantic.facts.supporting import Near, first_of_each
from services.semantic.facts.working_set import FactWorkingSet

_CONFLICTS: Final = frozenset({Relation.UPDATE, Relation.CONTRADICT})


async def join_conflicting(
    writer: FactWriter, working_set: FactWorkingSet, near: Sequence[Near], *, settings: EvidenceSettings
) -> None:
    """Has facts that exclude new statements by their texts compared with them from now on.

    Args:
        writer: Of the work in which the statements were entered.
        working_set: Where they were entered; its changes were not taken yet.
        near: What they are similar to.
        settings: Bounds.
    """
    proposed = [pair for pair in near if _is_proposed(pair, settings.contradiction_cosine_above)]
    proposed = first_of_each(proposed, settings.contradiction_candidates_max)
    if not proposed:
        return
    # Reading takes up to a millisecond a pair.
    pairs = await asyncio.to_thread(
        lambda: [(one, fact.fact_id) for one, fact in proposed if _conflict(one.statement.draft, fact.text)]
    )
    missing = {fact_id for _, fact_id in pairs if working_set.record(fact_id) is None}
    if missing:
        working_set.load(await writer.records_of(sorted(missing)))
    for one, fact_id in pairs:
        other, own = working_set.record(fact_id), working_set.record(one.fact_id)
        if other is None or own is None or other.is_context:
            continue
        if (_is_stated(own) or _is_stated(other)) and _exclude(own, other):
            working_set.join(one.fact_id, fact_id)


def _is_proposed(pair: Near, cosine_above: float) -> bool:
    """Whether texts are to decide about a pair. Of one slot in a caller's words it need not be so similar."""
    predicate, other = pair[0].statement.draft.predicate, pair[1].predicate
    if is_known_slot(predicate) and is_known_slot(other):
        return False
    is_one_slot = bool(predicate and other) and slot_of(predicate).name == slot_of(other).name
    return is_one_slot or pair[1].similarity > cosine_above


def _conflict(draft: FactDraft, text: str) -> bool:
    """Whether one of two statements excludes the other, whichever was made first."""
    return relation(text, draft.text) in _CONFLICTS or relation(draft.text, text) in _CONFLICTS


def _exclude(own: FactRecord, other: FactRecord) -> bool:
    one, another = leading_draft(own), leading_draft(other)
    return {exclusion(one, another), exclusion(another, one)} != {Exclusion.NONE}


def _is_stated(record: FactRecord) -> bool:
    """Whether a caller said it: what is read in a turn has the turn's id."""
    return any(str(said.statement_id) not in map(str, said.interaction_ids) for said in record.statements)
