"""Recall: one file per stage of the reading pipeline."""
