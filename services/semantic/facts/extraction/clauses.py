"""Cuts a turn into clauses that state something, and says who each is about.

What nobody states is left out: code, quotations, lists, questions, conditions, and what follows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.text import split_sentences
from services.semantic.facts.extraction.person import expand_contractions, straight_quotes

RELATIVES: Final = [
    "mother",
    "mum",
    "mom",
    "mama",
    "father",
    "dad",
    "papa",
    "parents",
    "sister",
    "brother",
    "sibling",
    "wife",
    "husband",
    "spouse",
    "partner",
    "fiancé",
    "fiancée",
    "fiance",
    "fiancee",
    "girlfriend",
    "boyfriend",
    "son",
    "daughter",
    "child",
    "kid",
    "baby",
    "niece",
    "nephew",
    "aunt",
    "uncle",
    "cousin",
    "grandmother",
    "grandma",
    "granny",
    "gran",
    "grandfather",
    "grandad",
    "granddad",
    "grandpa",
    "grandson",
    "granddaughter",
    "stepmother",
    "stepfather",
    "stepson",
    "stepdaughter",
    "stepsister",
    "stepbrother",
    "mother-in-law",
    "father-in-law",
    "sister-in-law",
    "brother-in-law",
    "godmother",
    "godfather",
    "friend",
    "flatmate",
    "roommate",
    "housemate",
    "neighbour",
    "neighbor",
    "boss",
    "manager",
    "colleague",
    "coworker",
    "co-worker",
    "teacher",
    "coach",
    "mentor",
    "therapist",
    "doctor",
    "dentist",
    "landlord",
    "landlady",
    "ex",
    "ex-wife",
    "ex-husband",
]
PETS: Final = [
    "dog",
    "cat",
    "puppy",
    "kitten",
    "hamster",
    "rabbit",
    "bunny",
    "parrot",
    "budgie",
    "horse",
    "pony",
    "tortoise",
    "turtle",
    "goldfish",
    "snake",
    "lizard",
    "gecko",
    "ferret",
    "chicken",
    "goat",
    "guinea-pig",
]

_RELATION_MODIFIER: Final = (
    r"(?:(?:best|old|older|younger|little|big|elder|eldest|youngest|oldest|twin|half|baby|late|close|good|"
    r"childhood|new|former|ex|great|line|other|middle)[ -])?"
)
_CHUNKS: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r'"[^"\n]{0,400}"')
_DROPPED_LINE: Final = re.compile(
    r"^\s*(?:>|\||#{1,6}\s|(?:[-*+•]|\d{1,3}[.)])\s|[{}\[\]<$]|(?:import|from|def|class|return|const|let|var|func|"
    r"public|private|SELECT|INSERT|UPDATE|Traceback|File|at)\b.*[;:{}()=]\s*$)"
)
_LIST_LINE: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s")
_MARKUP: Final = re.compile(r"\*\*|__|~~")
_WORTH_READING: Final = re.compile(
    r"\b(?:I|we|my|our|me|us|please|remember|always|never|note|forget|from now on|in mind)\b|'s\b|\b(?:is|are|was)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"^(?:if|unless|suppose|supposing|imagine|assuming|in case|what if|let's say|say i|pretend|when|whenever|once|until|"
    r"as soon as|before|after|while|although|though|even if)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|unless|whether|pretend|imagine|suppose|as though|wish)\b|\bact as\b|\byou are\b", re.IGNORECASE
)
_SUBJECT_AHEAD: Final = (
    r"(?=(?:(?:honestly|actually|also|now|then|luckily|frankly|sadly|apparently|recently),? )?(?:I|we|my|our|he|she|they|it|you|this|that|there|the|everyone|nobody|please|your|his|her|their)\b|"
    r"[A-Z][a-z]+'s\b|[A-Z][a-z]+ (?:is|was|has|works|lives|moved)\b)"
)
_SPLIT: Final = re.compile(
    rf"\s*;\s+|\s+[-–—]+\s+|,?\s+(?:and|but|so|or|because|cause|cos|although|though|while|whereas|since|as|yet)\s+{_SUBJECT_AHEAD}"  # noqa: RUF001
    rf"|,\s+(?:and\s+|but\s+|so\s+|then\s+)?{_SUBJECT_AHEAD}"
    r"|,\s+(?:which|who|whose|so that|because|though|although|if|when|whenever|while|where|unless|and then|not that|"
    r"obviously|apparently|clearly|right|isn't|don't you|you know|but|so|yet)\b"
    r"|\s+(?:because|so that|unless|if|whenever|although|though|even though|otherwise)\s+"
    r"|:\s+(?=(?:I|we|my)\b)|\s*\.\.\.\s*|\s*…\s*"
)
_CUTS_CONDITION: Final = re.compile(r"\b(?:if|unless|when|whenever)\s*$", re.IGNORECASE)
_LEAD_IN: Final = re.compile(
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
_REQUEST: Final = re.compile(
    r"^(?:can|could|would|will) you (?:please )?(?:remember|note|keep in mind|bear in mind|call me)\b", re.IGNORECASE
)
_ASKING_PART: Final = re.compile(
    r",\s+(?:and |but |so )?(?:what|how|which|where|who|when|why|any|can|could|should|do|does|did|is|are|would|will|have|got|know)\b",
    re.IGNORECASE,
)
_BARE_NAME: Final = re.compile(
    r"\b((?:live|lives|living|based|lived|born) in|(?:moved|moving|relocated|flying|travelling|been) to|(?:work|working|worked) (?:at|for)|"
    r"(?:am|i'm|come) from|named|called|name is|name's) (?!(?:a|an|the|my|our|this|that|home|here|there|from|with|it|is)\b)([a-z])"
)
_BARE_I: Final = re.compile(r"\bi\b")
_LEAD_INS_MAX: Final = 4
_UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|not sure|i guess|supposedly|i suppose|(?-i:may))\b", re.IGNORECASE
)
_LEADING_TIME: Final = re.compile(
    r"^(?P<time>(?:(?:the day before )?yesterday|today|tonight|tomorrow|last (?:night|week|weekend|month|year|\w+day|summer|winter|spring|"
    r"autumn|fall)|next (?:week|weekend|month|year|\w+day|summer|winter|spring|autumn|fall|january|february|march|april|may|june|july|"
    r"august|september|october|november|december)|this (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring|autumn|fall|\w+day)|"
    r"(?:on|in|since|at|by) [\w ]{2,40}?|\w+(?: \w+){0,2} ago|back in \d{4}|every [\w ]{3,20}?))"
    r",?\s+(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_RELATION: Final = rf"(?P<modifier>{_RELATION_MODIFIER})(?P<relation>children|wives|(?:{'|'.join(sorted((*RELATIVES, *PETS), key=len, reverse=True))})(?P<several>s)?)"
_NAME: Final = r"[A-Z][\w-]*\w(?: (?!(?:I|And|But|The|Is|Has|Was)\b)[A-Z][\w-]+)?"
_SUBJECT: Final = re.compile(
    rf"(?P<speaker>(?:I|we)\b)(?P<short>'(?:m|ve|ll|d|re))?\s*"
    rf"|(?P<own>(?:my|our)\s+{_RELATION})(?![\w-])(?:,?\s+(?:is\s+called\s+)?(?P<name>(?-i:{_NAME}))(?!['\w]),?)?(?P<own_short>'(?:s|re|ll|ve)\b)?\s*"
    rf"|(?P<other>(?-i:{_NAME}))(?P<other_short>'s\b)?\s+",
    re.IGNORECASE,
)
_SHORT_FORMS: Final = {"'m": "am ", "'ve": "have ", "'ll": "will ", "'re": "are ", "'d": "would "}
_PERFECT_AHEAD: Final = re.compile(
    r"(?:just |already |finally |only |never |recently )?(?:\w{3,}ed|been|got|had|gone|bought|sold|left|quit|met|won|made|taken|given|found|lost|come|become|begun|moved)\b",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(
    r"^(?P<kept>(?:(?:am|is|are|was|were|have|has|will|do|does|would)\s+(?:not\s+)?)?)"
    r"(?P<filler>(?:(?:actually|really|just|also|still|currently|now|even|finally|already|recently|absolutely|totally|"
    r"truly|honestly|definitely|simply|basically|literally|so|very much|both|all|certainly|particularly|especially|"
    r"genuinely|completely|probably|apparently|originally|quite|always been|happily|kind of|sort of|proudly|presently|"
    r"bloody|very|obviously|sadly|unfortunately|officially)\s+){1,3})",
    re.IGNORECASE,
)
_CLAUSE_CHARS_MAX: Final = 320
_NO_NAMES: Final = frozenset(
    [
        "I",
        "It",
        "This",
        "That",
        "There",
        "The",
        "A",
        "An",
        "He",
        "She",
        "They",
        "We",
        "You",
        "What",
        "When",
        "Where",
        "Why",
        "How",
        "Who",
        "Which",
        "If",
        "And",
        "But",
        "So",
        "Or",
        "Not",
        "No",
        "Yes",
        "My",
        "Our",
        "Your",
        "His",
        "Her",
        "Their",
        "Its",
        "Here",
        "Everyone",
        "Everybody",
        "Someone",
        "Somebody",
        "Nobody",
        "Nothing",
        "Something",
        "Everything",
        "One",
        "Two",
        "Some",
        "Any",
        "All",
        "Each",
        "Every",
        "Both",
        "Most",
        "Many",
        "Much",
        "Another",
        "Other",
        "Such",
        "Same",
        "Just",
        "Only",
        "Also",
        "Even",
        "Still",
        "Then",
        "Now",
        "Today",
        "Tomorrow",
        "Yesterday",
        "Tonight",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "God",
        "Life",
        "Work",
        "Time",
        "People",
        "Man",
        "Woman",
        "Mum",
        "Mom",
        "Dad",
        "Mother",
        "Father",
    ]
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A statement: who it is about and what is said of them."""

    subject: str  # "speaker", "relative", "other" or "" for one without, such as an order
    body: str  # what follows the subject, contractions and fillers removed; the whole clause where there is none
    relation: str = ""  # of a relative, such as "sister"
    name: str = ""  # of a relative or another, where given
    full: str = ""  # the clause as it was
    is_unsure: bool = False  # hedged
    is_speaker_plural: bool = False  # "we"
    is_plural: bool = False  # several relatives


