"""How long a step of the clusters of episodes takes, and what memory, for so many episodes at once.

    python -m bench.clusters [--episodes 2000]

Vectors are random around topics, as many dimensions as the default model has. No service runs.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.hdbscan import cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=ClusterSettings().computed_max)
    count = parser.parse_args().episodes
    random = np.random.default_rng(1)
    centres = random.normal(size=(max(2, count // 20), 384))
    vectors = centres[random.integers(0, len(centres), count)] + random.normal(size=(count, 384))
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    chosen = ClusterSettings()
    seconds: list[float] = []
    clusters = 0
    for _ in range(5):
        started = time.perf_counter()
        labels = cluster(unit, size_min=chosen.size_min, neighbours=chosen.neighbours, finest=chosen.finest)
        clusters = labels.count
        seconds.append(time.perf_counter() - started)
    tracemalloc.start()
    cluster(unit, size_min=chosen.size_min, neighbours=chosen.neighbours, finest=chosen.finest)
    peak = tracemalloc.get_traced_memory()[1]
    print(
        f"{count} episodes: {clusters} clusters, {min(seconds):.2f} s at best, {max(seconds):.2f} s at worst, "
        f"{peak / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    main()
