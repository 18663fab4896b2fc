"""What holds after updates, corrections and removals; see README.md of the benchmarks."""
