# ruff: noqa: E501 - a pattern reads best on one line
"""Patterns by which a turn is cut into clauses, and a clause into its subject and the rest."""

from __future__ import annotations

import re
from typing import Final

from services.semantic.facts.extraction.lexicon import PETS, RELATIVES

_RELATION_MODIFIER: Final = (
    r"(?:(?:best|old|older|younger|little|big|elder|eldest|youngest|oldest|twin|half|baby|late|close|good|"
    r"childhood|new|former|ex|great|line|other|middle)[ -])?"
)
CHUNKS: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
QUOTED: Final = re.compile(r'"[^"\n]{0,400}"')
DROPPED_LINE: Final = re.compile(
    r"^\s*(?:>|\||#{1,6}\s|(?:[-*+•]|\d{1,3}[.)])\s|[{}\[\]<$]|(?:import|from|def|class|return|const|let|var|func|"
    r"public|private|SELECT|INSERT|UPDATE|Traceback|File|at)\b.*[;:{}()=]\s*$)"
)
LIST_LINE: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s")
MARKUP: Final = re.compile(r"\*\*|__|~~")
WORTH_READING: Final = re.compile(
    r"\b(?:I|we|my|our|me|us|please|remember|always|never|note|forget|from now on|in mind)\b|'s\b|\b(?:is|are|was)\b",
    re.IGNORECASE,
)
CONDITION: Final = re.compile(
    r"^(?:if|unless|suppose|supposing|imagine|assuming|in case|what if|let's say|say i|pretend|when|whenever|once|until|"
    r"as soon as|before|after|while|although|though|even if)\b",
    re.IGNORECASE,
)
HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|unless|whether|pretend|imagine|suppose|as though|wish)\b|\bact as\b|\byou are\b", re.IGNORECASE
)
_SUBJECT_AHEAD: Final = (
    r"(?=(?:(?:honestly|actually|also|now|then|luckily|frankly|sadly|apparently|recently),? )?(?:I|we|my|our|he|she|they|it|you|this|that|there|the|everyone|nobody|please|your|his|her|their)\b|"
    r"[A-Z][a-z]+'s\b|[A-Z][a-z]+ (?:is|was|has|works|lives|moved)\b)"
)
SPLIT: Final = re.compile(
    rf"\s*;\s+|\s+[-–—]+\s+|,?\s+(?:and|but|so|or|because|cause|cos|although|though|while|whereas|since|as|yet)\s+{_SUBJECT_AHEAD}"  # noqa: RUF001
    rf"|,\s+(?:and\s+|but\s+|so\s+|then\s+)?{_SUBJECT_AHEAD}"
    r"|,\s+(?:which|who|whose|so that|because|though|although|if|when|whenever|while|where|unless|and then|not that|"
    r"obviously|apparently|clearly|right|isn't|don't you|you know|but|so|yet)\b"
    r"|\s+(?:because|so that|unless|if|whenever|although|though|even though|otherwise)\s+"
    r"|:\s+(?=(?:I|we|my)\b)|\s*\.\.\.\s*|\s*…\s*"
)
LEAD_IN: Final = re.compile(
    r"^(?:(?:oh|ah|well|so|and|but|also|plus|then|anyway|anyways|actually|honestly|frankly|basically|yes|yeah|yep|yup|no|nope|"
    r"haha|lol|right|okay|ok|hi|hey|hello|hiya|thanks|thank you|sure|wow|great|cool|nice|perfect|guess what|fun fact|look|listen|"
    r"for context|for reference|fyi|ps|p\.s\.|btw|by the way|to be honest|tbh|as you know|as you can tell|you know|you see|in fact|"
    r"good news|bad news|big news|news|more news|other news|unfortunately|fortunately|luckily|sadly|happily|"
    r"apparently|of course|naturally|obviously|personally|overall|because|cause|otherwise|alas|seriously|nowadays|these days|at the moment|"
    r"right now|currently|recently|lately|finally|eventually|meanwhile|in the meantime|just so you know|some background|"
    r"background|update|quick update|my turn|what's more|besides|as it happens|to be fair|at least|good morning|good evening|"
    r"i think|i guess|i must say|i have to say|i can tell you that|i should mention that|i should mention|i should add that|"
    r"i should say that|i forgot to mention|let me tell you|did i mention that|did i mention|i told you|"
    r"the thing is|the truth is|turns out|it turns out|as I said|like i said|as mentioned|about me)\b"
    r"(?: (?:everyone|all|there|again|guys|team))?\s*(?:,? that)?[\s,!:.–-]*)",  # noqa: RUF001
    re.IGNORECASE,
)
REQUEST: Final = re.compile(
    r"^(?:can|could|would|will) you (?:please )?(?:remember|note|keep in mind|bear in mind|call me)\b", re.IGNORECASE
)
ASKING_PART: Final = re.compile(
    r",\s+(?:and |but |so )?(?:what|how|which|where|who|when|why|any|can|could|should|do|does|did|is|are|would|will|have|got|know)\b",
    re.IGNORECASE,
)
BARE_NAME: Final = re.compile(
    r"\b((?:live|lives|living|based|lived|born) in|(?:moved|moving|relocated|flying|travelling|been) to|(?:work|working|worked) (?:at|for)|"
    r"(?:am|i'm|come) from|named|called|name is|name's) (?!(?:a|an|the|my|our|this|that|home|here|there|from|with|it|is)\b)([a-z])"
)
BARE_I: Final = re.compile(r"\bi\b")
LEAD_INS_MAX: Final = 4
UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|not sure|i guess|supposedly|i suppose|(?-i:may))\b", re.IGNORECASE
)
LEADING_TIME: Final = re.compile(
    r"^(?P<time>(?:(?:the day before )?yesterday|today|tonight|tomorrow|last (?:night|week|weekend|month|year|\w+day|summer|winter|spring|"
    r"autumn|fall)|next (?:week|weekend|month|year|\w+day|summer|winter|spring|autumn|fall|january|february|march|april|may|june|july|"
    r"august|september|october|november|december)|this (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring|autumn|fall|\w+day)|"
    r"(?:on|in|since|at|by) [\w ]{2,40}?|\w+(?: \w+){0,2} ago|back in \d{4}|every [\w ]{3,20}?))"
    r",?\s+(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_RELATION: Final = rf"(?P<modifier>{_RELATION_MODIFIER})(?P<relation>children|wives|(?:{'|'.join(sorted((*RELATIVES, *PETS), key=len, reverse=True))})(?P<several>s)?)"
_NAME: Final = r"[A-Z][\w-]*\w(?: (?!(?:I|And|But|The|Is|Has|Was)\b)[A-Z][\w-]+)?"
SUBJECT: Final = re.compile(
    rf"(?P<speaker>(?:I|we)\b)(?P<short>'(?:m|ve|ll|d|re))?\s*"
    rf"|(?P<own>(?:my|our)\s+{_RELATION})(?![\w-])(?:,?\s+(?:is\s+called\s+)?(?P<name>(?-i:{_NAME}))(?!['\w]),?)?(?P<own_short>'(?:s|re|ll|ve)\b)?\s*"
    rf"|(?P<other>(?-i:{_NAME}))(?P<other_short>'s\b)?\s+",
    re.IGNORECASE,
)
SHORT_FORMS: Final = {"'m": "am ", "'ve": "have ", "'ll": "will ", "'re": "are ", "'d": "would "}
PERFECT_AHEAD: Final = re.compile(
    r"(?:just |already |finally |only |never |recently )?(?:\w{3,}ed|been|got|had|gone|bought|sold|left|quit|met|won|made|taken|given|found|lost|come|become|begun|moved)\b",
    re.IGNORECASE,
)
FILLER: Final = re.compile(
    r"^(?P<kept>(?:(?:am|is|are|was|were|have|has|will|do|does|would)\s+(?:not\s+)?)?)"
    r"(?P<filler>(?:(?:actually|really|just|also|still|currently|now|even|finally|already|recently|absolutely|totally|"
    r"truly|honestly|definitely|simply|basically|literally|so|very much|both|all|certainly|particularly|especially|"
    r"genuinely|completely|probably|apparently|originally|quite|always been|happily|kind of|sort of|proudly|presently|"
    r"bloody|very|obviously|sadly|unfortunately|officially)\s+){1,3})",
    re.IGNORECASE,
)
CLAUSE_CHARS_MAX: Final = 320
