"""Another of several values of which one holds at a time, told as an event of any kind (SPEC 3.5). Pure functions.

"My laptop is a ThinkPad" ends with "the company handed out MacBooks last week": two values of one class of
`contrasts.toml`. Both are said about the same person, on two days, and the later statement says that its value
is new or holds now. What is tried, borrowed, meant for somebody else, or holds on some occasion ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.model import Modality
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.reading.whose import RELATIVES, SAME_KIN, canonical, people_in, spoken
from services.common.values.replacement.contrast_values import Found, class_of, found_in
from services.common.values.replacement.in_use import is_in_use, stands_here
from services.common.values.restatement.frames import share_frame
from services.common.values.words.lexicon import AUXILIARIES, IRREGULAR, MONTHS, PRONOUNS, VERBS, WEEKDAYS
from services.common.values.words.nouns import TIMES, nouns_of
from services.common.values.words.tokens import PUNCTUATION, lemma

_CHARS_MAX: Final = 250
_WORDS_BETWEEN_MAX: Final = 6
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|these\sdays|since|from\s(?:now|today|this|the|next|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|as\sof|"
    r"at\slast|finally|instead|for\sgood|no\smore|first\s(?:day|night|week|morning|lesson)|back\sto|for\s(?:a|two|three|six|\d+)\s(?:weeks?|months?|years?))\b|"
    r"\bit\s(?:is|'s)\s?[.,;!]|\bnothing\sbeats\b",
    re.IGNORECASE,
)
"""Says that something holds from some time on."""
_WAYS: Final = {
    "get": re.compile(
        r"\b(?:got|bought|ordered|picked\sup|treated\s(?:myself|ourselves)\sto|invested\sin|installed|fitted|put\sin|had|delivered|unpacked|leased|"
        r"handed\s(?:me|us|out)|issued|gave\s(?:me|us)|given|received|upgraded\sto|swapped|signed(?:\s(?:the\s)?(?:papers|contract))?(?:\sfor)?|inherited|won|put|mounted|laid|built|connected)\b",
        re.IGNORECASE,
    ),
    "become": re.compile(
        r"\b(?:became|become|converted|turned|joined|received\sinto|baptised|baptized|confirmed|started|began|switched|enrolled|registered|moved\s(?:up|on|over|to)|"
        r"accepted|(?:made|put|moved|elected|promoted|appointed|named|voted|switched|sent|transferred)\s(?:me|us|him|her|(?-i:[A-Z])\w+)|found)\b",
        re.IGNORECASE,
    ),
    "use": re.compile(
        r"\b(?:installed|put|set\sup|moved|switched|migrated|exported|imported|ported|signed|registered|opened|joined|rebuilt|rewrote|rewritten|"
        r"deployed|redid|redone|got|bought|picked\sup|went|gone|goes|go|adopted|chose|upgraded|copied|transferred|brought|landed|arrives?|comes?|rolled\sout|treated\s(?:myself|ourselves)\sto)\b",
        re.IGNORECASE,
    ),
    "style": re.compile(
        r"\b(?:dyed|cut|coloured|colored|bleached|went|gone|turned|shaved|chopped|walked\sout|came\sout|left|got|gave\sme)\b",
        re.IGNORECASE,
    ),
    "rewrite": re.compile(
        r"\b(?:rewrote|rewritten|ported|rebuilt|moved|migrated|switched|converted|translated)\b",
        re.IGNORECASE,
    ),
    "move": re.compile(
        r"\b(?:moved|moving|keys|bought|unpacked|settled|signed|woke|wake|waking|slept|home)\b",
        re.IGNORECASE,
    ),
}
"""How values of a class come, in the past."""
_THERE: Final = re.compile(
    r"^\s?(?:\w+\s)?(?:(?:has|have)\s)?(?:arrived|came|stands?|sits?|hums?|hangs|moved\sin|is\shere|are\shere|runs?|does|takes?\scare|handles?|lives|was\s(?:laid|fitted|installed|delivered))\b",
    re.IGNORECASE,
)
"""Behind a value: it has come. "A washing machine stands in the kitchen"."""
_HABIT: Final = re.compile(
    r"^\s?(?:so\s|now\s)?(?:(?:i|we)\s(?P<own>[a-z]{2,12})|(?:everybody|everyone|(?:the|my|our)\s(?:whole\s)?(?:team|company|crew|office|department|family|kids))\s(?P<group>[a-z]{2,12}))\s"
)
"""Opens what is done as a rule: "I sing", "the team drags its tickets around"."""
_SWITCHED: Final = re.compile(
    r"\b(?:formatted|wiped|deleted|exported|imported|migrated|migration\s(?:is\s(?:through|done|over)|finished|went\sthrough)|uninstalled|cancelled|canceled|"
    r"ditched|dumped|switched\soff|shut\sdown|retired|traded|swapped|replaced|goodbye|farewell|moved)\b",
    re.IGNORECASE,
)
"""Somewhere in a sentence: what was used before is used no more, and what else is named takes its place."""
_SERVES: Final = re.compile(
    r"^\s?(?:now\s)?(?!.{0,60}\b(?:badly|worse|wrong|clients?|customers?)\b)(?!(?:eats|kills|breaks|annoys|crashes|loses|misses|blocks|needs|wants|asks|is|was|has|looks|sounds|beats)\s)"
    r"[a-z]{2,12}s\s(?:up\s|out\s|after\s)?(?:all\s(?:my|our|the)|my|our|every\w*)\b",
    re.IGNORECASE,
)
"""Behind a value that is used: it does what is the speaker's. "Woodpecker builds every branch"."""
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|deleted|dropped|ditched|dumped|cancelled|uninstalled|wiped|from|of|off|without|on|in)\b"
)
"""Before a value: it is the one of before, or where something else happened."""
_BETWEEN: Final = re.compile(r"\b(?:for|about|near|from|like|than|beside|next|off|out|against|between)\b")
"""Between a verb and a value: the value is not what has come."""
_AT_SOMETHING: Final = re.compile(
    r"^\s?(?:on|in|for|at)\s(?:the|my|our|a|an|his|her|their)\s(?P<what>(?:[\w'-]+\s){0,2}?[\w'-]+)(?:\s(?:of|in|on|at|to|for|with|last|this|yesterday|today|now)\b|\s?$)"
)
_BEFORE_VALUE: Final = re.compile(
    r"\b(?:about|near|of|beside|next|like|than|without|opposite|against|by\sa)(?:\s(?:a|an|the|my|our))?\s?$"
)
_INSTEAD: Final = re.compile(r"\binstead\b(?!\sof)|\bno\smore\b")
_HELD_BACK: Final = re.compile(
    r"\b(?:not|n't|never|nobody|without|want|wants|wanted|would|could|can|might|may|must|should|will|if|almost|nearly|plan|plans|hope|"
    r"hopes|looking|look|tr(?:y|ies|ied|ying)|test(?:s|ed|ing)?|rent(?:s|ed|ing)?|hir(?:e|ed|ing)|borrow(?:s|ed|ing)?|lend|lent|loan|"
    r"once|twice|used|dream\w*|wish|told|tells?|says?|said|thinks?|asks?|asked|like|likes|love|loves|hates?|saw|watched|fix|fixed|repaired|sold|miss)\b",
    re.IGNORECASE,
)
"""Before a value: it has not come, or not to stay."""
_BESIDE: Final = re.compile(
    r"\b(?:too|also|as\swell|besides|both|another|second(?!-)|additional\w*|extra|still|stays?|remains?|sometimes|occasionally|"
    r"for\sa\schange|for\snow|today\sonly|this\s(?:week|weekend|time|once)|until|till|temporar\w*|meanwhile|while|during|"
    r"it\swas|before\s(?:the|my|our)\s|years\sago|back\sthen|as\sa\s(?:kid|child)|in\s(?:19|20)\d\d|used\sto|spare|guest|visitors?|one\sof)\b|\?",
    re.IGNORECASE,
)
"""The new value stands beside the old one, or holds for a while, or held before."""
_FOR_OTHERS: Final = re.compile(
    rf"\b(?:for|of|with|to|from|by)\s(?:(?:my|our|his|her|their|the)\s)?(?:\w+\s)?(?:{'|'.join(sorted(RELATIVES))}|kids|client|clients|customer)\b",
    re.IGNORECASE,
)
_OCCASION: Final = re.compile(
    r"^(?:for|at|on|in|when|with|whenever)\s(?P<what>(?:[\w'-]+\s){1,4}?)(?:,|i|we|my|our|the|it|he|she)\s",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:at|in|on|for|to)\s(?:the\s|my\s|our\s)?(?P<what>work|office|home|weekends?|desktop|laptop|server|phone|tablet|car|garden|"
    r"holidays?|summer|winter|evenings?|mornings?|afternoons?|nights?|weddings?|parties|slides?|school|gym|club|trips?|travels?|"
    r"mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|cabin|workshop|cellar|studio|shop)\b",
    re.IGNORECASE,
)
"""Where or when a value holds: another one holds somewhere else."""
_AGENTS: Final = frozenset(
    """
    company employer firm boss coach trainer conductor doctor doctors vet dentist optician specialist physio
    consultant midwife surgeon hospital council landlord landlady garage bank school university church parish
    priest vicar club members member committee board editor publisher teacher salon hairdresser barber fitter
    fitters plumber electrician technician engineer workman workmen builders movers thing lot whole rest last
    first new old day week month year morning night weekend wedding way time end change birthday christmas
    easter occasion switch move upgrade flood storm summer autumn spring winter election elections
    """.split()  # noqa: SIM905 - words
)
"""Who brings a change, and words that name no other thing: "the coach put me up front"."""
_DETERMINED: Final = frozenset("my our the this that these those 's".split())  # noqa: SIM905 - words
_KEPT_DAY: Final = WEEKDAYS | {"day", "night", "week", "month", "year"}
_ANY_THING: Final = frozenset("thing lot whole weekend birthday christmas easter first last".split()) | _KEPT_DAY  # noqa: SIM905
_TIMED: Final = (
    WEEKDAYS | frozenset(MONTHS) | {f"{day}s" for day in WEEKDAYS} | {"i", "we", "easter", "christmas", "tv"}
)
_ME: Final = frozenset({"i", "we", "me", "us", "my", "our"})
_APPOSED: Final = frozenset("the a an new".split())  # noqa: SIM905 - words
_GROUPS: Final = frozenset("team company family household firm department office crew band".split())  # noqa: SIM905 - words
_THIRD: Final = frozenset("he she his her him they their them its you your".split())  # noqa: SIM905 - words
_THEY_TO_ME: Final = re.compile(r"\sthey\s(?:have\s)?(?=\w+\s(?:me|us)\s)")
_SPEAKER: Final = frozenset({"i", "we"})
_BREAKS: Final = frozenset(PUNCTUATION) | {"and", "but", "so", "because"}
_NO_NOUNS: Final = (
    AUXILIARIES
    | PRONOUNS
    | _BREAKS
    | frozenset(
        """
    nothing now all as a an than to out up off on over everything everybody finally just news today i we
    """.split()  # noqa: SIM905 - words
    )
)


