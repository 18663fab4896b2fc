"""Reads one statement.

A sentence is cut into parts and clauses; each clause has a subject, a verb and a rest. Also read: whom it is about,
what stands before it (a greeting), and whether it is meant as true (irony, play). No second statement is looked at.
"""
