"""Things, habits, people and plans that are no more.

What was sold, finished, closed, left or given up ends what was said of it, and what goes with it. Lists of phrases
are in `partings.toml` and `exchanges.toml`; `families.toml` says which words are about one pursuit, and which things
are rivals.
"""