def clauses_of(content: str, *, list_items: bool) -> Iterator[Clause]:
    """The clauses of a turn that state something, in order.

    Args:
        content: The text of a turn.
        list_items: Whether lines of lists are read.
    """
    for sentence in _stated_sentences(content, list_items=list_items):
        yield from _clauses_of_sentence(sentence)


def _stated_sentences(content: str, *, list_items: bool) -> Iterator[str]:
    text = straight_quotes(content)
    if "`" in text or "~~~" in text:
        text = _CHUNKS.sub("\n\n", text).replace("`", "")
    if "\n" in text:
        lines = []
        for line in text.split("\n"):
            if list_items and _LIST_LINE.match(line):
                lines.append(_LIST_LINE.sub("", line))
            elif _DROPPED_LINE.match(line):
                lines.append("")
            else:
                lines.append(line)
        text = "\n".join(lines)
    text = _MARKUP.sub("", text)
    if text.islower():
        # Written without capitals throughout: names are told by where they stand.
        text = _BARE_NAME.sub(lambda match: f"{match[1]} {match[2].upper()}", text)
        text = _BARE_I.sub("I", text)
    if '"' in text:
        text = _QUOTED.sub('""', text)
    for sentence in split_sentences(text):
        if len(sentence) >= 6 and _WORTH_READING.search(sentence):
            yield " ".join(sentence.split())


