"""The patterns of statements, in the order in which they are tried.

Each is matched at the beginning of what follows a clause's subject. A pattern's group `obj` is the object, `role` and
`origin` are parts of some. Parts marked `(?-i:...)` must begin with a capital: names of places and companies do, and
what else follows "moved to" does not.
"""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.patterns_life import DATED, LIFE, PLANS, TASTES
from services.semantic.facts.extraction.patterns_person import LIMITS, PEOPLE, SELF
from services.semantic.facts.extraction.rule import Rule

_OF_NAMED: Final = word_set(
    """
    getting_married expecting relationship_status lives_in works_at moved moving_to age works_as starts_job
    allergic_to about_relative
    """
)
SPEAKER_RULES: Final[tuple[Rule, ...]] = (*SELF, *PEOPLE, *LIMITS, *PLANS, *TASTES, *LIFE, *DATED)
"""What is said of oneself, the more specific first."""

OTHERS_RULES: Final[tuple[Rule, ...]] = tuple(rule for rule in SPEAKER_RULES if rule.of_others)
"""What is also taken of a relative."""

NAMED_RULES: Final[tuple[Rule, ...]] = tuple(rule for rule in OTHERS_RULES if rule.predicate in _OF_NAMED)
"""What is taken of somebody by name alone: little, since a capital at the start of a clause says little."""
