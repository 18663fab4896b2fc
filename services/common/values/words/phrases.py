"""Phrases of a data file as patterns over words: "hand~ in my notice|badge". Pure functions.

One line is one phrase. Its words stand for themselves, and:

| written | matches |
|---|---|
| `sell~` | any form of a verb: sell, sells, sold, selling |
| `live!` | a form of the present: live, lives, living |
| `I` | "I" or "we", with "am" or "have" behind it or not; "I am" where no verb of the present follows |
| `my`, `the`, `a` | "my" or "our"; any determiner of the speaker's things; any article |
| `notice|badge` | one of both |
| `new?` | the word, or none |
| `..` | up to three words |
| `$` | the end of a clause |
| `{v}`, `{V}`, `{x}` | what is read: a value, a name or number, a thing |
| `* ` in front | the phrase brings its subject; others need the speaker as theirs |
| `@returned badge` | each phrase of `returned` in `templates.toml`, with "badge" for its N |

Between two words one adverb may stand ("now", "finally", "all"). Every repetition is bounded, so that a search takes
linear time in the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import IRREGULAR
from services.common.values.words.tokens import lemma

_TEMPLATES: Final = Path(__file__).with_name("templates.toml")
_NOUN: Final = re.compile(r"(?<!\S)N(?!\S)")
_ADVERB: Final = (
    "(?:now|finally|just|also|already|officially|really|all|both|still|even|currently|only|well|truly|happily|sadly|"
    "recently|together|completely|entirely|totally|fully|pretty|basically|usually|mostly|always|straight|actually|"
    "since|long|very|quite|proudly|kindly|myself|ourselves) "
)
_BETWEEN: Final = rf"(?:{_ADVERB})?"
_WORD: Final = r"(?![.,;:!?] )\S{1,40}"
_IRREGULAR_FORMS: Final = {
    "be": "be am is are was were been being 's 'm 're",
    "have": "have has had having 've",
    "get": "get gets got gotten getting",
    "go": "go goes went gone going",
    "do": "do does did done doing",
    "say": "say says said saying",
    "hang": "hang hangs hung hanged hanging",
    "throw": "throw throws threw thrown throwing",
    "tear": "tear tears tore torn tearing",
    "bite": "bite bites bit bitten biting",
    "fly": "fly flies flew flown flying",
    "fall": "fall falls fell fallen falling",
    "let": "let lets letting",
    "shut": "shut shuts shutting",
    "bid": "bid bids bidding bade",
    "kick": "kick kicks kicked kicking",
    "swear": "swear swears swore sworn swearing",
    "lay": "lay lays laid laying",
    "tie": "tie ties tied tying",
    "cut": "cut cuts cutting",
    "put": "put puts putting",
    "quit": "quit quits quitting quitted",
    "overtake": "overtake overtakes overtook overtaken overtaking",
    "outgrow": "outgrow outgrows outgrew outgrown outgrowing",
    "beat": "beat beats beaten beating",
    "split": "split splits splitting",
    "up": "up ups upped upping",
    "upset": "upset",
    "rewrite": "rewrite rewrites rewrote rewritten rewriting",
    "shake": "shake shakes shook shaken shaking",
    "catch": "catch catches caught catching",
    "leave": "leave leaves left leaving",
    "bring": "bring brings brought bringing",
    "fight": "fight fights fought fighting",
    "light": "light lights lit lighting",
    "burn": "burn burns burned burnt burning",
    "hurt": "hurt hurts",
    "slide": "slide slides slid sliding",
    "strike": "strike strikes struck stricken striking",
    "spring": "spring springs sprang sprung",
    "retake": "retake retakes retook retaken",
    "set": "set sets setting",
    "shed": "shed sheds shedding",
    "hit": "hit hits hitting",
    "wind": "wind winds wound winding",
    "shoot": "shoot shoots shot shooting",
    "tell": "tell tells told telling",
    "feel": "feel feels felt feeling",
    "hear": "hear hears heard hearing",
    "ring": "ring rings rang rung ringing",
    "sink": "sink sinks sank sunk sinking",
    "choose": "choose chooses chose chosen choosing",
    "freeze": "freeze freezes froze frozen freezing",
    "ride": "ride rides rode ridden riding",
    "blow": "blow blows blew blown blowing",
    "sweep": "sweep sweeps swept sweeping",
    "dig": "dig digs dug digging",
    "stick": "stick sticks stuck sticking",
    "grind": "grind grinds ground grinding",
    "forbid": "forbid forbids forbade forbidden forbidding",
    "withdraw": "withdraw withdraws withdrew withdrawn withdrawing",
    "overcome": "overcome overcomes overcame overcoming",
    "dream": "dream dreams dreamed dreamt dreaming",
    "spell": "spell spells spelled spelt spelling",
    "creep": "creep creeps crept creeping",
    "rebuild": "rebuild rebuilds rebuilt rebuilding",
    "redo": "redo redoes redid redone redoing",
    "undo": "undo undoes undid undone undoing",
    "hide": "hide hides hid hidden hiding",
    "bend": "bend bends bent bending",
    "swing": "swing swings swung swinging",
    "sunset": "sunset sunsets sunsetting sunsetted",
    "slip": "slip slips slipped slipping",
}
_CLASSES: Final = {
    "my": "(?:my|our)",
    "the": "(?:the|my|our|this|that|these|those)",
    "a": "(?:a|an|my|our|the|some|another|one)",
    "I": "(?:i|we)(?: (?:am|are|have|is|has|'m|'re|'ve|'s|do|had|was|were))?",
}
_BEING: Final = "(?:i|we) (?:am|are|is|'m|'re|been)"
"""The speaker before what they are."""
_NO_NAME: Final = (
    "(?!(?:my|our|the|i|we|he|she|it|they|you|this|that|these|those|a|an|his|her|their|there|so|and|but|no|not) )"
)
"""What opens a sentence with a capital, and is no name."""
_CAPTURES: Final = {
    "{v}": rf"(?P<v>(?:{_WORD} ){{0,4}}?{_WORD})",
    "{V}": rf"(?P<v>(?:the )?{_NO_NAME}(?-i:[A-Z0-9])\S{{0,40}}(?: {_WORD}){{0,3}}?)",
    "{x}": rf"(?P<x>(?:{_WORD} ){{0,4}}?{_WORD})",
}
_CAPTURED_AT_END: Final = {
    "{v}": rf"(?P<v>{_WORD}(?: {_WORD}){{0,5}})",
    "{V}": rf"(?P<v>(?:the )?{_NO_NAME}(?-i:[A-Z0-9])\S{{0,40}}(?: {_WORD}){{0,4}})",
    "{x}": rf"(?P<x>{_WORD}(?: {_WORD}){{0,5}})",
}
_WEAK: Final = frozenset(
    """
    i we my the a an in on at to of for with from by and or be have get go do it they out up off down over back new no
    not now as is so are all me us you that this there into has had am was 's make take give
    """.split()  # noqa: SIM905 - words
)
"""Too frequent to look a phrase up by."""
_VOWELS: Final = "aeiou"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase as a pattern."""

    text: str
    pattern: str
    has_subject: bool  # the phrase brings its own subject
    verbs: frozenset[str]  # those of its first verb in any form; one that needs the speaker begins with it
    anchors: frozenset[str]  # one of them stands in every text that matches; empty: not known


