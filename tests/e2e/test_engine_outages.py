"""Each production engine is killed in the midst of a mixed load, stays away for ten seconds, and comes back."""

from typing import Final

import pytest

from bench.common import Target
from bench.outage import run_outage
from tests.support.production import ENGINES, ProductionEngines

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("four engines, each away for ten seconds")]


_SLOWEST: Final = "neo4j"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.proof("make bench-outage")) if name == _SLOWEST else name
        for name in ENGINES
    ],
)
async def test_spec_1_6_5_10_and_6_1_an_engine_that_goes_away_loses_nothing_and_is_named(
    production_stack: Target, production_engines: ProductionEngines, name: str
) -> None:
    # At the benchmark's pace a busy machine would spend minutes on what waited, which is the benchmark's to measure.
    engine = production_engines.by_name[name]
    report = await run_outage(production_stack, name, engine, away_seconds=10.0, slower=12.0)

    assert report.problems == ()
    assert report.is_clean
    assert report.recalls_meanwhile > 0
    # Without its journal nothing can be acknowledged; with it everything is, whichever tier is away.
    assert (report.acknowledged_meanwhile > 0) is (name != "postgres")
