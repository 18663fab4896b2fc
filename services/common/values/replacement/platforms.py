"""What a thing runs on, is kept in or goes through, told with another platform. Pure functions.

"We deploy the shop with Jenkins" ends with "/ops/Jenkinsfile is deleted, every push to the shop's main branch goes out
through GitLab pipelines": both name platforms of one kind, of which one is in use at a time (`families.toml`), and
the same thing. What another thing runs on stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.model import Modality
from services.common.values.partings.families import rivals_in
from services.common.values.reading.pieces import read_statement
from services.common.values.words.fields import CHANGED
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize
from services.common.values.words.unsure import UNSURE

_CHARS_MAX: Final = 300
_CUT: Final = re.compile(r"[,;:]\s|\.\s|\s[\u2013\u2014-]{1,3}\s|\s(?:and|but|so)\s", re.IGNORECASE)
_GONE: Final = CachedPattern(
    r"\b(?:deleted|removed|gone|switched\soff|shut\sdown|turned\soff|closed|cancelled|canceled|read-only|decommissioned|retired|"
    r"ran\sout|has\sexpired|expired|uninstalled|unplugged|frozen|archived|dead|history|no\smore|torn\sdown|wound\sdown|terminated|dropped|"
    r"phased\sout|behind\sus|wiped|empty|a\sbrick)\b",
    re.IGNORECASE,
)
_NO_MATTER: Final = CachedPattern(r"\b(?:not|never|no|also|too|as\swell|both|besides|would|could|should)\b|n't\b", re.I)
_THROUGH: Final = frozenset("through via on in with to over by using into onto at from".split())  # noqa: SIM905 - words
_KINDS: Final = frozenset(
    """
    site wiki editor mail notes tracker chat meeting source pipeline cloud database cache queue search language
    front_end mobile_app server web_server infrastructure provision bundler monitoring design logs mailer secrets
    deployer registry payments storage passwords calendar survey documents
    """.split()  # noqa: SIM905 - words
)
"""Kinds of platforms: of rivals that people have themselves, such as instruments, another rule reads."""
_GENERIC: Final = frozenset(
    """
    ci cd pipeline build deploy deployment release push merge merging main master branch job run service platform
    account cluster app config file instance tool system setup thing everything all log bug ticket issue mail
    email message note
    page doc code repo repository data secret password metric licence license subscription plan server team company
    work week month tuesday monday wednesday thursday friday saturday sunday today now cleanup day context
    database box machine host out every away off up down straight directly automatically
    """.split()  # noqa: SIM905 - words
)
"""Words that do not say which thing it is."""


class _Use(NamedTuple):
    kind: str
    name: str
    things: frozenset[str]  # what runs there, by its own words
    words: frozenset[str]  # all words beside the platform


def runs_elsewhere(earlier: str, later: str, *, is_told: bool) -> bool:
    """Returns whether the later statement says that what the earlier one is about uses another platform.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_told: Whether the turn of the later one announces a change.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or UNSURE.search(earlier) or UNSURE.search(later):
        return False
    first, second = _uses(earlier), _uses(later)
    if not first or not second:
        return False
    named = frozenset(kind_name for part in _CUT.split(later) for kind_name in _gone(part))
    is_new = is_told or CHANGED.search(later) is not None or plainly(later)[1]
    return any(_takes_over(a, b, is_new=is_new, is_gone=(a.kind, a.name) in named) for a in first for b in second)


def platform_keys(text: str) -> frozenset[str]:
    """Returns the kinds of platforms that a statement says something runs on: so are two of one kind found."""
    return frozenset(f"rival:{use.kind}" for use in _uses(text)) if len(text) <= _CHARS_MAX else frozenset()


def _takes_over(a: _Use, b: _Use, *, is_new: bool, is_gone: bool) -> bool:
    if a.kind != b.kind or a.name == b.name or not (is_new or is_gone):
        return False
    if a.things and b.things:
        return b.things <= a.things
    if a.things or b.things:
        return is_gone
    return is_gone or bool(a.words & b.words)


@text_cache(4_096)
def _uses(text: str) -> tuple[_Use, ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[_Use]:
    for part in _CUT.split(text):
        if _NO_MATTER.search(part):
            continue
        clauses = read_statement(part).clauses
        if not clauses or any(clause.modality is not Modality.STATED or clause.historic for clause in clauses):
            continue
        words = [lemma(token.lower) for token in tokenize(part) if token.lower not in PUNCTUATION]
        for kind, name in rivals_in(tuple(words)):
            if kind not in _KINDS or not _is_used(words, name):
                continue
            rest = (nouns_of(part) | _owners(part)) - set(name.split()) - {"'s"}
            yield _Use(kind, name, frozenset(rest - _GENERIC - _VERBS - _THROUGH), frozenset(rest))


_VERBS: Final = frozenset(
    """
    deploy host send use track log store run go live build ship land keep write move copy be have come push merge serve
    manage handle save put switch migrate work compile bundle render schedule bill charge
    """.split()  # noqa: SIM905 - words
)
_USING: Final = frozenset("use run choose adopt pick have take be read write speak".split())  # noqa: SIM905 - words


def _is_used(words: list[str], name: str) -> bool:
    """Whether a platform is named as what something goes through, or as what is used."""
    parts = name.split()
    place = next((n for n in range(len(words)) if words[n : n + len(parts)] == parts), 0)
    before = words[max(0, place - 3) : place]
    return bool(_THROUGH & set(before)) or bool(_USING & set(before[-1:]))


def _owners(part: str) -> frozenset[str]:
    return frozenset(lemma(match[1].casefold()) for match in re.finditer(r"\b([\w-]{2,25})'s\b", part))


def _gone(part: str) -> Iterator[tuple[str, str]]:
    """The platforms of which a part says that they, or a file of theirs, are no more: ".travis.yml is removed"."""
    if _GONE.search(part) is None or _NO_MATTER.search(part):
        return
    words = [lemma(token.lower) for token in tokenize(part)]
    pieces = [piece for word in words for piece in re.split(r"[./_-]|(?<=[a-z])file\b", word) if piece]
    yield from rivals_in(tuple(words))
    yield from rivals_in(tuple(pieces))