_compiled: Final[dict[str, re.Pattern[str]]] = {}
"""By pattern of a data file, of which there are some thousand: no text of a user is among them."""


def compiled(pattern: str) -> re.Pattern[str]:
    """Returns the pattern of a phrase of a data file, compiled at its first use."""
    found = _compiled.get(pattern)
    if found is None:
        found = _compiled[pattern] = re.compile(pattern, re.IGNORECASE)
    return found


def read_phrases(lines: str) -> Iterator[Phrase]:
    """Reads phrases, one a line; empty lines and those that begin with `#` are none, `@returned badge` is several."""
    for line in lines.splitlines():
        text = line.strip()
        if text.startswith("@"):
            name, _, nouns = text[1:].partition(" ")
            yield from (_phrase(_NOUN.sub(nouns, template)) for template in _templates()[name])
        elif text and not text.startswith("#"):
            yield _phrase(text)


@lru_cache(maxsize=1)
def _templates() -> dict[str, tuple[str, ...]]:
    """Phrases of `templates.toml` by the name of their list; N stands for nouns."""
    tables = tomllib.loads(_TEMPLATES.read_text("utf-8"))
    return {name: tuple(line for line in map(str.strip, lines.splitlines()) if line) for name, lines in tables.items()}


def _phrase(text: str) -> Phrase:
    has_subject = text.startswith("* ")
    elements = text.removeprefix("* ").split()
    parts: list[str] = []
    for number, element in enumerate(elements):
        is_optional = element.endswith("?")
        part = _part(element.removesuffix("?"), is_last=number == len(elements) - 1)
        if element == "I" and not elements[number + 1].endswith("!"):
            part = _BEING
        for name in ("v", "x"):
            if any(f"(?P<{name}>" in _CAPTURES.get(later, "") for later in elements[number + 1 :]):
                part = part.replace(f"(?P<{name}>", "(?:")  # the last one is what counts
        if element == "$":
            parts.append(r"(?= [.,;:!?])")
        elif element == "..":
            parts.append(rf"(?: {_WORD}){{0,3}}?")
        elif not number:
            parts.append(f"(?:{part} )?" if is_optional else part)
        else:
            gap = "" if elements[0].endswith("?") and number == 1 else " "
            parts.append(f"(?:{gap}{_BETWEEN}{part})?" if is_optional else f"{gap}{_BETWEEN}{part}")
    return Phrase(
        text,
        rf"(?<= ){''.join(parts)}(?= )",
        has_subject,
        _verbs(elements, has_subject=has_subject),
        _anchors(elements),
    )


