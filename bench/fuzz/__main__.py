"""`make fuzz`: made-up and damaged requests to every RPC of every service.

    python -m bench.fuzz --out FILE

A stack with embedded engines serves two tenants. One sends the requests, to the gateway by its API key and to each
tier with an identity as the gateway signs it. The other has stored something before. No call may end with INTERNAL
or UNKNOWN, none may hang, no answer may hold what the other tenant stored, and the other tenant must find the same
afterwards. Memory and descriptors of the stack are compared with those after the first tenth of the calls.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import grpc

from bench.common import MESSAGE_BYTES_MAX, Target, open_target, print_table, report_head, run, write_json
from bench.fuzz.attack import Attack, Door, Tally
from bench.fuzz.methods import served
from bench.fuzz.witness import Witness
from bench.soak import Sample, sample_of, service_processes

DESCRIPTORS_MORE_MAX: Final = 16
"""Pools breathe; each connection left over would be one more."""
MEMORY_GROWTH_MAX: Final = 1.25
MEMORY_MORE_MIB_MAX: Final = 64
"""Memory may grow by the share and by these MiB: what was written meanwhile is cached."""
_WARM_SHARE: Final = 0.1


@dataclass(slots=True)
class Result:
    """What the calls led to."""

    tally: Tally
    methods: int
    before: Mapping[str, Sample] = field(default_factory=dict)
    after: Mapping[str, Sample] = field(default_factory=dict)
    changed: Sequence[str] = ()
    """What the other tenant finds otherwise than before."""

    def left(self) -> Sequence[str]:
        """What services hold that they did not hold after the first calls."""
        found = []
        for name, now in self.after.items():
            was = self.before[name]
            if now.descriptors > was.descriptors + DESCRIPTORS_MORE_MAX:
                found.append(f"{name}: {was.descriptors} descriptors, then {now.descriptors}")
            if now.rss_mib > was.rss_mib * MEMORY_GROWTH_MAX + MEMORY_MORE_MIB_MAX:
                found.append(f"{name}: {was.rss_mib:.0f} MiB, then {now.rss_mib:.0f} MiB")
        return found

    def is_met(self) -> bool:
        """Whether nothing was found."""
        return not (self.tally.found or self.changed or self.left())


async def _measure(options: argparse.Namespace) -> Result:
    from services.common.auth import Role, create_api_key
    from services.common.hosting import HostSettings

    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        keys, now = Path(folder) / "keys.json", datetime.now(UTC)
        fuzz_key, witness_key = (
            create_api_key(keys, tenant_id=tenant, principal_id=tenant, role=Role.ADMIN, now=now)[0]
            for tenant in ("fuzz", "witness")
        )
        settings = HostSettings(api_keys_file=keys)
        async with (
            open_target(None, data_dir=Path(folder) / "data", host_settings=settings, processes=True) as target,
            Witness.of(target.gateway, witness_key, canary=f"canary-{secrets.token_hex(8)}") as witness,
            _doors(target, fuzz_key) as doors,
        ):
            return await _attack(options, doors, witness)


async def _attack(options: argparse.Namespace, doors: Mapping[str, Door], witness: Witness) -> Result:
    found = await asyncio.gather(*(served(name, door.channel, door.metadata) for name, door in doors.items()))
    targets = [one for each in found for one in each]
    attack = Attack(doors, targets, seed=options.seed, canary=witness.canary)
    warm = int(options.calls * _WARM_SHARE)
    await attack.run(warm, workers=options.workers)
    processes = service_processes()
    before = {name: sample_of(process) for name, process in processes.items()}
    await attack.run(options.calls - warm, workers=options.workers)
    after = {name: sample_of(process) for name, process in processes.items()}
    return Result(attack.tally, len(targets), before, after, await witness.differences())


@contextlib.asynccontextmanager
async def _doors(target: Target, key: str) -> AsyncIterator[Mapping[str, Door]]:
    """The gateway with the key, and the tiers with what the gateway signs; identities live as long as the run."""
    from datetime import timedelta

    from services.cli.stack import SECRET_FILE
    from services.common.auth import IDENTITY_METADATA_KEY, IdentitySigner, Principal, Role

    assert target.data_dir is not None
    secret = (target.data_dir / SECRET_FILE).read_bytes()
    signer = IdentitySigner(secret, lifetime=timedelta(hours=12))
    identity = ((IDENTITY_METADATA_KEY, signer.sign(Principal("fuzz", "fuzz", Role.ADMIN))),)
    async with contextlib.AsyncExitStack() as stack:
        doors = {}
        for name, address in {"gateway": target.gateway, **target.tiers}.items():
            options = [("grpc.max_receive_message_length", MESSAGE_BYTES_MAX)]
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(address, options=options))
            metadata = (("authorization", f"Bearer {key}"),) if name == "gateway" else identity
            doors[name] = Door(channel, metadata)
        yield doors


def _report(options: argparse.Namespace, result: Result) -> int:
    settings = {"calls": options.calls, "seed": options.seed, "workers": options.workers}
    report = report_head("fuzz", driver="embedded, one process for each service", settings=settings)
    tally = result.tally
    report |= {
        "methods": result.methods,
        "codes": dict(tally.codes.most_common()),
        "slowest": tally.slowest,
        "found": tally.found,
        "findings": [asdict(finding) for finding in tally.findings],
        "never_answered": tally.never_answered(),
        "changed": result.changed,
        "left": result.left(),
        "memory_mib": {name: [result.before[name].rss_mib, one.rss_mib] for name, one in result.after.items()},
        "by_method": {name: dict(codes) for name, codes in sorted(tally.methods.items())},
        "is_met": result.is_met(),
    }
    write_json(options.out, report)
    print_table(
        f"fuzz: {sum(tally.codes.values())} calls of {result.methods} methods",
        ("code", "calls"),
        [(code, count) for code, count in tally.codes.most_common()],
    )
    for finding in tally.findings[:20]:
        print(f"{finding.what}: {finding.method}: {finding.details[:200]}")
    for line in (*result.changed, *result.left()):
        print(line)
    print(f"{tally.found} findings; {len(tally.never_answered())} methods never answered OK")
    return 0 if result.is_met() else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and attack. Exit code 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=8, help="calls at the same time")
    parser.add_argument("--seed", type=int, default=1, help="of the requests")
    options = parser.parse_args(arguments)
    return _report(options, run(_measure(options)))


if __name__ == "__main__":
    sys.exit(main())
