"""`make prove-erase`: erases a user and searches every byte of every file for what the user had said."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.common import print_table, run
from bench.prove_erase.proof import Proof, prove
from bench.prove_erase.servers import running_servers


def main() -> int:
    """Prints what was found; the exit code is 1 when anything is left, or was not found before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neighbours", type=int, default=1_000, help="turns of another user, which stay")
    parser.add_argument("--servers", action="store_true", help="on Redis, PostgreSQL and Neo4j, which are started")
    parser.add_argument("--running", action="store_true", help="purge and search while the services run")
    arguments = parser.parse_args()
    if arguments.running and arguments.servers:
        parser.error("--running is for the embedded engines")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-prove-erase-")))
        folder.chmod(0o755)  # PostgreSQL runs as another user
        servers = stack.enter_context(running_servers(folder / "servers")) if arguments.servers else None
        proof = run(
            prove(folder / "data", neighbours=arguments.neighbours, servers=servers, while_running=arguments.running)
        )
    _print(proof)
    return 0 if proof.holds else 1


def _print(proof: Proof) -> None:
    before, erased, after = (scan.by_store() for scan in (proof.before, proof.erased, proof.after))
    counts = proof.before.files | proof.after.files
    sizes = proof.before.size | proof.after.size
    rows = [
        [store, count, sizes[store] >> 20, before[store], erased[store], _left(proof, store, after[store])]
        for store, count in counts.items()
    ]
    print_table("Canaries in files", ["store", "files", "MiB", "before", "after Erase", "after purge"], rows)
    forms = Counter((hit.store, hit.name, hit.form) for hit in proof.before.hits)
    found = [[*key, count] for key, count in sorted(forms.items())]
    print_table("Found before, by what was written", ["store", "what", "form", "hits"], found)
    forms = Counter((hit.store, hit.name, hit.form) for hit in proof.abandoned.hits)
    if forms:
        left = [[*key, count] for key, count in sorted(forms.items())]
        print_table("Left in files that are to be deleted as a whole", ["store", "what", "form", "hits"], left)
    for hit in proof.after.hits:
        print(f"LEFT {hit.store} {hit.path} at {hit.offset}: {hit.name}, {hit.form}")
    for problem in [*proof.after.unread, *proof.unseen]:
        print(f"NOT PROVEN {problem}")


def _left(proof: Proof, store: str, after: int) -> str:
    """Hits after the purge; of what cannot be purged in place, those of the files that are to be deleted."""
    if store in proof.abandoned.files:
        return f"{proof.abandoned.by_store()[store]}, to be deleted"
    return str(after)


if __name__ == "__main__":
    sys.exit(main())