def _verbs(elements: list[str], *, has_subject: bool) -> frozenset[str]:
    """The first verbs of a phrase in any form."""
    element = next((one for one in elements if "~" in one), "") if has_subject else elements[0]
    return frozenset(word.removesuffix("~") for word in element.split("|") if word.endswith("~"))


def _part(element: str, *, is_last: bool) -> str:
    if element in _CLASSES:
        return _CLASSES[element]
    if element in _CAPTURES:
        return (_CAPTURED_AT_END if is_last else _CAPTURES)[element]
    return f"(?:{'|'.join(re.escape(word) for word in _words(element))})"


def _words(element: str) -> list[str]:
    """The words that an element stands for; none for classes and captures."""
    if element in _CAPTURES or element in {"I", "my", "the", "a", "..", "$"}:
        return []
    return [form for word in element.split("|") for form in sorted(_forms_of(word))]


def _forms_of(word: str) -> set[str]:
    if word.endswith("~"):
        return forms(word[:-1])
    if word.endswith("!"):
        return {form for form in forms(word[:-1]) if _is_present(word[:-1], form)}
    return {word.replace("_", " ")}


def _is_present(verb: str, form: str) -> bool:
    if verb == "be":
        return form in {"am", "is", "are", "'s", "'m", "'re"}
    return form in {verb, f"{verb}s", f"{verb}es", f"{verb[:-1]}ies", "has", "'ve"} or form.endswith("ing")


def _anchors(elements: list[str]) -> frozenset[str]:
    """The words of the element that a text is least likely to have by chance."""
    best: list[str] = []
    for element in elements:
        words = [] if element.endswith("?") else _words(element)
        if not words or any(" " in word for word in words):
            continue
        weight = (not _WEAK & set(words), -len(words))
        if not best or weight > (not _WEAK & set(best), -len(best)):
            best = words
    return frozenset(best)


@text_cache(4_096)
def forms(verb: str) -> set[str]:
    """Returns the forms of a verb; of a regular one also those that only some spellings have."""
    if verb in _IRREGULAR_FORMS:
        return set(_IRREGULAR_FORMS[verb].split())
    found = {verb, f"{verb}s", f"{verb}ing", f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o", "z")) else verb}
    known = {form for form, base in IRREGULAR.items() if base == verb}
    if verb.endswith("e"):
        found |= {f"{verb}d", f"{verb[:-1]}ing"}
    elif verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        found |= {f"{verb[:-1]}ied", f"{verb[:-1]}ies"}
    else:
        found |= {f"{verb}ed"}
        is_short = len(verb) > 2 and verb[-1] not in f"{_VOWELS}wxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS
        if is_short or verb.endswith("l"):
            found |= {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}
    return found | known


_VALUE_ENDS: Final = frozenset(
    """
    in on at for since because and but or now these last this from with to as so when after before until till yesterday
    under behind beside near tonight
    today tomorrow every each again instead while which who where if by of than next any anymore too also is are was
    were has have i we my our it
    """.split()  # noqa: SIM905 - words
)
_NO_VALUE: Final = frozenset("the a an new old own first last some little big very really".split())  # noqa: SIM905 - words


@text_cache(8_192)
def value_words(text: str) -> frozenset[str]:
    """Returns the words of a captured value in base form, up to where something else begins."""
    found: list[str] = []
    for word in text.split():
        lower = word.lower()
        if lower in _VALUE_ENDS:
            if found:
                break
            continue
        if lower not in _NO_VALUE:
            found.append(lemma(lower))
    return frozenset(found)
