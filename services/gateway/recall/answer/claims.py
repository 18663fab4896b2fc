"""What speakers say of themselves that another turn can contradict, by rules over single clauses.

Questions, conditions, wishes, quotations and the past are none of it. The words are in data/claims.toml.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.common.text import split_sentences
from services.common.text_cache import text_cache

_WORDS: Final = Path(__file__).parent / "data" / "claims.toml"
_OBJECT_WORDS_MAX: Final = 5
_VALUE_WORDS_MAX: Final = 6
_CACHED_TURNS: Final = 2_000  # the same turns are recalled again and again

_MAY_CLAIM: Final = re.compile(r"\b(?:I|my|(?:de)?activated?|enabled?|disabled?)\b", re.IGNORECASE)
_NOT_STATED: Final = re.compile(
    r"\?|[\"“”«»`]|\b(?:if|unless|whether|would|could|should|might|may|maybe|perhaps|wish|hope|hoping|imagine|pretend|"
    r"suppose|supposed|used to|when I was|back then|almost|nearly|as if|as though|says?|said|told|asked|thought)\b",
    re.IGNORECASE,
)
_CUT: Final = re.compile(
    r"[,;:()!\n—\u2013]+| - |\.\.+|…| \b(?:but|because|so|while|although|though|since|"
    r"and (?=I\b|my\b|we\b))\b ?",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(
    r"^(?:(?:well|yes|yeah|yep|no|nope|so|actually|honestly|oh|and|but|also|now|then|anyway|lately|update|correction|"
    r"fyi|please|nowadays|currently|these days|by the way|to be honest|as of now|from now on)\s+)+",
    re.IGNORECASE,
)
_LEADING: Final = frozenset(("a", "an", "the", "my", "our", "some", "any", "to"))
_DANGLING: Final = frozenset(("in", "on", "at", "of", "for", "to", "with", "by", "from", "about", "near", "the", "a"))
# Words that leave it open what is meant without what stands elsewhere, or that narrow it to some of its kind.
_POINTING: Final = re.compile(
    r"\b(?:which|who|whose|when|where|as|than|until|till|after|before|except|without|no|it|its|this|that|these|those|"
    r"them|they|he|him|his|she|her|hers|you|your|yours|what|how|why|everything|anything|nothing|something|one|ones|more|"
    r"most|much|many|all|there|here|same|so|such|thing|things|stuff|myself|not|also|going|getting|being)\b",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r" (?:any ?more|any longer|at all|very much|a lot|so much|too much|too|either|these days|nowadays|now|much|again|"
    r"really|please|though|as well|anyway|right now|currently|still|anyhow|lol|haha|instead|already|yet|today)$",
    re.IGNORECASE,
)
_NO_MORE: Final = re.compile(r"\b(?:no longer|any ?more|any longer)\b", re.IGNORECASE)
_AND: Final = re.compile(r" (?:and|or) ", re.IGNORECASE)
_NOT_WORD: Final = re.compile(r"[^\w£$€%+#@.]+")

_OFTEN: Final = (
    r"(?:(?:really|still|also|absolutely|always|just|do|now|currently|actually|totally|honestly|definitely|simply|truly|"
    r"generally|usually|only|even|personally) )*"
)
_I: Final = rf"^I {_OFTEN}"
_I_AM: Final = rf"^I(?:'m| am) (?:officially |finally |already )?{_OFTEN}"
_DENY: Final = rf"(?:do not|don't|dont|no longer|never) (?:ever |particularly |much )?{_OFTEN}"
_PLACE: Final = r"(?P<value>(?-i:[A-Z])[\w.'-]+(?: (?-i:[A-Z])[\w.'-]+){0,2})"
_NOW: Final = (
    r"(?: (?:now|currently|recently|these days|this \w+|yesterday|today|"
    r"last (?:week|month|year|spring|summer|autumn|fall|winter)))?$"
)
_REST: Final = r" (?P<obj>.{2,60})$"


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a clause says of its speaker."""

    topic: str  # what it is about, in words: claims of another topic do not touch it
    value: str = ""  # what it says of it, in few words; empty where it says yes or no
    is_denied: bool = False  # it says no

    def contradicts(self, other: Claim) -> bool:
        """Whether both cannot hold. A narrower value does not contradict a wider one: "Leeds" and "Leeds city"."""
        if self.topic != other.topic:
            return False
        if self.is_denied != other.is_denied:
            return True
        words, others = set(self.value.split()), set(other.value.split())
        return not (words <= others or others <= words)

    @property
    def is_value(self) -> bool:
        """Whether it gives a value, and does not say yes or no."""
        return bool(self.value)


@text_cache(_CACHED_TURNS)
def claims_of(text: str) -> tuple[Claim, ...]:
    """The claims of a turn, in order, none twice. Those of the turns that were read last are cached.

    A turn that claims a thing and its contrary claims neither: which of them is meant is unknown.
    """
    if not _MAY_CLAIM.search(text):
        return ()
    found: dict[Claim, None] = {}
    for sentence in split_sentences(text.replace("\u2019", "'")):
        if not _MAY_CLAIM.search(sentence):
            continue
        clauses = _CUT.split(_spaced(sentence).rstrip(".!"))
        stated = (_LEAD_IN.sub("", clause.strip().rstrip(".!")) for clause in clauses)
        claimed = [claim for clause in stated for claim in _claims(clause)]
        # Most sentences claim nothing, and to look for all these words in one takes as long as the rest.
        if claimed and not _NOT_STATED.search(sentence):
            found.update(dict.fromkeys(claimed))
    return tuple(claim for claim in found if not any(claim.contradicts(other) for other in found))


