"""What superseded the sentences of facts, in Neo4j."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, LiteralString

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, graph_cipher
from services.common.neo4j.graph import Graph
from services.common.owners import InteractionId, Owner
from services.semantic.config import EvidenceSettings
from services.semantic.facts.ends import MarkedStatement, SentenceMark
from services.semantic.facts.model import FactId
from services.semantic.stores.neo4j import known_moment_of, microseconds, moment_of
from services.semantic.stores.neo4j_sealing import SUPERSESSIONS
from services.semantic.supersession.model import Reason, State

# Users without marks are passed over at once.
MARKED: Final[LiteralString] = f"""
MATCH (o:MnemeSupersessionOwner {{tenant_id: $tenant_id, user_id: $user_id}}) WHERE o.marks > 0
UNWIND $fact_ids AS fact_id
CALL (fact_id) {{
    MATCH (t:MnemeStatement {{tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id}})
    USING INDEX t:MnemeStatement(tenant_id, user_id, fact_id, time, statement_id)
    WHERE t.time IS NOT NULL AND t.statement_id IS NOT NULL
    RETURN t
    ORDER BY t.tenant_id DESC, t.user_id DESC, t.fact_id DESC, t.time DESC, t.statement_id DESC
    LIMIT $statements_max
}}
CALL (t) {{
    OPTIONAL MATCH (x:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, loser_id: t.statement_id}})
    USING INDEX x:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
    WHERE x.loser_number IS NOT NULL AND x.state IN [1, 4]
        AND (x.loser_number IN coalesce(t.sentences, []) OR x.loser_number = -1)
    // A change is called off where the statement that tells of it is superseded before its day.
    OPTIONAL MATCH (w:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, loser_id: x.winner_id}})
    USING INDEX w:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
    WHERE w.loser_number IS NOT NULL AND (w.loser_number = x.winner_number OR w.loser_number = -1)
        AND w.state = 1 AND w.end_time < x.end_time AND NOT coalesce(x.is_turned, false)
    WITH x, min(w.create_time) AS called_off_time
    RETURN collect(x {{
        .supersession_id, .state, .reason, .winner_id, .statement, .standing_statement,
        premise: coalesce(x.premise, ""), is_called_wrong: coalesce(x.is_called_wrong, false),
        create_time: {microseconds("x.create_time")},
        end_time: CASE WHEN coalesce(x.is_turned, false) AND x.create_time < x.end_time
            THEN {microseconds("x.create_time")} ELSE {microseconds("x.end_time")} END,
        called_off_time: {microseconds("called_off_time")}
    }}) AS marks
}}
CALL (t) {{
    OPTIONAL MATCH (x:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, winner_id: t.statement_id}})
    USING INDEX x:MnemeSupersession(tenant_id, user_id, winner_id, winner_number)
    WHERE x.winner_number IS NOT NULL AND x.state = 4 AND x.winner_number IN coalesce(t.sentences, [])
    RETURN collect({microseconds("x.create_time")}) AS doubted
}}
WITH fact_id, collect({{
    statement_id: t.statement_id, time: {microseconds("t.time")}, is_correction: t.is_correction,
    shares_sentence: coalesce(t.shares_sentence, false), marks: marks,
    doubted: doubted
}}) AS statements
WHERE any(statement IN statements WHERE size(statement.marks) + size(statement.doubted) > 0)
RETURN fact_id, statements
"""


UNDECIDED: Final[LiteralString] = """
UNWIND $pairs AS pair
MATCH (own:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: pair[0]})
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: pair[1]})
WHERE f.status IN [1, 2] AND f.valid_to_time IS NULL AND f.confidence >= $confidence_min
    AND f.last_confirmed_time <> own.last_confirmed_time
CALL (pair) {
    UNWIND [pair, reverse(pair)] AS sides
    MATCH (s:MnemeStatement {tenant_id: $tenant_id, user_id: $user_id, fact_id: sides[0]})
    USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, time, statement_id)
    WHERE s.time IS NOT NULL AND s.statement_id IS NOT NULL
    MATCH (x:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, loser_id: s.statement_id})
    USING INDEX x:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
    WHERE x.loser_number IS NOT NULL
        AND (x.reason = 3 OR x.loser_number = -1 OR x.loser_number IN coalesce(s.sentences, []))
    MATCH (t:MnemeStatement {
        tenant_id: $tenant_id, user_id: $user_id, fact_id: sides[1], statement_id: x.winner_id
    })
    WHERE x.reason = 3 OR x.winner_number = -1 OR x.winner_number IN coalesce(t.sentences, [])
    RETURN count(x) AS joined
}
WITH pair, joined WHERE joined = 0
RETURN DISTINCT pair[0] AS fact_id
"""


class Neo4jFactMarks:
    """Implements `FactMarkStore`, in one query."""

    def __init__(
        self, graph: Graph, evidence: EvidenceSettings | None = None, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS
    ) -> None:
        """Uses a graph whose migrations ran; its owner closes it. Statements are decrypted by `keys`."""
        self._graph = graph
        self._keys = keys
        self._evidence = evidence or EvidenceSettings()

    async def marked(self, owner: Owner, fact_ids: Collection[FactId]) -> Mapping[FactId, Sequence[MarkedStatement]]:
        """See `FactMarkStore.marked`."""
        asked = {
            "tenant_id": owner.tenant_id,
            "user_id": owner.user_id,
            "fact_ids": list(fact_ids),
            "statements_max": self._evidence.statements_max,
        }
        rows = await self._graph.read(MARKED, asked)
        cipher = await graph_cipher(self._keys, self._graph.read, owner) if rows else PLAIN
        return {FactId(row["fact_id"]): [_statement(one, cipher) for one in row["statements"]] for row in rows}

    async def undecided(
        self, owner: Owner, pairs: Collection[tuple[FactId, FactId]], *, confidence_min: float
    ) -> Collection[FactId]:
        """See `FactMarkStore.undecided`."""
        asked = {
            "tenant_id": owner.tenant_id,
            "user_id": owner.user_id,
            "pairs": [list(pair) for pair in pairs],
            "confidence_min": confidence_min,
        }
        return {FactId(row["fact_id"]) for row in await self._graph.read(UNDECIDED, asked)}


def _statement(found: Mapping[str, Any], cipher: Cipher) -> MarkedStatement:
    marks = [SUPERSESSIONS.open(cipher, mark) for mark in found["marks"]]
    return MarkedStatement(
        found["statement_id"],
        known_moment_of(found["time"]),
        found["is_correction"],
        found["shares_sentence"],
        tuple(
            SentenceMark(
                InteractionId(mark["winner_id"]),
                known_moment_of(mark["end_time"]),
                known_moment_of(mark["create_time"]),
                mark["standing_statement"],
                mark["premise"],
                mark["reason"] == Reason.CORRECTED,
                mark["statement"],
                mark["is_called_wrong"],
                moment_of(mark["called_off_time"]),
            )
            for mark in marks
            if mark["state"] == State.APPLIED
        ),
        tuple(
            known_moment_of(time)
            for time in (
                *(mark["create_time"] for mark in marks if mark["state"] == State.REDUCED),
                *found["doubted"],
            )
        ),
    )
