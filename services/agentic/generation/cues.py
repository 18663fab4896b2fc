"""Cues of what a sentence is: patterns for English, one place for all of them."""

from __future__ import annotations

import bisect
import re
from enum import Enum
from typing import Final

from services.agentic.generation.words import word_set


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{text})" for text in alternatives), re.IGNORECASE)


_QUOTE = "['’]"  # noqa: RUF001 - people type both
_ADVERB = r"(?:(?:really|absolutely|just|do|always|still|so|also|actually|totally|never|quite|both) ){0,2}"

# A sentence of these words alone greets, thanks, agrees or exclaims. A set and not a pattern: a pattern of
# many alternatives in a loop takes exponential time on texts made for it.
_REACTING: Final = word_set(
    """
    oh ah aw aww ooh ha haha hahaha hehe lol wow whoa well hey hi hello hiya yes yeah yep yup no nope nah ok
    okay sure right true thanks thank you cheers great good nice cool awesome amazing brilliant perfect
    lovely exactly absolutely definitely totally indeed of course done deal fine fair point enough please
    sorry congrats congratulations welcome bye goodbye night morning evening afternoon see take care that's
    it's that it is sounds was so really very wonderful fantastic funny hilarious sad awful terrible
    gorgeous beautiful i know understand agree bet hope think got way problem worries you're are much too
    all for to hear the a an lot again and then man mate dear buddy everyone there always later soon
    tomorrow happy new year birthday christmas easter my god omg meet
    """
)
_REACTION_WORDS_MAX: Final = 8
_ADDRESSED: Final = re.compile(r"(?<=\w), [A-Z]\w{1,30}[.!]{0,3}$")
_REACTION_WORDS_BEFORE_NAME_MIN: Final = 3  # "Yes, Maya." may answer who comes
_REACTION_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")  # noqa: RUF001
#: The speaker asks for something to be kept.
ASKED_TO_REMEMBER: Final = _pattern(
    r"\b(?:please )?remember (?:that|this|to|my|i\b|we\b)",
    rf"\b(?:don{_QUOTE}t|do not|never) forget\b",
    r"\b(?:make a )?note (?:that|down|this)\b",
    r"\bkeep in mind\b",
    r"\bfrom now on\b",
    r"\bfor future reference\b",
)
PERSONAL: Final = _pattern(
    rf"\bi(?:{_QUOTE}m|{_QUOTE}ve| am| have| was| work| live| got| grew| moved| started)\b",
    r"\b(?:my|our) (?:mum|mom|mother|dad|father|parents?|sister|brother|wife|husband"
    r"|partner|son|daughter|kids?|"
    r"child(?:ren)?|niece|nephew|aunt|uncle|grand\w+|family|friend|boss|dog|cat|house"
    r"|flat|home|job|birthday|name)\b",
    r"\b(?:mum|mom|dad|grandad|granny|grandma)\b",
)
COMMITMENT: Final = _pattern(
    rf"\bi(?:{_QUOTE}ll| will| shall| promise| swear| plan| decided|{_QUOTE}ve decided"
    rf"| chose|{_QUOTE}ve (?:booked|applied|"
    r"signed|entered|handed in))\b",
    rf"\b(?:i{_QUOTE}m|we{_QUOTE}re|i am|we are) (?:going to|gonna|planning|starting"
    rf"|joining|moving|getting|doing)\b",
    rf"\bwe(?:{_QUOTE}ll| will| decided|{_QUOTE}ve decided)\b",
    r"\b(?:deadline|appointment|booked|scheduled|due (?:in|on|by)"
    r"|you have my (?:promise|word)|on my honou?r)\b",
)
LIKE: Final = _pattern(
    rf"\bi {_ADVERB}(?:love|like|enjoy|prefer|adore|fancy|appreciate)\b(?! (?:to know|it if))",
    rf"\bi(?:{_QUOTE}m| am) (?:a |such a )?(?:(?:big|huge|real) )?(?:\w+ )?(?:fan|lover|person|addict)\b",
    rf"\bi(?:{_QUOTE}m| am) (?:really )?(?:into|keen on|fond of|obsessed with|crazy about)\b",
    r"\bmy (?:all-time |absolute )?favou?rite\b",
    rf"\bi(?:{_QUOTE}d| would) (?:much )?rather\b",
    rf"\bi can{_QUOTE}t (?:live|do|start a day|get by) without\b",
    r"\bplease (?:always|keep|use|reply|answer|write|respond)\b",
)
DISLIKE: Final = _pattern(
    rf"\bi {_ADVERB}(?:hate|dislike|detest|loathe|despise|avoid)\b",
    rf"\bi {_ADVERB}(?:don{_QUOTE}t|do not|didn{_QUOTE}t|never) (?:really |much |particularly "
    rf"|even )?(?:like|enjoy|eat|drink|love|care for)\b",
    rf"\bi(?:{_QUOTE}m| am) not (?:a |much of a |really a )?(?:big )?(?:\w+ )?(?:fan"
    rf"|lover|person|keen|into)\b",
    rf"\b(?:can{_QUOTE}t|cannot|couldn{_QUOTE}t) (?:stand|bear|abide)\b",
    rf"\b(?:gone off|sick of|fed up with|tired of|i{_QUOTE}m avoiding)\b",
    rf"\bplease (?:don{_QUOTE}t|never|stop) (?:use|using|include|add|send|suggest"
    rf"|recommend|call|mention|give|put|write)\w*\b",
)
EMOTION: Final = _pattern(
    r"\b(?:delighted|thrilled|excited|happy|happier|proud|ecstatic|overjoyed|relieved"
    r"|grateful|sad|heartbroken|"
    r"devastated|angry|furious|scared|terrified|anxious|nervous|worried|stressed"
    r"|ashamed|lonely|miss(?:es)? (?:him|her|"
    r"them|you|it)|cried|crying|tears|best (?:day|thing|birthday|year)|worst|horrible"
    r"|awful|love(?:s|d)? (?:him|her|"
    r"them|you))\b",
)
HEALTH: Final = _pattern(
    r"\b(?:allerg\w+|intoleran\w+|diagnos\w+|surgery|operation|hospital|medication"
    r"|medicine|insulin|asthma|diabet\w+|"
    r"pregnan\w+|expecting|epilep\w+|injur\w+|sprained|broken (?:leg|arm|ankle|wrist)"
    r"|clinic|adrenaline|cancer)\b",
)
_PROCEDURE: Final = _pattern(
    r"\bhow to\b",
    r"\bstep (?:1|one|by step)\b",
    r"\b(?:the trick is to|the way (?:i|we|to) .{2,60} is)\b",
)
# What opens a sequence, what continues it, and how many characters of one line may stand between. Apart, and not one
# pattern: it would try all of these characters anew for each opening.
_SEQUENCES: Final = (
    (
        _pattern(r"\b(?:first(?:ly)?|to (?:start|begin)),? "),
        _pattern(r"\b(?:then|next|after that|finally|second(?:ly)?)\b"),
        200,
    ),
    (
        _pattern(r"\b(?:you (?:have|need) to|make sure to|be sure to) "),
        _pattern(r"\b(?:before|then|after|until)\b"),
        120,
    ),
)
_SEQUENCE_CHARS_MIN: Final = 3
STEP_LINE: Final = re.compile(r"^[^\S\n]*+(?:\d{1,2}[.)]|step \d)\s", re.IGNORECASE | re.MULTILINE)
CONCEPT: Final = _pattern(
    r"^(?:an? |the )?[\w &-]{2,50} (?:is|are) (?:an? |the )?(?:\w+ ){0,2}(?:kind|type"
    r"|form|sort|method|technique|theory|"
    r"concept|idea|principle|process|field|branch|framework|protocol|algorithm|term"
    r"|practice|approach|way)s? (?:of|for|"
    r"that|to|in|which)\b",
    r"\b(?:refers to|is defined as|is known as|stands for|in other words|the idea (?:is|behind))\b",
)
HAPPENED: Final = _pattern(
    r"\b(?:yesterday|last (?:night|week|month|year|weekend|mon|tue|wed|thu|fri|sat"
    r"|sun)\w*|this morning|ago|earlier today|"
    r"the other day|when i was|just got)\b",
    r"\b(?:i|we|he|she|they|it|who|that|mum|dad|everyone|(?-i:[A-Z][a-z]+)) (?:also "
    r"|just |finally |even |once |never )?(?=\w{3})(?:\w{3,}ed|went|"
    r"saw|met|made|did|ate|came|took|gave|found|lost|won|bought|brought|told|said|got"
    r"|had|fell|broke|left|ran|drove|flew|"
    r"heard|felt|rang|sang|read|spent|sent|slept|swam|wrote|cut|built|began|grew|sold|was|were)\b",
)
#: A question that says something about the one who asks, beside asking.
ASKS_AND_TELLS: Final = _pattern(
    rf"\bi(?:{_QUOTE}m|{_QUOTE}ve| am| have| was| work| live| bought| started| moved"
    rf"| need to| want to| plan)\b",
    r"\b(?:my|our) [\w'’-]+\b.{3,}",  # noqa: RUF001
    r"\bcan i (?:borrow|have|get|bring|use)\b",
)
TAG_QUESTION: Final = re.compile(
    r",\s*(?:isn|aren|wasn|weren|don|doesn|didn|hasn|haven|hadn|won|wouldn|can|couldn"
    r"|shouldn)['’]?t\s+\w+\s*\?\W*$|"  # noqa: RUF001
    r",\s*(?:right|ok|okay|yeah|correct)\s*\?\W*$",
    re.IGNORECASE,
)
_ASKING_END: Final = re.compile(r"[?？][\"'”’)\]*_]*\s*$")  # noqa: RUF001


