"""The queries of the semantic tier on Neo4j: what the server does for them, and whose nodes they name."""

from __future__ import annotations

import re
from typing import Final, LiteralString

import pytest

from services.common.neo4j.graph import operators
from services.semantic.code.stores import neo4j as code
from services.semantic.facts.stores import neo4j_cypher as facts
from services.semantic.facts.stores import neo4j_marks as marks
from services.semantic.facts.stores import neo4j_merges as merges
from services.semantic.facts.stores import neo4j_supports as supports
from services.semantic.facts.stores import neo4j_upkeep as upkeep
from services.semantic.facts.stores import neo4j_vectors as vectors
from services.semantic.procedures.stores import neo4j as procedures
from services.semantic.profile.stores import neo4j as profiles
from services.semantic.stores import neo4j as shared
from services.semantic.stores import neo4j_keys as keys
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from services.semantic.supersession.stores import neo4j_queries as supersessions
from tests.contract.fact_drivers import semantic_graph

QUERIES: Final = (
    *facts.ALL_QUERIES,
    *merges.ALL_QUERIES,
    *supports.ALL_QUERIES,
    *upkeep.OWNER_QUERIES,
    *vectors.OWNER_QUERIES,
    *profiles.ALL_QUERIES,
    *procedures.ALL_QUERIES,
    *code.ALL_QUERIES,
    *supersessions.ALL_QUERIES,
    marks.MARKED,
    marks.UNDECIDED,
    *shared.ALL_QUERIES,
    *keys.ALL_QUERIES,
)
_LABEL: Final = re.compile(r":Mneme\w+(?P<after>[^)]{0,60})")
_HINT: Final = re.compile(r"USING INDEX .*")
OVER_USERS: Final = (upkeep.COUNTS, vectors.OWNERS, supersessions.QUEUED_OWNERS, *DATA_KEYS.all)


async def test_no_query_reads_a_whole_label(neo4j_url: str) -> None:
    async with semantic_graph(neo4j_url) as graph:
        plans = {query: operators(await graph.explain(query)) for query in (*QUERIES, *OVER_USERS)}
    scans = {query: [name for name in plan if "Scan" in name] for query, plan in plans.items()}
    assert {query: found for query, found in scans.items() if found} == {}
    # Neither sorts nor reads more than it returns: what it takes is the beginning of an index.
    assert "Top" not in plans[facts.LIST_FACTS]
    assert "Top" not in plans[facts.RECORDS]
    assert "Top" not in plans[vectors.FORMER]
    for query in (upkeep.COUNTS, vectors.OWNERS):
        assert list(plans[query]).count("Limit") >= 2  # of the users of one tenant, and of later ones
    assert all("NodeVectorIndexSearch" in plans[query] for query in (facts.SEARCH, supports.SIMILAR))


@pytest.mark.parametrize("query", QUERIES)
def test_spec_7_1_every_pattern_names_the_tenant(query: LiteralString) -> None:
    patterns = list(_LABEL.finditer(_HINT.sub("", query)))
    assert patterns
    if query in {facts.SEARCH, supports.SIMILAR}:
        assert "WHERE f.tenant_id = $tenant_id AND f.user_id = $user_id AND" in query
        patterns = patterns[1:]
    assert all(re.match(r"\s*{\s*tenant_id: \$tenant_id\b", pattern["after"]) for pattern in patterns), query
