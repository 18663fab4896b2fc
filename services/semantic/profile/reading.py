"""Reads a speaker's wishes and interests from a turn, by rules. Pure functions; English."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from services.common.text import is_question, split_sentences

_TEXT_CHARS_MAX: Final = 2_000
"""Wishes stand in short texts; of longer ones the beginning is read."""
_TOPICS_MAX: Final = 8

ALLOWED_SOURCES: Final = "allowed_sources"
"""What a turn states of sources that were excluded before and may be used again."""
_CLAUSE: Final = re.compile(r"(?:;|(?:,\s*|\s)(?:and|but)\b)[,\s]*(?:also\s)?\s*", re.IGNORECASE)

# A wish is an order or a statement about oneself, and not what somebody else wants.
_ASKED: Final = (
    r"^(?:(?:and|so|also|but|ok|okay|well|hey|from now on|in (?:the )?future)[,\s]+)*(?:please[,\s]+)?"
    r"(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:prefer|like|want|love)"  # noqa: RUF001
    r"(?: it (?:if|when) you| you to| to (?:have|get|see))? |i need (?:you to )?)?(?:please )?(?:always )?"
)
_ANSWERS: Final = r"(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|it|things|them)"
_GIVE: Final = r"(?:(?:give|send|write|use|make|keep|format|provide)(?: me)?(?: your| the| all)? )?"
_SHORT: Final = r"(?:short(?:er)?|brief(?:er)?|concise|terse)"
_LONG: Final = r"(?:(?:more )?detail(?:ed|s)?|long(?:er)?|thorough|in[- ]depth|elaborate)"
_IN: Final = r"(?:in |with |as )?"
_REPLY: Final = r"(?:answer|reply|respond|write) (?:(?:to )?me )?(?:in|with)"
_END: Final = (
    r"(?=[\s,.!?]*(?:(?:please|from (?:now|here) on|in (?:the )?future|going forward|in general|always|thanks"
    r"|thank you)[\s,.!?]*)*$)"
)
_NOT: Final = r"(?:do not|don['’]?t|never)"  # noqa: RUF001
_REFERENCES: Final = r"(?:sources|citations|references|footnotes)\b"
_WISHES: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (name, value, re.compile(_ASKED + pattern, re.IGNORECASE))
    for name, value, pattern in (
        (
            "detail_level",
            "brief",
            rf"{_GIVE}(?:your )?(?:{_ANSWERS} )?{_SHORT}(?: {_ANSWERS}\b|{_END})",
        ),
        ("detail_level", "brief", rf"(?:be|answer|reply) (?:more )?(?:{_SHORT}|briefly|concisely)\b"),
        ("detail_level", "detailed", rf"{_GIVE}(?:your )?{_LONG} {_ANSWERS}\b"),
        ("detail_level", "detailed", r"(?:be more detailed|(?:answer|reply|explain \w+) in (?:more )?detail)\b"),
        ("detail_level", "detailed", rf"(?:write|make|keep) (?:your |the |all )?{_ANSWERS} {_LONG}{_END}"),
        ("detail_level", "detailed", rf"{_GIVE}more details? in (?:your|the|all) {_ANSWERS}\b"),
        (
            "response_format",
            "bullet_points",
            rf"{_GIVE}(?:{_ANSWERS} )?{_IN}bullet(?:ed)?(?: points?| lists?|s\b)",
        ),
        ("response_format", "bullet_points", rf"{_REPLY} bullet"),
        ("response_format", "paragraphs", rf"{_GIVE}(?:{_ANSWERS} )?{_IN}(?:full )?(?:paragraphs|prose)\b"),
        ("response_format", "paragraphs", rf"{_REPLY} (?:paragraphs|prose)\b"),
        (
            "response_format",
            "paragraphs",
            rf"(?:{_NOT} use|stop(?: using)?|no more|avoid(?: using)?)[\s,]+bullet(?:ed)?(?: points?| lists?|s\b)",
        ),
        ("citation_style", "footnotes", r"(?:cite|use|give|put|with)\b[^.;]{0,40}\bfootnotes?\b"),
        ("citation_style", "inline", r"(?:cite|use|give|put)\b[^.;]{0,40}\b(?:inline|in-line)\b"),
        (
            "citation_style",
            "none",
            rf"(?:{_NOT} (?:cite|give|add|show) (?:me )?(?:any )?{_REFERENCES}|no {_REFERENCES})",
        ),
    )
)
_LANGUAGES: Final = {
    "arabic": "ar", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "finnish": "fi",
    "french": "fr", "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "italian": "it",
    "japanese": "ja", "korean": "ko", "norwegian": "no", "polish": "pl", "portuguese": "pt", "romanian": "ro",
    "russian": "ru", "spanish": "es", "swedish": "sv", "turkish": "tr", "ukrainian": "uk",
}  # fmt: skip
_LANGUAGE: Final = re.compile(
    _ASKED + rf"(?:(?:(?:answer|reply|respond|write|talk|speak)(?: (?:to )?me)?|{_ANSWERS}) in|(?:speak|switch to))"
    rf" (?P<language>{'|'.join(_LANGUAGES)})\b",
    re.IGNORECASE,
)
# A source is quoted, an address, or said to be a source.
_SOURCE: Final = (
    r"(?:[\"“](?P<quoted>[^\"”]{1,100})[\"”]|(?P<address>[\w-]+(?:\.[\w-]+)+)"
    r"|(?:the )?(?P<named>[\w-]+(?: [\w-]+){0,3}?) as (?:a |my )?sources?)(?=[\s,.;!?]|$)"
)
_EXCLUDED: Final = re.compile(
    _ASKED
    + rf"(?:{_NOT}|stop|avoid) ?(?:use|using|cite|citing|quote|quoting|trust|rely on)?(?: anything from)? {_SOURCE}",
    re.IGNORECASE,
)
# Who is cited is a source, whether it is said or not.
_NOT_CITED: Final = re.compile(
    _ASKED + rf"(?:{_NOT}|stop|avoid) (?:cite|citing|quote|quoting)(?: anything from)? (?:the )?"
    r"(?P<cited>(?-i:[A-Z])[\w-]*(?: (?-i:[A-Z])[\w-]*){0,3})(?=[\s,.;!?]|$)",
    re.IGNORECASE,
)
_PREFERRED: Final = re.compile(
    _ASKED + rf"(?:(?:i )?prefer|(?:please )?(?:use|cite|rely on|trust)|(?<=prefer )|(?<=like )|(?<=want )) ?{_SOURCE}",
    re.IGNORECASE,
)
# "You may use Wikipedia again", "I take back that you should not cite it": only what was excluded before is lifted.
_CITE: Final = r"(?:use|using|cite|citing|quote|quoting|trust|trusting|rely on|relying on)(?: anything from)?"
_ANY_SOURCE: Final = (
    r"(?:the )?(?:[\"“](?P<quoted>[^\"”]{1,100})[\"”]|(?P<address>[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<named>(?-i:[A-Z])[\w-]*(?: (?-i:[A-Z])[\w-]*){0,3}))(?=[\s,.;!?]|$)"
)
_ALLOWED: Final = re.compile(
    rf"^(?:(?:and|so|also|but|ok|okay|well|actually|from now on)[,\s]+){{0,4}}"
    rf"(?:you (?:may|can|are allowed to|could) (?:now )?|you['’]re allowed to "  # noqa: RUF001
    rf"|it(?:['’]s| is) (?:now )?(?:fine|ok|okay|all right|alright) (?:again )?to "  # noqa: RUF001
    rf"|(?:please )?feel free to |(?:please )?start |(?:please )?go back to )(?:again )?{_CITE} {_ANY_SOURCE}",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    rf"^(?:(?:and|so|also|but|ok|okay|well|actually)[,\s]+){{0,4}}i take (?:it )?back\b[^.;]{{0,60}}?"
    rf"\b(?:{_CITE}|about|on) {_ANY_SOURCE}",
    re.IGNORECASE,
)
_SOURCES: Final = (
    (ALLOWED_SOURCES, _ALLOWED),
    (ALLOWED_SOURCES, _TAKEN_BACK),
    ("excluded_sources", _EXCLUDED),
    ("excluded_sources", _NOT_CITED),
    ("preferred_sources", _PREFERRED),
)
_QUESTION_WORD: Final = re.compile(r"\b(who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]{3,30}")  # noqa: RUF001
_COMMON_WORDS: Final = frozenset(
    (  # noqa: SIM905 - quoted words would be no easier to read
        "he how it let she who why "  # without their "'s"
        "i'll i've it'll they're they've they'll we're we've we'll you're you've you'll she's she'll he'll "
        "about above after again against also although always another answer anything around because been "
        "before being below best better between both call came can't come could couldn't days didn't does "
        "doesn't doing done don't down during each either else ever every everything explain find first from "
        "gave give given going gone good great hasn't have haven't having help here hers herself himself into "
        "isn't it's itself just keep kind know last later least less like little long look made make many "
        "maybe mean might mine more most much must myself need never next none nothing often once only other "
        "ours over own part people perhaps please quite rather really remember right said same seen shall "
        "should shouldn't show since some someone something soon still such sure take tell than thank thanks "
        "that that's their theirs them then there these they thing things think this those though through "
        "time times today together tomorrow tonight took turn under until upon used using very want wants "
        "wasn't well went were weren't what what's when where where's which while who's whom whose will with "
        "within without won't would wouldn't year years yesterday your yours yourself "
    ).split()
)


def preferences_stated(text: str) -> dict[str, Any]:
    """Preferences that a turn states, by their names; of several statements the last one holds. Empty without any.

    Sources that may be used again stand under `ALLOWED_SOURCES`.
    """
    found: dict[str, Any] = {}
    for sentence in split_sentences(text[:_TEXT_CHARS_MAX]):
        _add(found, _stated_in(sentence))
        for clause in _CLAUSE.split(sentence):
            stated = _stated_in(clause)
            if not stated:  # what follows may be somebody else's wish
                break
            _add(found, stated)
    return {name: value for name, value in found.items() if value}


def _stated_in(clause: str) -> dict[str, Any]:
    found: dict[str, Any] = {name: value for name, value, pattern in _WISHES if pattern.search(clause)}
    if language := _LANGUAGE.search(clause):
        found["language"] = _LANGUAGES[language["language"].lower()]
    for name, pattern in _SOURCES:
        if match := pattern.search(clause):
            found[name] = [next(part for part in match.groupdict().values() if part).strip()]
            break
    return found


def _add(found: dict[str, Any], stated: dict[str, Any]) -> None:
    """Adds what a later clause states: of one source the last word holds."""
    for name, value in stated.items():
        if not isinstance(value, list):
            found[name] = value
            continue
        said = {source.casefold() for source in value}
        for other in (ALLOWED_SOURCES, "excluded_sources", "preferred_sources"):
            if other in found:
                found[other] = [source for source in found[other] if source.casefold() not in said or other == name]
        known = {source.casefold() for source in found.get(name, ())}
        found[name] = [*found.get(name, ()), *(source for source in value if source.casefold() not in known)]


def query_type_of(text: str) -> str:
    """What a turn asks for: its first question word, "yes_no" where there is none, empty where it asks nothing."""
    if not is_question(text):
        return ""
    asking = next((s for s in split_sentences(text) if is_question(s)), text)
    word = _QUESTION_WORD.search(asking)
    return "yes_no" if word is None else {"whom": "who", "whose": "who"}.get(word[1].lower(), word[1].lower())


def topics_of(text: str) -> tuple[str, ...]:
    """The content words of a text, the most frequent first, ties in the order of the text."""
    words = (word.group().casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.finditer(text))  # noqa: RUF001
    counts = Counter(word for word in words if word not in _COMMON_WORDS)
    return tuple(word for word, _ in counts.most_common(_TOPICS_MAX))
