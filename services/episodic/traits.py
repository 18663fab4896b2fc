"""Rules that classify a turn when it is stored. They know English, digits and punctuation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.common.text import is_question, split_sentences
from services.common.turn_traits import Trait
from services.common.turns import Attachment, MessageRole

_TEXT_CHARS: Final = 4_000
"""How much of a text is read: enough to classify it."""

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_FIRST_PERSON: Final = re.compile(
    r"(?<![\w.\-/])i(?![\w\-/]|\.\w)"  # as chats write it; but not the i of "i.e.", and no hyphenated one
    r"|\b(?:I|I['\u2019](?:m|ve|d|ll)|i['\u2019](?:m|ve|d|ll)|[Ii]m|[Ii]ve|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself"
    r"|[Ww]e|[Ww]e['\u2019](?:re|ve|d|ll)|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b"
)
_REACTION_OPENERS: Final = frozenset(
    (  # noqa: SIM905 - sixty quoted words would be no easier to read
        "wow thanks thank thx haha hahaha lol yes yeah yep yup no nope ok okay sure great awesome amazing "
        "cool nice congrats congratulations absolutely definitely exactly totally agreed true right perfect "
        "sweet oh aw aww yay hi hey hello bye goodbye hmm huh indeed gotcha welcome cheers sorry good lovely "
        "wonderful fantastic omg lmao lmfao rofl hah hehe ya yea yeh yess yup k kk ikr thx tysm ty ugh dang damn woah "
        "whoa ooh woo woohoo aight bet nvm"
    ).split()
)
_REACTION_WORDS_MAX: Final = 12
_DRAWN_OUT: Final = re.compile(r"(\w)\1{2,}")  # "yesss"
_LIST_ITEMS_MIN: Final = 3
_MONTHS: Final = "january|february|march|april|june|july|august|september|october|november|december"
_DAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_PATTERNS: Final = {
    Trait.PAST: re.compile(
        r"\b(?:was|were|had|did|didn['\u2019]t|went|got|made|took|came|saw|found|bought|gave|started|met|told|said|felt"
        r"|left|won|lost|wrote|read|ran|ate|became|began|learned|visited|tried|used to"
        r"|(?:ha(?:ve|s)|['\u2019]ve) (?:been|\w+ed))\b"
        r"|\b(?:I|we|he|she|they) (?:just |recently |also |finally )?\w{2,}ed\b",
        re.IGNORECASE,
    ),
    Trait.TIME_EXPRESSION: re.compile(
        rf"\b(?:{_MONTHS}|{_DAYS}|yesterday|yday|today|tonight|tomorrow|tmrw|tmr|recently|(?:last|next|this|past|every|each|previous)"
        r" (?:few |couple of )?(?:week|weekend|month|year|night|summer|winter|spring|fall|autumn"
        r"|day|evening|morning|time)s?"
        r"|(?:days?|weeks?|months?|years?|hours?) ago|since (?:\d{4}|last)|(?:19|20)\d\d"
        r"|\d{1,2}(?::\d\d)? ?[ap]\.?m|deadline)\b"
        r"|\b\d{1,2}/\d{1,2}\b|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.? \d{1,2}\b",
        re.IGNORECASE,
    ),
    Trait.NUMBER: re.compile(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand"
        r"|million|once|twice|dozen|couple|several)\b",
        re.IGNORECASE,
    ),
    Trait.QUOTE: re.compile(r"[\"\u201c][^\"\u201d]{2,80}[\"\u201d]"),
    Trait.NAMES: re.compile(r"(?<=[a-z,;] )(?!I\b|I['\u2019])[A-Z][\w\u2019'-]+"),
    Trait.INSTRUCTION: re.compile(
        r"^[^\w\n]*+(?:please )?(?:always|never|from now on|remember to|make sure (?:to|you)|going forward|whenever"
        r"|in (?:the )?future)\b"
        r"|\b(?:always|never) (?:\w+ ){1,12}when(?:ever)? (?:i|we|you|asked|asking|discussing|talking)\b"
        r"|\b(?:i want you to|i['\u2019]d like you to|you (?:should|must) (?:always|never)"
        r"|please (?:always|never|don['\u2019]t))\b",
        re.IGNORECASE | re.MULTILINE,
    ),
    Trait.PREFERENCE: re.compile(
        r"\b(?:i|we)(?: \w+)? (?:prefer|like|love|enjoy|hate|dislike|want|need|value|would rather|tend to)\b"
        r"|\bi['\u2019]d (?:rather|prefer|like|love)\b|\bmy (?:preference|favou?rite)\b"
        r"|\b(?:prefer|rather than|instead of)\b",
        re.IGNORECASE,
    ),
}
_LIST_ITEM: Final = re.compile(r"^[^\S\n]*+(?:[-*\u2022]|\d{1,2}[.)])\s", re.MULTILINE)
_NAMED_LIST: Final = re.compile(
    # Two items before the last one are enough; to look for all of them would take quadratic time.
    r"(?<![\w'\u2019-])(?=['\u2019-]*\w)[\w'\u2019-]++(?: [\w'\u2019-]++)?, \b[\w'\u2019-]++(?: [\w'\u2019-]++)?, "
    r"(?:[\w'\u2019-]++ ){0,2}(?:and|or) \w+"
)
_CLOSERS: Final = " \t\r\n\"'\u201d\u2019)]}*_~`"
_ASKING: Final = ("?", "\uff1f")


def traits(role: MessageRole, *, query: str, response: str, attachments: Sequence[Attachment]) -> Trait:
    """Classify a turn by its first 4,000 characters.

    Args:
        role: Who speaks.
        query: What was asked or said by a person.
        response: What the assistant answered.
        attachments: What was attached.
    """
    content = "\n".join(part for part in (query, response) if part.strip())[:_TEXT_CHARS]
    found = Trait(0)
    for trait, pattern in _PATTERNS.items():
        if pattern.search(content):
            found |= trait
    asks = is_question((query or response)[:_TEXT_CHARS])
    if asks:
        found |= Trait.QUESTION
    found |= _shares_of_questions(content)
    if role is MessageRole.ASSISTANT:
        found |= Trait.ASSISTANT
    if not asks and _is_reaction(content):
        found |= Trait.REACTION
    if _FIRST_PERSON.search(content):
        found |= Trait.FIRST_PERSON
    if any(attachment.caption.strip() for attachment in attachments):
        found |= Trait.CAPTION
    if len(_LIST_ITEM.findall(content)) >= _LIST_ITEMS_MIN or _NAMED_LIST.search(content):
        found |= Trait.LIST
    return found


def _is_reaction(content: str) -> bool:
    words = _WORD.findall(content)
    if not words:
        return bool(content)  # marks, emoji
    opener = _DRAWN_OUT.sub(r"\1", words[0].lower())
    return len(words) <= _REACTION_WORDS_MAX and opener in _REACTION_OPENERS


def _shares_of_questions(content: str) -> Trait:
    sentences = split_sentences(content)
    asking = [sentence for sentence in sentences if sentence.rstrip(_CLOSERS).endswith(_ASKING)]
    if not asking:
        return Trait(0)
    found = Trait(0)
    if asking[-1] is sentences[-1]:
        found |= Trait.ENDS_ASKING
    if 2 * sum(map(len, asking)) >= sum(map(len, sentences)):
        found |= Trait.MOSTLY_ASKING
    return found
