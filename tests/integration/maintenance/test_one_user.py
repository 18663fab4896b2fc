"""A run for one user reads the memories of no other one, and works on that user's as a run for all does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from services.common.owners import Owner
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.activity_samples import ADA, BEN
from tests.integration.maintenance.cases import CASES
from tests.integration.maintenance.episodic_cases import OWNERS
from tests.integration.maintenance.graph_cases import FACT_OWNERS, NOTE_OWNERS
from tests.integration.maintenance.places import MIGRATIONS, opened
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres

JOBS: Final[dict[str, tuple[Owner, ...]]] = {
    "episodic.retain_episodes": OWNERS,
    "episodic.reconcile_index": OWNERS,
    "episodic.fill_second_index": OWNERS,
    "episodic.cluster_episodes": OWNERS,
    "episodic.learn_patterns": (ADA, BEN),
    "semantic.retain_facts": FACT_OWNERS,
    "semantic.merge_facts": FACT_OWNERS,
    "semantic.reembed_facts": FACT_OWNERS,
    "agentic.consolidate": NOTE_OWNERS,
    "agentic.prune_notes": NOTE_OWNERS,
    "agentic.fade_links": NOTE_OWNERS,
    "agentic.reembed_notes": NOTE_OWNERS,
}
"""With the users whose memories there are."""


@pytest.mark.parametrize("name", JOBS)
async def test_spec_6_9_a_run_for_one_user_reads_no_other_one(
    name: str, postgres_server: EmbeddedPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, owner, clock = CASES[name], JOBS[name][-1], FakeClock()
    async with (
        fresh_postgres(postgres_server, migrations=MIGRATIONS) as urls,
        opened(case, urls.app, tmp_path, clock) as place,
    ):
        await case.fill(place)
        read = set[str]()
        original = asyncpg.Connection.fetch

        async def fetch(*arguments: Any, **options: Any) -> Any:
            found = await original(*arguments, **options)
            read.update(
                f"{row['tenant_id']} {row['user_id']}" for row in found if {"tenant_id", "user_id"} <= {*row.keys()}
            )
            return found

        with monkeypatch.context() as patch:
            patch.setattr(asyncpg.Connection, "fetch", fetch)
            report = await place.runner.run(case.job(place), owner=owner)
        assert report.applied, "there was something to do"
        assert read <= {f"{owner.tenant_id} {owner.user_id}"}
        again = await place.runner.run(case.job(place))
        assert again.applied, "the other users' memories are as they were"
