"""What holds until something happens, and that it has happened: "until the cast comes off", "the cast is off".

The earlier statement names its own end, or the cause for which it holds a while; the later one says that this has
come. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.lives.displaced import displaced, returns_home
from services.common.values.lives.passing import is_for_a_while
from services.common.values.lives.plans import comes_about
from services.common.values.reading.parts import split_parts
from services.common.values.reading.people import OTHERS, THIRD
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.words.lexicon import AUXILIARIES, PRONOUNS
from services.common.values.words.nouns import nouns_of
from services.common.values.words.tokens import lemma, tokenize

_CHARS_MAX: Final = 250
_UNTIL: Final = re.compile(
    r"\b(?:until|till|'til)\s(?P<what>(?:(?:the|my|our|his|her|their)\s)?[\w'-]{2,20}(?:\s[\w'-]{2,20})??)\s"
    r"(?P<deed>(?:is|are|isn't|aren't|has|have|gets?|comes?|goes|\w{2,20}s|\w{2,20})(?:\s[\w-]{2,20}){0,2})(?=[,.;!]|\s(?:i|we|my|our|the)\b|$)",
    re.IGNORECASE,
)
_TILL: Final = re.compile(
    r"\b(?:until|till|'til|this\s(?:week|month)|these\sdays|meanwhile|at\sthe\smoment|for\snow|right\snow|for\sthe\stime\sbeing)\b",
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"^(?:(?:and|but|so|finally|well|ok|yay|hooray),?\s)?(?P<what>(?:(?:the|my|our)\s)?[\w'-]{2,20}(?:\s[\w-]{2,20})?)"
    r"(?:\s(?:is|are|was|were|has|have|'s)|(?<=\w)'s)?(?:\sbeen)?(?:\s(?:now|finally|all|already|completely|fully))?\s"
    r"(?:done|over|finished|complete|completed|ended|behind\s(?:me|us)|fine|healed|better|well|fixed|repaired|mended|working|running|ok|okay|sorted|"
    r"back\sto\snormal|ready|gone|off|open|reopened)\b(?!\s(?:not\b|to\sthe\b|the\b|an?\b|my\b|our\b|his\b|her\b|their\b|on\s(?:mon|tues|wednes|thurs|fri|satur|sun)))",
    re.IGNORECASE,
)
"""As in "the ankle's fine again", "maintenance done"."""
_MENDED: Final = re.compile(
    r"^(?:(?:and|but|so|finally|well)\s)?(?:they|we|somebody|someone|the\s(?:council|plumber|landlord|builders?|workmen|electrician))(?:'ve|\shave|\shas)?\s"
    r"(?:finally\s|just\s)?(?:re-?opened|opened|fixed|repaired|mended|cleared|sorted|replaced)\s(?:the|my|our)\s(?P<what>[\w-]{2,20}(?:\s[\w-]{2,20})?)",
    re.IGNORECASE,
)
"""As in "they've opened the bridge"."""
_BECAUSE_OF: Final = re.compile(
    r"\b(?:for|because\sof|due\sto|during)\s(?:the\s|my\s|our\s)?(?P<what>[a-z-]{4,20})(?=\s(?:until|till|'til|this)\b)",
    re.IGNORECASE,
)
_CAUSE_OPENS: Final = re.compile(
    r"^(?:for|during|because\sof|due\sto|with)\s(?:the|my|our)\s(?P<what>[a-z-]{3,20}(?:\s(?:weeks?|days?|works?|season))?),?\s"
    r"(?=(?:the|my|our|i|we|nobody|no\sone|everybody|everyone|all|only|there|please|(?-i:[A-Z])[\w-]+)\b)",
    re.IGNORECASE,
)
"""As in "for the migration the API refuses all writes until Monday"."""
_DURING: Final = re.compile(
    r"\b(?:during|for|over|because\sof|in|due\sto)\s(?:the\s|my\s|our\s|this\s)?(?P<what>ramadan|lent|advent|(?:\w+\s)?strikes?|heat\s?wave|lockdown|"
    r"roadworks|building\sworks?|renovations?|audit|exams|harvest|lambing|secondment|probation|pregnancy|migration|merger|trial\speriod)\b",
    re.IGNORECASE,
)
"""What comes once and is over: "during Ramadan I work from eight to two"."""
_WHILE: Final = re.compile(
    r"\b(?:while|as\slong\sas)\s(?:the|my|our)\s(?P<what>[a-z-]{3,20}(?:\s[a-z-]{3,20})?)\s(?:is|are)\s(?:being\s)?"
    r"(?:replaced|repaired|fixed|rebuilt|renovated|migrated|moved|cleaned|painted|closed|down|broken|out)\b",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(
    r"\s(?:in|on|at|under|with)\s(?:the|my|our)\s(?P<what>[\w-]{2,20}(?:\s[\w-]{2,20})?)(?:,\s|\s)(?:so|and|but|,)?\s?$",
    re.IGNORECASE,
)
"""As in "a pipe burst in the hall, so until it is dry"."""
_POSSESSIVE: Final = re.compile(r"^\w{2,20}'s\s", re.IGNORECASE)
_SHORT_IS: Final = re.compile(
    r"^(?:(?:the|my|our)\s)?\w{2,20}'s\s(?:\w+\s)?(?:off|done|over|finished|fine|fixed|healed|better|gone|back|open|ready)\b",
    re.IGNORECASE,
)
"""As in "cast's off", where nothing is somebody's."""
_DENIED: Final = re.compile(
    r"\b(?:not|never|no|soon|when|if|until|till|hope|want|will|would|should|almost|nearly|yet|tomorrow|next|isn't|half)\b|n't\b|'ll\b|\?",
    re.IGNORECASE,
)
_NO_DEED: Final = frozenset({"get", "be", "have", "come", "go", "back", "again", "finally", "all"}) | AUXILIARIES
_SAME: Final = tuple(
    frozenset(words.split())
    for words in (
        "arrive come here deliver delivered",
        "finish done over complete completed end ready finished",
        "heal healed fine better well mend mended",
        "open reopen reopened",
        "fix repair fixed repaired work working mend",
        "return back home",
        "leave gone away",
        "off remove removed",
    )
)
"""Words that name the same end."""