def is_procedure(text: str) -> bool:
    """Whether a text says how something is done."""
    return bool(_PROCEDURE.search(text)) or any(
        _continues(text, opening, following, chars_max) for opening, following, chars_max in _SEQUENCES
    )


def _continues(text: str, opening: re.Pattern[str], following: re.Pattern[str], chars_max: int) -> bool:
    ends = [match.end() for match in opening.finditer(text)]
    for match in following.finditer(text):
        place = bisect.bisect_right(ends, match.start() - _SEQUENCE_CHARS_MIN) - 1
        near = place >= 0 and ends[place] >= match.start() - chars_max
        if near and "\n" not in text[ends[place] : match.start()]:
            return True
    return False


class Polarity(Enum):
    """Which way a preference points."""

    LIKES = "likes"
    DISLIKES = "dislikes"


def polarity(text: str) -> Polarity | None:
    """Whether the text likes or dislikes; None where it does neither, or both."""
    dislikes = bool(DISLIKE.search(text))
    likes = bool(LIKE.search(DISLIKE.sub(" ", text)))
    if likes == dislikes:
        return None
    return Polarity.LIKES if likes else Polarity.DISLIKES


def asks(sentence: str) -> bool:
    """Whether a sentence only asks: it ends with a question mark and states nothing on the way."""
    if not _ASKING_END.search(sentence):
        return False
    if TAG_QUESTION.search(sentence):
        return False
    return not (ASKS_AND_TELLS.search(sentence) and len(sentence.split()) >= 7)


def ends_with_question_mark(sentence: str) -> bool:
    """Whether a sentence asks, whatever else it does."""
    return bool(_ASKING_END.search(sentence))


def only_reacts(sentence: str) -> bool:
    """Whether a sentence only greets, thanks, agrees or exclaims, or does so by name: "Nice to meet you, Maya."."""
    rest = _ADDRESSED.sub("", sentence.strip())
    if len(rest.split()) < _REACTION_WORDS_BEFORE_NAME_MIN:
        rest = sentence
    words = [word.casefold().replace("’", "'") for word in _REACTION_WORD.findall(rest)]  # noqa: RUF001
    return len(words) <= _REACTION_WORDS_MAX and all(word in _REACTING for word in words)