class _Told(NamedTuple):
    """A value that a sentence tells of."""

    found: Found
    is_strong: bool  # tells itself that it has come, or holds now


def has_another_value(earlier: str, later: str) -> bool:
    """Returns whether a later statement tells that another value of a class has come.

    Args:
        earlier: A statement.
        later: One of the same speaker, of a later day.
    """
    news = _told(later)
    if not news:
        return False
    kinds = {told.found.kind for told in news}
    olds = {(found.kind, found.value) for found in _stated(earlier) if found.kind in kinds}
    if not olds or _is_elsewhere(earlier, later):
        return False
    said = {(found.kind, found.value) for found in found_in(spoken(earlier))}
    named = olds & {(found.kind, found.value) for found in found_in(spoken(later), is_later=True)}
    kinds_named = {kind for kind, _ in named}
    for new, is_strong in news:
        is_old_named = new.kind in kinds_named
        if not (is_strong or is_old_named or share_frame(earlier, later)):
            continue
        if (new.kind, new.value) in said or new.kind not in {kind for kind, _ in olds}:
            continue
        if _is_of_one(earlier, later, new) and (is_old_named or not _is_of_another_thing(earlier, later, new)):
            return True
    return False


def contrast_keys(text: str) -> frozenset[str]:
    """Returns words by which statements with values of one class find each other."""
    if len(text) > _CHARS_MAX:
        return frozenset()
    return frozenset(
        f"contrast:{found.kind}" for found in (*_stated(text), *(told.found for told in _told(text) if told.is_strong))
    )


