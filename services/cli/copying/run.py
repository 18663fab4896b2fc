"""One copy from beginning to end."""

from __future__ import annotations

from dataclasses import dataclass

from services.cli.copying.installation import open_installation
from services.cli.copying.places import Place
from services.common.copying.ledger import PostgresCopyLedger
from services.common.copying.model import BATCH_RECORDS, CopyError
from services.common.copying.runner import Comparison, Copier, Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    """What a user can choose."""

    verify_only: bool = False  # compare both sides and write nothing
    force: bool = False  # go on though services are connected
    batch_records: int = BATCH_RECORDS  # in memory at once, on either side


async def run_copy(source: Place, target: Place, options: CopyOptions, watcher: Watcher) -> list[Comparison]:
    """Copies everything, or compares both sides, and returns count and checksum of each kind.

    Raises:
        CopyError: It cannot be started or continued.
        DataDirError: A data folder is in use.
        MigrationError: Schemas cannot be brought up to date.
        MnemeError: An engine cannot be used.
        OSError: An engine cannot be reached.
    """
    if source.data_dir is not None and source.data_dir == target.data_dir:
        raise CopyError("both places are the same data folder")
    writes = not options.verify_only
    # The schemas of an embedded source are this program's own; those of a server are not changed by reading it.
    migrates_source = writes and not source.settings.postgres_url
    async with (
        open_installation(source, migrate=migrates_source, force=options.force) as origin,
        open_installation(target, migrate=writes, force=options.force) as destination,
    ):
        name = await origin.identity()
        if name == await destination.identity():
            raise CopyError("both places are the same installation")
        models = await origin.embedding_models()
        async with (
            origin.records(models, create=False) as given,
            destination.records(models, create=writes) as taken,
        ):
            copier = Copier(given, taken, watcher, batch_records=options.batch_records)
            if not writes:
                return await copier.compare()
            ledger = await PostgresCopyLedger.open(destination.administration)
            await copier.copy(ledger, name)
            comparisons = await copier.compare()
            if all(comparison.is_equal for comparison in comparisons):
                await ledger.finish(name)
            return comparisons