def _clauses_of_sentence(sentence: str) -> Iterator[Clause]:
    asks = sentence.rstrip("\"')]* ").endswith("?") and not _REQUEST.match(sentence)
    sentence = sentence.rstrip(".!?… \"')]*")
    pieces: list[tuple[str, bool]] = []  # the text, and whether it stands under a condition
    begin = 0
    conditional = False
    for match in _SPLIT.finditer(sentence):
        pieces.append((sentence[begin : match.start()], conditional))
        separator = match.group().strip(" ,").lower()
        conditional = separator in {"if", "unless", "when", "whenever", "where", "who", "whose", "which", "otherwise"}
        begin = match.end()
    pieces.append((sentence[begin:], conditional))
    if asks:
        # "I'm vegetarian, what can I cook?" states something before it asks.
        last, is_conditional = pieces.pop()
        before = _ASKING_PART.split(last, maxsplit=1)
        if len(before) > 1:
            pieces.append((before[0], is_conditional))
    under_condition = False
    for text, is_conditional in pieces:
        clause = _without_lead_ins(text.strip(" ,:-"))
        if under_condition or is_conditional or not 3 <= len(clause) <= _CLAUSE_CHARS_MAX:
            under_condition = False
            continue
        if _CONDITION.match(clause):
            # What follows "if ..." holds only then; what follows "when ..." or "after ..." holds.
            under_condition = bool(_HYPOTHETICAL.match(clause))
            continue
        yield _clause(clause)


