"""The calls of the golden transcript on Redis, PostgreSQL and Neo4j: what the embedded engines answer."""

import pytest

from bench.common import Target
from tests.golden.transcript import Transcript, differences, recorded


@pytest.mark.ci("four engines, and a process for each service")
@pytest.mark.asyncio(loop_scope="session")
async def test_production_engines_answer_as_recorded(production_stack: Target, user_id: str) -> None:
    answers = await Transcript(production_stack.gateway, user_id).replay()
    found = differences(answers, recorded())
    assert not found, "\n".join(found[:40])
