"""Scores of candidate turns: features, formulas, fitted rankers."""
