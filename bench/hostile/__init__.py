"""What hostile callers cost a normal one: `python -m bench.hostile`."""