class _Condition(NamedTuple):
    things: frozenset[str]
    ends: frozenset[str]
    objects: frozenset[str]  # what the deed is done to: "the bathroom", until the builders finish it


def is_fulfilled(earlier: str, later: str) -> bool:
    """Returns whether what the earlier statement holds until has come, or that for which it held is over.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if comes_about(earlier, later) or returns_home(earlier, later):
        return True
    conditions, causes = _read(earlier)
    if not conditions and not causes:
        return False
    if causes and len(later) <= _CHARS_MAX and not _DENIED.search(later):
        mended = (match for part in split_parts(later) if (match := _MENDED.match(part)) is not None)
        if any((what := nouns_of(match["what"])) and what <= causes for match in mended):
            return True
    for part, things in _told(later):
        words = {lemma(token.lower) for token in tokenize(part)} | {token.lower for token in tokenize(part)}
        if any(one.things | one.objects <= things and one.ends & words for one in conditions):
            return True
        done = _DONE.match(part)
        if done is not None and causes and nouns_of(done["what"]) and nouns_of(done["what"]) <= causes:
            return True
    return False


@text_cache(4_096)
def _read(text: str) -> tuple[tuple[_Condition, ...], frozenset[str]]:
    """Until when a statement holds, and what it names where it holds for a while."""
    if len(text) > _CHARS_MAX or text.rstrip().endswith("?"):
        return (), frozenset()
    plain = text.replace("\u2019", "'")
    conditions = tuple(one for match in _UNTIL.finditer(plain) for one in _conditions(plain, match))
    gone = displaced(plain)
    return conditions, frozenset().union(*_causes(plain), gone.gone if gone is not None else ())


def _causes(text: str) -> Iterator[frozenset[str]]:
    """What is named as the reason for something that holds for a while."""
    for pattern in (_DURING, _WHILE):
        yield from (nouns_of(match["what"]) for match in pattern.finditer(text))
    parts = split_parts(text)
    passing = [part for part in parts if is_for_a_while(part) or _TILL.search(part)]
    for part in parts if passing else ():
        if part not in passing[-1:]:
            yield nouns_of(part)
    for part in passing:
        yield from (nouns_of(match["what"]) for match in _BECAUSE_OF.finditer(part))
        if (match := _CAUSE_OPENS.match(part)) is not None:
            yield nouns_of(match["what"])


def _conditions(text: str, match: re.Match[str]) -> Iterator[_Condition]:
    """What ends a statement: "it" is what the sentence is about, or what stands before it behind a preposition."""
    what = match["what"].casefold()
    meant = [nouns_of(what)]
    if what in {"it", "they", "this"}:
        before = _PLACED.search(text[: match.start()])
        meant = [nouns_of(_opening(text)), nouns_of(before["what"]) if before is not None else frozenset()]
    yield from (one for things in meant if (one := _condition(things, what, match)) is not None)


def _condition(things: frozenset[str], what: str, match: re.Match[str]) -> _Condition | None:
    words = [word.casefold() for word in match["deed"].split()]
    ends = {lemma(word) for word in words} | set(words)
    ends -= _NO_DEED | DETERMINERS | PREPOSITIONS | PRONOUNS
    if not things or what.split(maxsplit=1)[0] in {"i", "we"}:
        return None
    if not ends and {lemma(word) for word in words} & {"come", "go", "get"}:
        ends = {"arrive"} if "go" not in words else {"leave"}
    if not ends and "back" in words:
        ends = {"back"}
    for same in _SAME:
        if ends & same:
            ends |= same
    is_deed = len(words) > 1 and words[0] not in _NO_DEED and lemma(words[0]) not in _NO_DEED
    objects = nouns_of(" ".join(words[1:])) - _NO_DEED if is_deed else frozenset()
    return _Condition(things, frozenset(ends), objects) if ends else None


def _opening(text: str) -> str:
    """The words up to the first verb, which name what a statement is about."""
    words: list[str] = []
    for word in text.split():
        if word.casefold() in AUXILIARIES:
            break
        words.append(word)
    return " ".join(words) if len(words) < len(text.split()) else ""


def _is_of_another(part: str) -> bool:
    return OTHERS.search(part) is not None or _POSSESSIVE.match(part) is not None


@text_cache(4_096)
def _told(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The parts of a statement that may say that something has happened, each with the things it names."""
    if len(text) > _CHARS_MAX:
        return ()
    return tuple(
        (part, nouns_of(part))
        for part in split_parts(text)
        if not _DENIED.search(part) and not THIRD.search(part) and (_SHORT_IS.match(part) or not _is_of_another(part))
    )
