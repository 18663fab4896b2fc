"""What stands before a statement and is no part of it: a greeting, thanks, the answer to a question. Pure functions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import verb_place

_CHARS_MAX: Final = 60
"""Longer openers are no openers."""
_WORDS_MIN: Final = 3
_SUBJECT: Final = r"(?=(?:i|im|ive|we|he|she|they|it|there|my|our|his|her|their)(?:'\w{1,2})?\b)"
_GREETING: Final = re.compile(
    r"^(?:(?:hey|hi|hiya|hello|hallo|dear|good\s(?:morning|afternoon|evening|day)|morning|evening|many\sthanks|thanks|thank\syou|cheers)"
    r"(?:\s(?!(?:for|to|from|that|because)\b)[\w.'-]{1,20}){0,3}\s?[,:!-]\s{1,3})(?=\w)",
    re.IGNORECASE,
)
"""As in "Hello, my cat goes to doctor Weiss", "Dear movers, we live on the third floor"."""
_ANSWER: Final = re.compile(
    r"^(?:(?:ye+s+|yeah+|yep|yup|no+|nope|nah|ok|okay|oki|well|oh|ah|hm+|ugh|haha|lol)[,.!]?\s{1,3}(?:(?:ok|okay|yes|no|well|so|then|done|sorted)[,.!]?\s{1,3})?)"
    + _SUBJECT,
    re.IGNORECASE,
)
"""As in "no i'm not a member": the "no" answers, and denies nothing of what follows."""
_SAID_FIRST: Final = re.compile(
    r"^(?:(?:ok|okay|well|so|and)\s)?(?:done|sorted|fixed|right|fine|anyway|btw|by\sthe\sway|true|(?:big|good|bad|great|sad|quick|happy)\s(?:day|news|update)|"
    r"(?:quick\s)?(?:update|heads[\s-]up)(?:\s(?:all|everyone|everybody|folks|team|guys))?|(?:all|everyone|everybody|folks|team|guys)|(?:on|with)\s(?:second|further|more)\s(?:thoughts?|reflection)|on\sreflection|come\sto\sthink\sof\sit|"
    r"(?:thinking|having\sthought)\sabout\sit|(?:(?:a|one)\s)?(?:small|slight|quick|minor|little|tiny)\s(?:change|correction))\s?[,:!-]\s{1,3}(?=\w)",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"^(?:fyi|btw|ps|nb|psa|for\sthe\srecord)\s?[,:!-]?\s{1,3}(?=(?:the|our|my|i|we|i'm|we're)\b)", re.IGNORECASE
)
_NO_SUBJECT: Final = re.compile(
    r"^(?:haven't|have\snot|hadn't)\s(?:yet\s)?[a-z]+(?:ed|en|ne|nt|de|ld|ght|et)\s", re.IGNORECASE
)
"""As in "haven't signed the contract"."""
_NO_BUYER: Final = re.compile(
    r"^(?:(?:just|finally|we|so)\s)?(?:bought|adopted|got)\s(?:a|an|my|our|some|two|myself)\s(?!(?:call|letter|mail|message|text|bit|lot|cold)\b)",
    re.IGNORECASE,
)
"""As in "bought a television"."""
_NOTED: Final = re.compile(
    r"^(?:(?:please|pls|kindly|just|also)\s){0,2}(?:note|be\saware|be\sadvised|remember|bear\sin\smind|keep\sin\smind|"
    r"take\snote|make\sa\snote|don't\sforget|you\sshould\sknow)\sthat\s(?=(?:i|i'm|i've|we|we're|we've|my|our|the|it|(?-i:[A-Z])[\w'-]+)\s)",
    re.IGNORECASE,
)
"""As in "please note that I prefer a window seat"."""
_MATRIX: Final = re.compile(
    r"^(?:(?:well|so|and|but|anyway),?\s)?the\s(?!(?:[\w-]+\s){0,2}(?:hope|idea|plan|dream|rumou?r|fear|risk|worry|claim|theory|assumption|"
    r"goal|aim|worst|danger|wish|joke|suggestion|proposal|guess|belief|story|lie|myth|odds|chance|thought|concern|condition|hypothesis|"
    r"legend|trick|rule|point)\s)(?:[\w-]+\s){0,2}[\w-]{4,20}\s(?:is|was)\sthat\s(?=(?:i|i'm|i've|we|we're|we've|my|our|the|(?-i:[A-Z])[\w'-]+)\s)",
    re.IGNORECASE,
)
"""As in "the upshot is that my boss is Ms Birch". What is hoped, planned or feared is not so."""
_FOR_RECORDS: Final = re.compile(
    r"^(?:[\w'-]+\s){0,4}?for\s(?:the|your|my|our)\s(?:[\w'-]+\s){0,3}?(?:list|records?|form|files?|diary|calendar|notes?|runbook|handbook|"
    r"playbook|wiki|readme|docs?|documentation|minutes|log|logbook|directory|contacts|address\sbook|profile|register):\s(?=\w)",
    re.IGNORECASE,
)
"""As in "for the runbook: we release on Wednesdays": where it is to be written down. It limits nothing."""
_SAD_NEWS: Final = re.compile(
    r"^(?:(?:some|the|very)\s)?(?:sad|bad|big|good|great|happy|awful|terrible|breaking|latest)\snews\s(?:is\s(?:that\s)?)?(?=(?:the|my|our|we|i|i'm|we're|we've|i've)\s)",
    re.IGNORECASE,
)
"""As in "sad news the choir has folded"."""
_REGRETS: Final = re.compile(
    r"^(?!(?:[\w'-]{1,20}\s){0,4}(?:would|will|might|may|could|not|never|if|won't|don't|doesn't)\s)(?:(?:well|so|ok),?\s)?(?:[\w'-]{1,20}\s){0,3}?(?:[\w-]{1,20}'[mrs]e?\s|[\w'-]{1,20}\s)(?:(?:very|so|deeply|truly)\s)?"
    r"(?:regrets?|(?:(?:am|is|are)\s)?(?:(?:very|so|deeply|truly)\s)?(?:sorry|sad|happy|pleased|delighted|glad|proud|gutted)|have|has)\sto\s"
    r"(?:(?:inform|tell|let|announce\sto|report\sto)\s(?:us|you|me|everyone|everybody|members|customers|passengers|you\sall)(?:\sknow)?(?:\sthat)?|"
    r"(?:inform|announce|report|say)\sthat|say)\s(?=(?:the|my|our|we|i|i'm|we're|(?-i:[A-Z])[\w'-]+)\s)",
    re.IGNORECASE,
)
"""As in "the organisers regret to inform us that the summit is cancelled"."""
_AFRAID: Final = re.compile(
    r"^(?:well,?\s|so\s|but\s)?(?:i'm|i\sam|we're)\s(?:afraid|sorry|sad|gutted)\s(?:to\ssay\s|that\s|to\ssay\sthat\s)?"
    r"(?=(?:the|my|our|we|i|i'm|we're|we've|i've)\s)|^(?:unfortunately|sadly|alas|regrettably),?\s(?=(?:the|my|our|we|i|i'm|we're|we've|i've|(?-i:[A-Z])[\w'-]+)\s)",
    re.IGNORECASE,
)
"""As in "I'm afraid the shop has shut": it is so, however sad."""
_ADDRESSED: Final = re.compile(
    r"^(?:so,?\s|well,?\s)?(?:(?:just\s)?in\scase|if)\s(?:anybody|anyone|somebody|someone|you|they)\s(?:ever\s)?(?:needs?|wants?|asks?|calls?|has\sto|have\sto|wonders?|looks?)"
    r"\b[^:]{0,100}:\s(?=\w)|^to\swhom\sit\smay\sconcern[^:]{0,60}[,:]\s(?=\w)",
    re.IGNORECASE,
)
"""For whom it is said: "if anybody needs to ring: my doctor is ...". It is no condition."""
_CONJUNCTION: Final = re.compile(r"^(?:oh,?\s)?(?:and|but)\s(?!(?:yet|so|also|then|now)\b)(?=[\w'])", re.IGNORECASE)
_NEWS: Final = re.compile(
    r"\b(?:update|heads|news|inform|announce|thoughts?|reflection|think|thinking|change|correction)\b", re.IGNORECASE
)
"""Openers that say that what follows is new."""


_OPENERS: Final = (
    _GREETING,
    _ANSWER,
    _SAID_FIRST,
    _BESIDE,
    _ANSWER,
    _CONJUNCTION,
    _FOR_RECORDS,
    _MATRIX,
    _NOTED,
    _SAD_NEWS,
    _REGRETS,
    _AFRAID,
)
_BEFORE_STATEMENTS: Final = (_CONJUNCTION, _FOR_RECORDS)
"""Set aside only before a statement: an order ("for the wiki: be brief") or a fragment ("and a cat") goes on."""


class Opened(NamedTuple):
    """A statement without its opener."""

    text: str
    is_new: bool  # the opener announces something new


@text_cache(4_096)
def without_opener(text: str) -> Opened:
    """Returns a statement without the greeting, the thanks or the answer before it.

    "Hello, my cat goes to doctor Weiss" is "my cat goes to doctor Weiss", and "no i'm not a member" is "i'm not a
    member".
    """
    rest, is_new = text, False
    if _NO_SUBJECT.match(text) or _NO_BUYER.match(text):
        rest = f"I {text[:1].lower()}{text[1:]}"
    addressed = _ADDRESSED.match(rest)
    if addressed is not None and _states(rest[addressed.end() :]):
        rest = rest[addressed.end() :]
    for pattern in _OPENERS:
        match = pattern.match(rest)
        if match is None or match.end() > _CHARS_MAX or len(rest[match.end() :].split()) < _WORDS_MIN:
            continue
        if pattern in _BEFORE_STATEMENTS and not _states(rest[match.end() :]):
            continue
        is_new = is_new or _NEWS.search(match[0]) is not None
        rest = rest[match.end() :]
    return Opened(rest, is_new)


def is_only_greeting(sentence: str) -> bool:
    """Returns whether a sentence greets or thanks and states nothing behind it: "Hi Ben, thanks!"."""
    rest = without_opener(sentence).text
    words = [word.casefold().strip(".,!") for word in rest.split()]
    return rest == sentence or len(words) < _WORDS_MIN or verb_place(words) is None


def _states(rest: str) -> bool:
    """Whether a text opens with a subject and a verb."""
    place = verb_place([word.casefold().strip(".,!") for word in rest.split()])
    return place is not None and place > 0
