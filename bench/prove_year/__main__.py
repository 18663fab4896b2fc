"""`make prove-year`: a year of a user with a clock that jumps; what the jobs leave of it, and whether it is logged."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.common import print_table, run
from bench.prove_year.proof import NEWEST, Bounds, Proof, prove
from services.common.logging import configure_logging


def main() -> int:
    """Prints what was found; the exit code is 1 when something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=20_000, help="turns of the year")
    parser.add_argument("--episodes", type=int, help="cap of active episodes (default: a quarter of the turns)")
    parser.add_argument("--facts", type=int, default=Bounds.facts, help="cap of active facts")
    parser.add_argument("--seed", type=int, default=7, help="of what is said")
    arguments = parser.parse_args()
    configure_logging(level="error")
    bounds = Bounds(arguments.episodes or max(NEWEST + 10, arguments.interactions // 4), arguments.facts)
    with tempfile.TemporaryDirectory(prefix="mneme-prove-year-") as folder:
        proof = run(
            prove(Path(folder) / "data", interactions=arguments.interactions, bounds=bounds, seed=arguments.seed)
        )
    _print(proof)
    return 0 if proof.holds else 1


def _print(proof: Proof) -> None:
    rows = [[kind, count, archived, f"{archived / count:.1%}"] for kind, (archived, count) in proof.archived.items()]
    print_table("Turns of the year", ["kind", "turns", "archived", "share"], rows)
    print_table("Facts", ["status", "facts"], [[status, count] for status, count in proof.facts.items()])
    print(
        f"{proof.interactions} turns, {proof.runs} runs with {proof.changes} changes, all of them in the log; "
        f"{proof.seconds:.0f} s"
    )
    for problem in proof.problems:
        print(f"DOES NOT HOLD {problem}")


if __name__ == "__main__":
    sys.exit(main())
