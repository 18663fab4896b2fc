"""Reads a short statement into clauses: who, does what, to what, how it is meant, since when."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from services.common.values.model import Modality, Value, ValueKind
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS, split_clauses, verb_place
from services.common.values.words.lexicon import (
    AUXILIARIES,
    BE,
    CANONICAL,
    COMPARATIVES,
    HEARSAY,
    HEDGE_PHRASES,
    HEDGES,
    IRREGULAR,
    NEGATIVES,
    NOW,
    NOW_PHRASES,
    PAST_PHRASES,
    PHRASAL,
    POSSESSIVES,
    PRONOUNS,
    STATES,
    STOP,
    TEMPORARY,
    VERBS,
    WEEKDAYS,
)
from services.common.values.words.quantities import Token, ValueReader
from services.common.values.words.tokens import lemma, tokenize
from services.common.values.words.units import CURRENCIES

CHARS_MAX: Final = 600
"""Longer texts are no single statements; they are not read."""
CLAUSES_MAX: Final = 6

_PERIODS: Final = WEEKDAYS | {"today", "yesterday", "tomorrow"}
"""Own nothing: "Sunday's race"."""

Item: TypeAlias = "str | Value"


@dataclass(slots=True)
class Clause:
    """One clause, with what is needed to compare it."""

    subject: tuple[Item, ...] = ()
    verb: str = ""  # lemma; "be" for a copula, "" where none was found
    rest: tuple[Item, ...] = ()
    words: tuple[str, ...] = ()  # all words in lower case, values left out
    tokens: tuple[str, ...] = ()  # all words in lower case, values too
    names: frozenset[str] = frozenset()  # words with a capital that does not begin a sentence
    origin: tuple[Item, ...] = ()  # what follows "from"
    modality: Modality = Modality.STATED
    negated: bool = False
    changed: bool = False  # says that it is new: "now", "no longer", "from now on"
    renewed: bool = False  # "new" or "another" stands before its subject or object
    historic: bool = False  # over: "until 2018", "used to"
    temporary: bool = False  # "today", "this week"
    past: bool = False
    perfect: bool = False  # "has been repaired"
    passive: bool = False
    quantifier: str = ""  # all, none, some
    prepositions: dict[Item, str] = field(default_factory=dict)
    possessors: frozenset[str] = frozenset()

    @property
    def bag(self) -> list[Item]:
        """Everything that carries meaning."""
        verb: list[Item] = [self.verb] if self.verb not in {"", "be"} else []
        return [*self.subject, *verb, *self.rest]

    @property
    def values(self) -> list[Value]:
        """The values among it."""
        return [item for item in self.bag if isinstance(item, Value)]


def read_clauses(text: str) -> list[Clause] | None:
    """Returns the clauses of a statement; None where it is too long or has none."""
    if len(text) > CHARS_MAX:
        return None
    clauses: list[Clause] = []
    for tokens, mark in split_clauses(tokenize(text)):
        clause = _clause(tokens, is_question=mark == "?")
        if clause is None:
            continue
        _inherit(clause, clauses)
        clauses.append(clause)
    return clauses if 0 < len(clauses) <= CLAUSES_MAX else None


def _clause(tokens: Sequence[Token], *, is_question: bool) -> Clause | None:
    if not tokens:
        return None
    items = _with_contracted_be(_with_plain_comparatives(ValueReader(tokens).read()))
    words = tuple(item for item in items if isinstance(item, str))
    place = verb_place(items)
    clause = Clause(words=words, tokens=tuple(token.lower for token in tokens))
    clause.names = frozenset(
        token.lower
        for number, token in enumerate(tokens)
        if token.text[:1].isupper() and token.lower not in PRONOUNS and token.lower not in POSSESSIVES and number
    ) | _opening_name(tokens)
    clause.possessors = frozenset(
        word for word, after in itertools.pairwise(words) if after == "'s" and word not in PRONOUNS | _PERIODS
    )
    _read_flags(clause, words, is_question=is_question)
    if place is None:
        clause.modality = Modality.QUESTION if is_question else Modality.STATED
        clause.rest = tuple(_content(items, clause))
        return clause if clause.rest else None
    lead = _lead(items[:place])
    before, after = items[lead:place], items[place:]
    if lead and items[0] in {"from", "since"} and not isinstance(items[1], str) and "to" not in words:
        clause.changed = True
    verb, rest_place = _main_verb(clause, after)
    clause.verb = verb
    clause.subject = tuple(_content(before, clause))
    scope = [] if clause.changed and lead and items[0] in {"from", "since"} else items[:lead]
    clause.rest = (*_content(after[rest_place:], clause), *_content(scope, clause))
    _read_modality(clause, before, is_question=is_question)
    return clause


def _with_plain_comparatives(items: list[Item]) -> list[Item]:
    """Read "more expensive" as one comparative, and leave out the "longer" of "no longer"."""
    plain: list[Item] = []
    for item in items:
        before = plain[-1] if plain else ""
        if item == "expensive" and before in {"more", "less"}:
            plain[-1] = "dearer" if before == "more" else "cheaper"
        elif item == "longer" and before in {"no", "any"}:
            plain[-1:] = ["no", "no_longer"] if before == "no" else ["no_longer"]
        else:
            plain.append(item)
    return plain


def _with_contracted_be(items: list[Item]) -> list[Item]:
    """Read "'s" as "is" where the clause has no other verb."""
    if "'s" not in items or verb_place(items) is not None:
        return items
    place = items.index("'s")
    return [*items[:place], "is", *items[place + 1 :]]


def _opening_name(tokens: Sequence[Token]) -> frozenset[str]:
    """The first word, where another capital or a possessive follows or it cannot be anything else."""
    first = tokens[0]
    if not first.text[:1].isupper() or first.lower in STOP | PRONOUNS | set(POSSESSIVES) | DETERMINERS | PREPOSITIONS:
        return frozenset()
    following = tokens[1].text if len(tokens) > 1 else ""
    is_name = following == "'s" or (following[:1].isupper() and following not in {"I"})
    is_name = is_name or following.lower() in AUXILIARIES | {"and"} or lemma(following.lower()) in VERBS
    is_name = is_name and lemma(first.lower) not in VERBS
    return frozenset({first.lower}) if is_name else frozenset()


def _contains(words: Sequence[str], phrases: Sequence[tuple[str, ...]]) -> bool:
    present = set(words)
    return any(
        phrase[0] in present and any(tuple(words[n : n + len(phrase)]) == phrase for n in range(len(words)))
        for phrase in phrases
    )


def _read_flags(clause: Clause, words: Sequence[str], *, is_question: bool) -> None:
    is_now = bool(NOW & set(words)) and not _contains(words, (("now", "and", "then"), ("again", "and", "again")))
    clause.changed = is_now or _contains(words, NOW_PHRASES)
    clause.renewed = bool({"new", "another", "changed", "other"} & set(words))
    clause.historic = _contains(words, PAST_PHRASES) and not is_question
    since = {n for n, word in enumerate(words) if word in {"from", "of"}}
    passing = tuple(word for n, word in enumerate(words) if n - 1 not in since or word not in {"today", "tomorrow"})
    clause.temporary = _contains(passing, TEMPORARY)
    negations = sum(word in {"not", "never", "no", "neither", "nor", "nothing", "nobody", "none"} for word in words)
    negations += sum(word in NEGATIVES for word in words)
    negations += "without" in words
    negations -= "number" in words and "no" in words
    clause.negated = negations % 2 == 1
    if "fail" in map(lemma, words):
        clause.negated = not clause.negated
    present = set(words[:3])
    clause.quantifier = (
        "all" if present & {"all", "everyone", "everybody", "every"} and not negations
        else "none" if present & {"nobody", "none"}
        else "some" if present & {"some", "someone", "somebody"}
        else ""
    )  # fmt: skip


def _lead(before: list[Item]) -> int:
    """How many items before the verb are a scope put first: "on planes", "from May", "in 2010"."""
    if not before or before[0] not in PREPOSITIONS | {"since", "until", "after", "before"}:
        return 0
    starts = [n for n, item in enumerate(before) if n > 1 and (item in PRONOUNS or item in DETERMINERS)]
    return starts[-1] if starts else 0


def _main_verb(clause: Clause, after: Sequence[Item]) -> tuple[str, int]:
    """The lemma of the main verb and where the rest begins."""
    place, seen = 0, []
    while place < len(after):
        word = after[place]
        if not isinstance(word, str):
            break
        if word in AUXILIARIES or word in {
            "not",
            "never",
            "also",
            "already",
            "just",
            "now",
            "no",
            "no_longer",
            "still",
        }:
            seen.append(word)
            place += 1
        else:
            break
    following = after[place] if place < len(after) else ""
    if seen[-1:] == ["no"] and isinstance(following, str) and following.endswith("ing"):
        return "be", place  # "there is no waiting list"
    helpers = [word for word in seen if word in AUXILIARIES]
    clause.past = bool({"was", "were", "had", "did"} & set(helpers)) or (not helpers and _is_past(following))
    clause.perfect = bool({"has", "have"} & set(helpers)) and ("been" in helpers or _is_past(following))
    if (
        isinstance(following, str)
        and lemma(following) in VERBS
        and following not in {"like", "open", "set", "closed", "locked"}
    ):
        bare = bool(helpers) and helpers[-1] not in BE
        participle = (following.endswith("ing") or _is_past(following)) and following != "left"
        if not helpers or bare or participle:
            clause.passive = bool(helpers) and helpers[-1] in BE and not following.endswith("ing")
            return _with_particle(lemma(NEGATIVES.get(following, following)), after, place)
    if isinstance(following, str) and (not helpers or helpers[-1] in _MODALS) and following not in PREPOSITIONS:
        # Behind a modal verb stands a verb, known or not: "can't type".
        return _with_particle(lemma(NEGATIVES.get(following, following)), after, place)
    is_perfect = bool(helpers) and helpers[-1] in {"have", "has", "had"}
    if is_perfect and isinstance(following, str) and following.endswith("ed") and len(following) > _PARTICIPLE_MIN:
        # Behind "have" stands a participle, known or not: "I have not submitted the report".
        return _with_particle(lemma(following), after, place)
    return ("have" if is_perfect else "be"), place


_PARTICIPLE_MIN: Final = 4
_MODALS: Final = frozenset({"can", "could", "will", "shall", "should", "must", "do", "does", "did"})


def _with_particle(verb: str, after: Sequence[Item], place: int) -> tuple[str, int]:
    particle = after[place + 1] if place + 1 < len(after) else ""
    joined = PHRASAL.get((verb, particle)) if isinstance(particle, str) else None
    return (joined, place + 2) if joined else (verb, place + 1)


def _is_past(word: Item) -> bool:
    if not isinstance(word, str):
        return False
    return (word.endswith("ed") and word not in VERBS) or (word in IRREGULAR and not word.endswith(("s", "ing")))


def _read_modality(clause: Clause, before: Sequence[Item], *, is_question: bool) -> None:
    words = clause.words
    said_by_other = clause.verb in HEARSAY and "i" not in before and not clause.passive
    if is_question or (
        words[:1] and words[0] in AUXILIARIES and words[0] not in {"have", "do"} and words[1:2] != ("not",)
    ):
        clause.modality = Modality.QUESTION
    elif {"if", "unless"} & set(words) or "would" in words:
        clause.modality = Modality.CONDITIONAL
    elif said_by_other or "according" in words or {"rumour", "rumor"} & set(words):
        clause.modality = Modality.HEARSAY
    elif (
        HEDGES & set(_without_month(words))
        or _contains(words, HEDGE_PHRASES)
        or clause.verb in {"think", "believe", "guess"}
    ):
        clause.modality = Modality.HEDGED
    elif _contains(words, (("used", "to"), ("formerly",))):
        clause.modality = Modality.HABIT_PAST
    if "until" in words and not is_question:
        clause.historic = clause.historic or clause.past
        clause.temporary = clause.temporary or not clause.past
    years = sum(item.kind is ValueKind.DATE and item.unit == "year" for item in clause.values)
    is_bounded = years > 1 and "to" in words
    clause.historic = clause.historic or is_bounded or (bool(years) and clause.past and clause.verb != "bear")


def _without_month(words: Sequence[str]) -> Iterator[str]:
    """The words without "may" where it is a month: "in may"."""
    for before, word in itertools.pairwise(("", *words)):
        if word != "may" or before not in {
            "in",
            "since",
            "until",
            "by",
            "from",
            "early",
            "late",
            "next",
            "last",
            "this",
        }:
            yield word


def _content(items: Sequence[Item], clause: Clause) -> Iterator[Item]:
    """Words that carry meaning, in base form; names in a row are one, possessives are pronouns."""
    name: list[str] = []
    before = ""
    for item in items:
        if item in CURRENCIES:
            continue
        if isinstance(item, str) and item in clause.names and item not in _SKIPPED:
            name.append(item)
            continue
        if name:
            yield _keep(" ".join(CANONICAL.get(word, word) for word in name), before, clause)
            name = []
        if isinstance(item, Value):
            yield _keep(item, before, clause)
        elif item in PREPOSITIONS:
            before = item
            continue
        elif item in POSSESSIVES:
            yield POSSESSIVES[item]
        elif item in PRONOUNS - {"one", "there", "this", "that"}:
            yield item
        elif item in COMPARATIVES or (item not in STOP and item not in _SKIPPED):
            word = NEGATIVES.get(item, item)
            yield _keep(word if word in STATES else lemma(word), before, clause)
        if item not in {"the", "a", "an", "new", *POSSESSIVES}:
            before = ""
    if name:
        yield _keep(" ".join(CANONICAL.get(word, word) for word in name), before, clause)


_SKIPPED: Final = frozenset(
    """
    actually after-all again another as currently days formerly from have hi instead more much must neither
    never new news no no_longer nor not nothing now nowadays ok only since these today until well without yes
    """.split()  # noqa: SIM905 - words
)


def _keep(item: Item, preposition: str, clause: Clause) -> Item:
    clause.prepositions.setdefault(item, preposition)
    if preposition == "from":
        clause.origin = (*clause.origin, item)
    return item


def _inherit(clause: Clause, earlier: Sequence[Clause]) -> None:
    """Give a clause without a subject that of the one before it, and "it" what that one was about."""
    if not earlier:
        return
    last = earlier[-1]
    if clause.modality is Modality.STATED and not clause.subject and clause.verb:
        clause.subject = last.subject
    elif clause.subject == ("it",):
        nouns = tuple(item for item in last.rest if isinstance(item, str))
        owner = () if nouns[:1] and nouns[0] in set(POSSESSIVES.values()) else last.subject[:1]
        clause.subject = (*owner, *nouns) if last.renewed else nouns or clause.subject
    announced = last.renewed and not last.verb
    clause.changed = clause.changed or announced or last.verb in _CHANGES or bool(_ANNOUNCED & set(last.words))


_CHANGES: Final = frozenset([
    "change", "switch", "move", "renew", "sell", "retrain", "replace", "quit", "leave", "marry", "get", "raise",
    "lower",
])  # fmt: skip
_ANNOUNCED: Final = frozenset(["rebooked", "adapted", "adjusted", "corrected", "correction", "mistake", "update"])
