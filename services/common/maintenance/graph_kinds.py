"""Names in copies for the records of maintenance that are where their tier is: in PostgreSQL, or in a graph."""

from typing import Final

from services.common.maintenance.postgres import SCHEMA

GRAPH_LOG: Final = f"{SCHEMA}.graph_log"
"""Kind of the entries of jobs whose tier may be in a graph: they are where their tier is."""
NUMBERED_BY_TABLE: Final = 1 << 40
"""Bit of the number of an entry that PostgreSQL has numbered, as graphs and copies name it. A table and a graph
both number entries by themselves; so no two have one number wherever they are copied to."""

GRAPH_CLAIMS: Final = f"{SCHEMA}.graph_claims"
"""Kind of the claims of those jobs: cursors of open runs, failures in a row, and when a run was last complete."""

GRAPH_REQUESTS: Final = f"{SCHEMA}.graph_idempotency_records"
"""Kind of the idempotency records of requests to those tiers. Earlier versions did not write down of which tier one is:
their records stay in the tables, and are not copied from a graph."""