@text_cache(8_192)
def _stated(text: str) -> tuple[Found, ...]:
    """The values that a statement says to hold."""
    if len(text) > _CHARS_MAX or not (found := found_in(spoken(text))):
        return ()
    holding = [
        clause
        for clause in read_statement(text).clauses
        if clause.modality is Modality.STATED
        and not (clause.historic or clause.negated or (clause.past and clause.words[:1] != ("got",)))
    ]
    words = {word for clause in holding for word in clause.words} | {
        word for clause in holding for item in (*clause.rest, *clause.subject) for word in str(item).split()
    }
    words |= {lemma(word) for word in words}
    spoken_words = spoken(text).lower().split()
    return tuple(
        one for one in found if any(w in words or lemma(w) in words for w in spoken_words[one.place : one.end])
    )


@text_cache(8_192)
def _told(text: str) -> tuple[_Told, ...]:
    """The values that a statement may tell to have come, or to hold now."""
    said = spoken(text)
    if len(text) > _CHARS_MAX or not (found := found_in(said, is_later=True)) or _BESIDE.search(text) or '"' in text:
        return ()
    words = said.split()
    is_now = _NOW.search(said) is not None
    come = ((one, _has_come(one, words, is_now=is_now)) for one in found)
    return tuple(_Told(one, is_strong) for one, is_strong in come if is_strong is not None)


