"""The predicates of facts: category, how far a plain statement is believed, how much it matters.

The numbers are judgements, from experience with dialogues: what is dangerous to forget comes first, then
who somebody is, then what they like, then what they once did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.semantic.facts.model import FactCategory as Category


@dataclass(frozen=True, slots=True)
class Predicate:
    """What holds for all facts of one predicate."""

    category: Category
    confidence: float  # of one plain statement, in [0, 1]
    importance: float  # in [0, 1]


def _all(category: Category, confidence: float, importance: float, names: str) -> dict[str, Predicate]:
    return {name: Predicate(category, confidence, importance) for name in names.split()}


PREDICATES: Final[dict[str, Predicate]] = {
    **_all(Category.PERSONAL_INFO, 0.9, 0.9, "has_name preferred_name has_pronouns"),
    **_all(Category.PERSONAL_INFO, 0.85, 0.8, "lives_in works_at works_as relationship_status birthday"),
    **_all(Category.PERSONAL_INFO, 0.85, 0.65, "age comes_from born_in nationality speaks"),
    **_all(Category.PERSONAL_INFO, 0.8, 0.65, "works_in teaches studies studies_at graduated_from has_degree left_job"),
    **_all(Category.PERSONAL_INFO, 0.8, 0.5, "lived_in worked_at worked_as home_is works_from"),
    **_all(Category.CONSTRAINT, 0.9, 0.95, "allergic_to has_condition intolerant_to carries_medication"),
    **_all(Category.CONSTRAINT, 0.85, 0.85, "follows_diet does_not_eat does_not_drink does_not_smoke avoids"),
    **_all(Category.CONSTRAINT, 0.8, 0.7, "has_budget availability cannot"),
    **_all(Category.INSTRUCTION, 0.9, 0.9, "instruction"),
    **_all(Category.RELATIONSHIP, 0.85, 0.75, "family has_pet has_children expecting"),
    **_all(Category.RELATIONSHIP, 0.8, 0.55, "knows about_relative lost_relative"),
    **_all(Category.PREFERENCE, 0.8, 0.6, "likes dislikes prefers favourite"),
    **_all(Category.COMMITMENT, 0.75, 0.7, "promised has_appointment event_on moving_to starts_job getting_married"),
    **_all(Category.COMMITMENT, 0.7, 0.6, "plans_to must signed_up_for wants_to"),
    **_all(Category.CONTEXT, 0.75, 0.5, "working_on member_of volunteers_at learning habit plays owns goal trains_for"),
    **_all(Category.CONTEXT, 0.75, 0.45, "bought sold applied_for visited attended event achieved injured used_to"),
    **_all(Category.CONTEXT, 0.8, 0.7, "asked_to_remember"),
    **_all(Category.COMMITMENT, 1.0, 1.0, "start_date"),
}
"""All predicates that the rules find. Favourites carry what they are of: `favourite_colour` is like `favourite`."""


def predicate_of(name: str) -> Predicate:
    """The predicate of this name, or of the family before its first underscore-joined detail."""
    if name.startswith("favourite_"):
        name = "favourite"
    elif name.startswith("has_") and name not in PREDICATES:
        name = "family"
    return PREDICATES[name]
