"""What superseded the sentences of facts, in PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import opened_of
from services.common.owners import InteractionId, Owner
from services.common.postgres.tenancy import as_tenant, fetch_as_tenant
from services.common.postgres.types import Pool
from services.semantic.config import EvidenceSettings
from services.semantic.facts.ends import MarkedStatement, SentenceMark
from services.semantic.facts.model import FactId
from services.semantic.stores.postgres_sealing import SUPERSESSIONS
from services.semantic.supersession.model import Reason, State

# A change is called off where the statement that tells of it is superseded before its day.
_FIELDS: Final = """
    x.supersession_id, x.state, x.reason, x.winner_id, x.create_time, x.statement, x.standing_statement, x.premise,
    x.is_called_wrong, CASE WHEN x.is_turned THEN least(x.end_time, x.create_time) ELSE x.end_time END AS end_time,
    (
        SELECT min(w.create_time) FROM semantic.supersessions AS w
        WHERE w.tenant_id = $1 AND w.user_id = $2 AND w.loser_id = x.winner_id
            AND w.loser_number IN (x.winner_number, -1) AND w.state = 1 AND w.end_time < x.end_time AND NOT x.is_turned
    ) AS called_off_time
    FROM semantic.supersessions AS x WHERE x.tenant_id = $1 AND x.user_id = $2
"""
# Look-ups for each statement, by their indexes, whatever the database knows of how many marks a user has.
_MARKS: Final = f"""LATERAL (
    SELECT {_FIELDS} AND x.loser_id = t.statement_id AND x.state IN (1, 4)
        AND (x.loser_number = ANY (t.sentences) OR x.loser_number = -1)
    UNION ALL
    SELECT {_FIELDS} AND x.winner_id = t.statement_id AND x.state = 4 AND x.winner_number = ANY (t.sentences)
    OFFSET 0
)"""
# Users without marks are passed over at once.
_MARKED: Final = as_tenant(f"""
WITH marked AS (
    SELECT DISTINCT t.fact_id
    FROM unnest($3::uuid[]) AS asked (fact_id)
    CROSS JOIN LATERAL (
        SELECT s.fact_id, s.statement_id, s.sentences FROM semantic.fact_statements AS s
        WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.fact_id = asked.fact_id
        OFFSET 0
    ) AS t
    CROSS JOIN {_MARKS} AS x
    WHERE EXISTS (SELECT FROM semantic.supersessions WHERE tenant_id = $1 AND user_id = $2)
)
SELECT t.*, x.* FROM marked
CROSS JOIN LATERAL (
    SELECT s.fact_id, s.statement_id, s.time, s.is_correction, s.sentences, s.shares_sentence
    FROM semantic.fact_statements AS s
    WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.fact_id = marked.fact_id
    ORDER BY s.time DESC, s.statement_id DESC
    LIMIT $4
) AS t
LEFT JOIN {_MARKS} AS x ON true
""")  # noqa: S608 - constants


def _joined(one: str, other: str) -> str:
    """Marks whose loser was read as one fact and whose winner as the other one."""
    return f"""EXISTS (
    SELECT FROM semantic.fact_statements AS s
    JOIN semantic.supersessions AS x ON x.tenant_id = $1 AND x.user_id = $2 AND x.loser_id = s.statement_id
        AND (x.reason = 3 OR x.loser_number = -1 OR x.loser_number = ANY (s.sentences))
    JOIN semantic.fact_statements AS t ON t.tenant_id = $1 AND t.user_id = $2 AND t.fact_id = {other}
        AND t.statement_id = x.winner_id
        AND (x.reason = 3 OR x.winner_number = -1 OR x.winner_number = ANY (t.sentences))
    WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.fact_id = {one}
)"""


_UNDECIDED: Final = as_tenant(f"""
SELECT DISTINCT a.one FROM unnest($3::uuid[], $4::uuid[]) AS a (one, other)
JOIN semantic.facts AS own ON own.tenant_id = $1 AND own.user_id = $2 AND own.fact_id = a.one
JOIN semantic.facts AS f ON f.tenant_id = $1 AND f.user_id = $2 AND f.fact_id = a.other
    AND f.last_confirmed_time <> own.last_confirmed_time
WHERE f.status IN (1, 2) AND f.valid_to_time IS NULL AND f.confidence >= $5
    AND NOT {_joined("a.one", "a.other")} AND NOT {_joined("a.other", "a.one")}
""")  # noqa: S608 - constants


class PostgresFactMarks:
    """Implements `FactMarkStore`, in one statement."""

    def __init__(self, pool: Pool, evidence: EvidenceSettings | None = None, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._evidence = evidence or EvidenceSettings()
        self._keys = keys

    async def marked(self, owner: Owner, fact_ids: Collection[FactId]) -> Mapping[FactId, Sequence[MarkedStatement]]:
        """See `FactMarkStore.marked`."""
        ids = [uuid.UUID(fact_id) for fact_id in fact_ids]
        rows = await fetch_as_tenant(
            self._pool, _MARKED, owner.tenant_id, owner.user_id, ids, self._evidence.statements_max
        )
        of_marks = [row for row in rows if row["supersession_id"] is not None]
        opened = await opened_of(self._keys, self._pool, owner, SUPERSESSIONS, of_marks)
        marks: dict[tuple[uuid.UUID, uuid.UUID], list[SentenceMark]] = {}
        doubts: dict[tuple[uuid.UUID, uuid.UUID], list[datetime]] = {}
        for row in opened:
            place = (row["fact_id"], row["statement_id"])
            if row["state"] == State.REDUCED:
                doubts.setdefault(place, []).append(row["create_time"])
            else:
                marks.setdefault(place, []).append(_mark(row))
        found: dict[FactId, dict[uuid.UUID, MarkedStatement]] = {}
        for row in rows:
            place = (row["fact_id"], row["statement_id"])
            statement = MarkedStatement(
                str(row["statement_id"]),
                row["time"],
                row["is_correction"],
                row["shares_sentence"],
                tuple(marks.get(place, ())),
                tuple(doubts.get(place, ())),
            )
            found.setdefault(FactId(str(row["fact_id"])), {})[row["statement_id"]] = statement
        return {fact_id: list(statements.values()) for fact_id, statements in found.items()}

    async def undecided(
        self, owner: Owner, pairs: Collection[tuple[FactId, FactId]], *, confidence_min: float
    ) -> Collection[FactId]:
        """See `FactMarkStore.undecided`."""
        ones, others = [uuid.UUID(one) for one, _ in pairs], [uuid.UUID(other) for _, other in pairs]
        rows = await fetch_as_tenant(
            self._pool, _UNDECIDED, owner.tenant_id, owner.user_id, ones, others, confidence_min
        )
        return {FactId(str(row["one"])) for row in rows}


def _mark(row: Row) -> SentenceMark:
    return SentenceMark(
        InteractionId(str(row["winner_id"])),
        row["end_time"],
        row["create_time"],
        row["standing_statement"],
        row["premise"],
        row["reason"] == Reason.CORRECTED,
        row["statement"],
        row["is_called_wrong"],
        row["called_off_time"],
    )