def _without_lead_ins(clause: str) -> str:
    for _ in range(_LEAD_INS_MAX):
        match = _LEAD_IN.match(clause)
        if match is None or match.end() == len(clause):
            break
        clause = clause[match.end() :]
    match = _LEADING_TIME.match(clause)
    if match is not None:
        clause = f"{clause[match.end() :]} {match['time'][0].lower()}{match['time'][1:]}"
    return clause


def _clause(text: str) -> Clause:
    is_unsure = bool(_UNSURE.search(text))
    match = _SUBJECT.match(text)
    if match is None:
        return Clause("", expand_contractions(text), full=text, is_unsure=is_unsure)
    rest = text[match.end() :]
    if match["speaker"]:
        short = (match["short"] or "").lower()
        if short == "'d" and rest.lower().startswith("better"):
            short = ""
        body = _plain(_SHORT_FORMS.get(short, "") + rest)
        plural = match["speaker"].lower() == "we"
        return Clause("speaker", body, full=text, is_unsure=is_unsure, is_speaker_plural=plural)
    if match["own"]:
        short = (match["own_short"] or "").lower()
        body = _plain(_third_short(short, rest) + rest)
        relation = match["relation"].lower()
        name = match["name"] or ""
        return Clause(
            "relative",
            body,
            relation=relation,
            name="" if name in _NO_NAMES else name,
            full=text,
            is_unsure=is_unsure,
            is_plural=bool(match["several"]) or relation in {"parents", "children", "wives"},
        )
    name = match["other"]
    if name.split()[0] in _NO_NAMES:
        return Clause("", expand_contractions(text), full=text, is_unsure=is_unsure)
    body = _plain(_third_short((match["other_short"] or "").lower(), rest) + rest)
    return Clause("other", body, name=name, full=text, is_unsure=is_unsure)


def _third_short(short: str, rest: str) -> str:
    if short == "'s":
        return "has " if _PERFECT_AHEAD.match(rest) else "is "
    return _SHORT_FORMS.get(short, "")


def _plain(body: str) -> str:
    """The body without contractions and without adverbs that only colour it."""
    body = expand_contractions(body)
    match = _FILLER.match(body)
    return match["kept"] + body[match.end() :] if match else body