def _begin(words: Sequence[str], place: int) -> int:
    """Where the part of a sentence begins that has a place in it."""
    return next((n + 1 for n in range(place - 1, -1, -1) if words[n] in _BREAKS), 0)


def _has_come(found: Found, words: list[str], *, is_now: bool) -> bool | None:
    """Whether a value has come, or holds now; None where it has not, or is somebody else's."""
    begin = _begin(words, found.place)
    if begin and set(map(str.lower, words[begin : found.place])) <= _APPOSED:
        begin = _begin(words, begin - 1)  # "a new congregation, the Quakers"
    end = next((n for n in range(found.end, len(words)) if words[n] in _BREAKS), len(words))
    before, after = " ".join(words[begin : found.place]).lower(), " ".join(words[found.end : end]).lower()
    if _HELD_BACK.search(before) or _FOR_OTHERS.search(f"{before} \0 {after}") or _HELD_BACK.search(after[:12]):
        return None
    if _BEFORE_VALUE.search(before):
        return None
    way, is_joined = class_of(found).way, class_of(found).is_joined
    if is_joined:
        return _INSTEAD.search(f" {before} \0 {after} ") is not None and _is_spoken_of_now(before)
    is_there = _THERE.search(after) is not None or (not before and _SERVES.search(after) is not None)
    is_there = is_there or (way == "use" and _SWITCHED.search(" ".join(words)) is not None and not _PAST.search(before))
    is_there = is_there or _is_habit(before) or stands_here(before, after)
    is_there = is_there or (way == "use" and is_in_use(before, after))
    if (
        (way in {"get", "use"} and is_there)
        or (way == "become" and _is_habit(before))
        or (is_now and way != "rewrite" and _is_spoken_of_now(before))
    ):
        return True
    come = _WAYS[way].search(" ".join(words[begin : found.place])) if way is not None else None
    if come is None:
        return False
    between = before[come.end() :]
    return len(between.split()) <= _WORDS_BETWEEN_MAX and _BETWEEN.search(between) is None


def _is_habit(before: str) -> bool:
    """Whether what stands before a value says what the speaker, or a group of theirs, does as a rule."""
    match = _HABIT.match(before)
    if match is None or _PAST.search(before[: match.end()]) is not None:
        return False
    verb = match["own"] or match["group"]
    is_present = verb in VERBS if match["own"] else verb.endswith("s") or verb in VERBS
    return is_present and verb not in IRREGULAR and verb not in AUXILIARIES


def _is_spoken_of_now(before: str) -> bool:
    """Whether what stands before a value is of the speaker, or a sentence without a subject."""
    words = before.split()
    return not words or words[0] not in {"a", "an"} or bool(_ME & set(words))


def _holders(text: str) -> frozenset[str]:
    """Returns the relatives and named people in a statement; none where it is about the speaker."""
    people = set(people_in(text))
    clauses = read_statement(text).clauses
    subject = {word for clause in clauses[:1] for item in clause.subject for word in str(item).split()}
    people |= {word for word in subject if word in RELATIVES}
    people |= {word for clause in clauses[:1] for word in subject & clause.names}
    return frozenset(people)


