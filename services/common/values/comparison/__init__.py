"""Compares two statements, or two clauses, by what they say alone.

Whether two values are equal, whether the ends of two clauses are of one kind, whether two clauses fill one slot, and
whether two statements are about two different things. `compare.py` decides; who spoke, and when, is not known here.
"""