def _spaced(sentence: str) -> str:
    """The sentence with single spaces and line breaks, which is all that the patterns look for."""
    return "\n".join(spaced for line in sentence.split("\n") if (spaced := " ".join(line.split())))


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern of a whole clause. Its group `obj` is what it says yes or no of, `value` the value that it gives."""

    pattern: re.Pattern[str]
    label: str = ""  # what the topic begins with; empty: the pattern's group `what`
    is_denied: bool = False
    needs_no_more: bool = False  # a denial counts only with words that say that it was so
    passing: frozenset[str] = frozenset()  # words that end a topic that is none

    def claim(self, match: re.Match[str]) -> Claim | None:
        """The claim of a match; None where the clause alone is not enough."""
        groups = match.groupdict()
        label = self.label or " ".join((groups.get("what") or "").lower().split())
        if "obj" in groups:
            if self.needs_no_more and not _NO_MORE.search(match.string):
                return None
            what = _plain(_AND.split(groups["obj"], maxsplit=1)[0], words_max=_OBJECT_WORDS_MAX)
            return Claim(f"{label} {what}", is_denied=self.is_denied) if what else None
        value = "" if _AND.search(groups["value"]) else _plain(groups["value"], words_max=_VALUE_WORDS_MAX)
        topic = f"favourite {label}" if self.passing else label
        if not value or label.split()[-1] in self.passing or _POINTING.search(label):
            return None
        return Claim(topic, value)


def _claims(clause: str) -> Iterator[Claim]:
    """At most one: the first rule that matches counts."""
    if not _MAY_CLAIM.match(clause):
        return
    for rule in _rules():
        match = rule.pattern.match(clause)
        if match is not None:
            claim = rule.claim(match)
            if claim is not None:
                yield claim
            return


def _plain(text: str, *, words_max: int) -> str:
    """What is named, in few plain words; empty where it takes many, or points at what was said before."""
    while (shorter := _TRAILING.sub("", text)) != text:
        text = shorter
    words = _NOT_WORD.sub(" ", text.casefold()).strip(" .").split()
    while words and words[0] in _LEADING:
        words = words[1:]
    if words and words[-1] in _DANGLING:
        return ""
    named = " ".join(words)
    return named if 0 < len(words) <= words_max and not _POINTING.search(named) else ""


@functools.cache
def _rules() -> Sequence[_Rule]:
    words: dict[str, list[str]] = tomllib.loads(_WORDS.read_text("utf-8"))
    passing = frozenset(words.pop("passing_favourites"))
    one = {name: f"(?:{'|'.join(sorted(map(re.escape, some), key=len, reverse=True))})" for name, some in words.items()}
    likes, habits, pursuits = one["likes"], one["habits"], one["pursuits"]
    states = rf"(?:an? )?(?P<obj>{one['states']})(?: now| any ?more| any longer)?$"
    joined = r"^(?:I|I've|I have) (?:just |recently |finally )?"
    rules: list[_Rule] = []

    def rule(pattern: str, label: str = "", **facts: Any) -> None:
        rules.append(_Rule(re.compile(pattern, re.IGNORECASE), label, **facts))

    rule(rf"{_I}(?:{_DENY}(?:{likes}|care for)|{one['dislikes']}){_REST}", "likes", is_denied=True)
    rule(rf"{_I_AM}(?:not|no longer) (?:an? )?(?:big |huge )?fan of{_REST}", "likes", is_denied=True)
    rule(rf"^I(?:'ve| have) (?:gone off|stopped (?:liking|enjoying|loving)){_REST}", "likes", is_denied=True)
    rule(rf"{_I}{likes}{_REST}", "likes")
    rule(rf"{_I_AM}(?:an? )?(?:big |huge )?fan of{_REST}", "likes")
    rule(rf"{_I}{_DENY}(?P<what>{habits}){_REST}", is_denied=True)
    rule(rf"{_I}(?P<what>{habits}){_REST}")
    rule(rf"{_I}{_DENY}(?P<what>{pursuits}){_REST}", is_denied=True, needs_no_more=True)
    rule(rf"{_I}(?P<what>{pursuits}){_REST}")
    rule(rf"^(?:I {_OFTEN})?{one['switched_off']}{_REST}", "enables", is_denied=True)
    rule(rf"^(?:I {_OFTEN})?{one['switched_on']}{_REST}", "enables")
    rule(rf"{_I_AM}(?:not|no longer) {states}", "is", is_denied=True)
    rule(rf"{_I_AM}{states}", "is")
    rule(rf"{_I_AM}(?P<value>{one['relationships']})(?: now)?$", "relationship status")
    rule(rf"{_I_AM}(?P<value>\d{{1,2}}|10\d|110) years old$", "age")
    rule(rf"{_I}live in {_PLACE}{_NOW}", "lives in")
    rule(rf"{_I_AM}(?:living|based) in {_PLACE}{_NOW}", "lives in")
    rule(rf"{joined}moved to {_PLACE}{_NOW}", "lives in")
    rule(rf"{_I}work (?:at|for) {_PLACE}{_NOW}", "works at")
    rule(rf"{joined}(?:joined|started (?:working )?at) {_PLACE}{_NOW}", "works at")
    rule(
        r"^my (?:all[- ]time |absolute |current |new |personal )*favou?rite (?P<what>[a-z][\w'-]*(?: [\w'-]+){0,2}?)"
        r"(?: is|'s)(?: now| still| probably| definitely)? (?P<value>.{2,50})$",
        passing=passing,
    )
    rule(
        rf"^my (?:new |current )?(?P<what>{one['attributes']})(?: is|'s| has changed to)(?: now)? (?P<value>.{{1,50}})$"
    )
    return rules