def _is_of_one(earlier: str, later: str, new: Found) -> bool:
    """Returns whether both statements are about the speaker, or the later one names a person of the earlier one."""
    said = spoken(later).lower().split()
    words = {canonical(word) for word in said} | {*map(lemma, said)}
    clauses = read_statement(earlier).clauses
    subject = {word for clause in clauses[:1] for item in clause.subject for word in str(item).split()}
    possessors = {word for clause in clauses[:1] for item in clause.possessors for word in str(item).split()}
    people = {canonical(word) for word in (_holders(earlier) | possessors) - _ME}
    if people:
        return bool(people & words)
    end = next((n for n in range(new.end, len(said)) if said[n] in _BREAKS), len(said))
    part = _THEY_TO_ME.sub(" ", f" {' '.join(said[_begin(said, new.place) : end])} ").split()
    value = said[new.place : new.end] if _SERVES.search(" ".join(said[new.end :])) is not None else []
    third = _THIRD - {"its", "their"} if _GROUPS & set(part[:3]) else _THIRD
    if third & set(part) or _is_of_another(later, part, value) or _names_another(earlier, later):
        return False
    is_own = spoken(earlier).lower().split()[:1] in (["my"], ["our"]) and clauses and clauses[0].verb == "be"
    if subject - _GROUPS <= _SPEAKER or is_own:
        return True
    if not {lemma(found["what"].lower()) for found in _PLACE.finditer(spoken(earlier))} <= words:
        return False  # "the printer at work"
    things = {lemma(word) for word in subject - _SPEAKER}
    about = class_of(new).about
    is_mine = spoken(earlier).lower().split()[:1] in (["my"], ["our"])
    return bool(things & words) or bool(things <= about and (is_mine or about & words))


def _names_another(earlier: str, later: str) -> bool:
    """Whether each names somebody or something else besides its values: "we feed Mango", "put Kiwi on pellets"."""
    first, second = (
        {word.lower() for word in spoken(text).split()[1:] if word[:1].isupper() and len(word) > 1}
        - {word for found in found_in(spoken(text)) for word in spoken(text).lower().split()[found.place : found.end]}
        - _TIMED
        for text in (earlier, later)
    )
    return bool(first and second) and not first & second


def _is_of_another_thing(earlier: str, later: str, new: Found) -> bool:
    """Whether another thing is named before the new value: "my recipes live in Obsidian", "the shop runs on Fly"."""
    words = spoken(later).lower().split()
    begin = _begin(words, new.place)
    own = {*map(lemma, spoken(earlier).lower().split())}
    own |= {kin for names in SAME_KIN if own & set(names) for kin in names}
    known = own | {*map(lemma, _AGENTS | class_of(new).about)}
    if _is_habit(" ".join(words[begin : new.place])) and _GROUPS & set(words[begin : begin + 3]):
        return False  # "the team drags its tickets around in Linear"
    for place in range(begin, new.place):
        if words[place] not in _DETERMINED:
            continue
        named: list[str] = []
        for word in words[place + 1 : new.place]:
            if _is_light(word) or word in PREPOSITIONS or word in _DETERMINED:
                break
            named.append(word)
        following = words[place + 1 + len(named)]
        if named and not {lemma(word) for word in named} <= (own if following == "'s" else known):
            return True
    behind = " ".join(words[new.end :])
    match = _AT_SOMETHING.match(re.split(r" [.,;:!?] ", f" {behind} ")[0].strip())
    if match is not None and not class_of(new).is_anywhere:
        what = lemma(match["what"].split()[-1])
        if what not in own | _ANY_THING | TIMES:
            return True
    opening = words[begin : begin + 2]
    is_subject = len(opening) > 1 and begin + 1 < new.place and (lemma(opening[1]) in VERBS or opening[1] in IRREGULAR)
    return is_subject and not _is_light(opening[0]) and lemma(opening[0]) not in known


def _is_light(word: str) -> bool:
    return word in _NO_NOUNS or lemma(word) in VERBS or word in IRREGULAR or word.endswith(("ly", "ed"))


def _is_of_another(later: str, part: Sequence[str], value: Sequence[str]) -> bool:
    """Whether a part of the later statement opens with somebody else: "my brother", "Ravi"."""
    return any(word not in value and (word in RELATIVES or word in people_in(later)) for word in part[:3])


def _is_elsewhere(earlier: str, later: str) -> bool:
    """Whether the later value holds on an occasion or at a place that the earlier statement does not name."""
    known = nouns_of(earlier) | set(spoken(earlier).lower().split())
    said = spoken(later).strip()
    match = _OCCASION.match(said)
    if match is not None:
        what = nouns_of(match["what"]) - _KEPT_DAY
        if what and not what & known:
            return True
    places = {lemma(found["what"].lower()) for found in _PLACE.finditer(said)}
    own = {lemma(word) for word in known}
    return (
        bool(places) and not places & own and bool({lemma(m["what"].lower()) for m in _PLACE.finditer(spoken(earlier))})
    )
