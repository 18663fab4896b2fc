"""What the Neo4j stores of the tier share: the migrations, times, and idempotency records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, LiteralString

from services.common.idempotency.neo4j import IdempotencyQueries

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "graph_migrations"
COMPONENT: Final = "semantic"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: LiteralString) -> LiteralString:
    """Cypher for a stored time as an integer: the driver reads those much faster than times.

    Args:
        moment: Cypher for the time, such as "f.last_confirmed_time". Where it is null, so is the result.
    """
    # Not epochSeconds, which is rounded towards 1970 and so one too many in the seconds before it.
    return f"{moment}.epochMillis * 1000 + {moment}.microsecond % 1000"


IDEMPOTENCY: Final = IdempotencyQueries.of("MnemeSemanticIdempotencyRecord")

ALL_QUERIES: Final[tuple[LiteralString, ...]] = IDEMPOTENCY.all
"""For the test that reads their plans."""


def moment_of(value: int | None) -> datetime | None:
    """The time that was read by `microseconds`."""
    return None if value is None else known_moment_of(value)


def known_moment_of(value: int) -> datetime:
    """The time that was read by `microseconds`; it is there."""
    return _EPOCH + timedelta(microseconds=value)
