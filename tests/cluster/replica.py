"""A process that leads where it can, and as the leader writes under its fence. Reports each change on a line.

python -m tests.cluster.replica NAME KUBECONFIG LEASE POSTGRES_URL SKEW_SECONDS
"""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Final

from kubernetes import client, config

from services.common.errors import MnemeError
from services.common.maintenance.election import Leader
from services.common.maintenance.elections.kubernetes import LeaseElection
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.postgres.pool import create_pool

JOB: Final = "test.write"
LEASE_SECONDS: Final = 4
_STEP_SECONDS: Final = 0.3


def _report(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _write(store: PostgresMaintenanceStore, name: str, term: int) -> None:
    """Claims the job in a term, and writes a cursor under the claim."""
    now = datetime.now(UTC)
    try:
        claim = await store.claim(
            JOB, None, holder=name, run_id=str(uuid.uuid4()), now=now, lease=timedelta(seconds=60), term=term
        )
        if claim is not None:
            await store.renew(claim, cursor=name, now=now, lease=timedelta(0))
    except MnemeError as error:
        _report(f"refused {type(error).__name__}")


async def main(name: str, kubeconfig: str, lease: str, dsn: str, skew_seconds: float) -> None:
    """Runs until it is killed."""
    configuration = client.Configuration()
    config.load_kube_config(kubeconfig, client_configuration=configuration)  # type: ignore[no-untyped-call]
    configuration.retries = False
    election = LeaseElection(
        client.CoordinationV1Api(client.ApiClient(configuration)),
        namespace="default",
        name=lease,
        identity=name,
        lease_seconds=LEASE_SECONDS,
        monotonic=lambda: time.monotonic() + skew_seconds,
    )
    store = PostgresMaintenanceStore(await create_pool(dsn))
    leader = Leader(election, store.next_term)
    known: int | None = None
    while True:
        await leader.step()
        term = leader.term
        if term is not None:
            await _write(store, name, term)
        if term != known:
            _report("follows" if term is None else f"leads {term}")
        known = term
        await asyncio.sleep(_STEP_SECONDS)


if __name__ == "__main__":
    _, own_name, file, lease_name, url, skew = sys.argv
    asyncio.run(main(own_name, file, lease_name, url, float(skew)))
