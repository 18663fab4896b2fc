"""What the Neo4j stores of the tier share: the migrations, times, and answers kept for repeats."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, LiteralString

from services.common.neo4j.graph import GraphTransaction
from services.semantic.model import Receipt, RequestKey

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "graph_migrations"
COMPONENT: Final = "semantic"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: LiteralString) -> LiteralString:
    """Cypher for a stored time as an integer: the driver takes 0.05 ms to read one time.

    Args:
        moment: Cypher for the time, such as "f.last_confirmed_time". Where it is null, so is the result.
    """
    # Not epochSeconds, which is rounded towards 1970 and so one too many in the seconds before it.
    return f"{moment}.epochMillis * 1000 + {moment}.microsecond % 1000"


FIND_RECEIPT: Final[LiteralString] = f"""
MATCH (r:MnemeSemanticReceipt {{tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id}})
RETURN r.fingerprint AS fingerprint, r.answer AS answer, {microseconds("r.create_time")} AS create_time
"""

# A few at a time, the oldest first, in the order in which any other transaction locks them.
KEEP_RECEIPT: Final[LiteralString] = """
CALL () {
    MATCH (old:MnemeSemanticReceipt {tenant_id: $tenant_id})
    WHERE old.create_time < $forget_before
    WITH old ORDER BY old.tenant_id, old.create_time LIMIT 32
    DELETE old
    RETURN count(*) AS forgotten
}
CREATE (:MnemeSemanticReceipt {
    tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id, fingerprint: $fingerprint,
    answer: $answer, create_time: $create_time
})
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (FIND_RECEIPT, KEEP_RECEIPT)
"""For the test that reads their plans."""


def moment_of(value: int | None) -> datetime | None:
    """The time that was read by `microseconds`."""
    return None if value is None else known_moment_of(value)


def known_moment_of(value: int) -> datetime:
    """The time that was read by `microseconds`; it is there."""
    return _EPOCH + timedelta(microseconds=value)


async def find_receipt(transaction: GraphTransaction, tenant_id: str, request: RequestKey) -> Receipt | None:
    """The answer given before, with the digest of the request it was given to."""
    rows = await transaction.run(
        FIND_RECEIPT,
        {"tenant_id": tenant_id, "principal_id": request.principal_id, "request_id": request.request_id},
    )
    if not rows:
        return None
    [row] = rows
    known = RequestKey(request.principal_id, request.request_id, row["fingerprint"])
    return Receipt(known, row["answer"], known_moment_of(row["create_time"]))


async def keep_receipt(
    transaction: GraphTransaction, tenant_id: str, receipt: Receipt, *, forget_before: datetime
) -> None:
    """Keep an answer, and drop some that are too old."""
    await transaction.run(
        KEEP_RECEIPT,
        {
            "tenant_id": tenant_id,
            "principal_id": receipt.request.principal_id,
            "request_id": receipt.request.request_id,
            "fingerprint": receipt.request.fingerprint,
            "answer": receipt.answer,
            "create_time": receipt.create_time,
            "forget_before": forget_before,
        },
    )
