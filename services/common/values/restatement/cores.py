"""The parts of a sentence that say something by themselves, without what is said beside them. Pure functions.

People add remarks: "my phone is a Fairphone, in case you need it", "the chapel is taken, so from this week the choir
rehearses on Fridays, same hour". What a part says is compared with the parts of other sentences that begin with the
same subject, so that a remark does not hide that one takes the place of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.comparison.compare import relation
from services.common.values.comparison.slots import is_denied, is_replaced
from services.common.values.model import Modality, Relation
from services.common.values.reading.clauses import Clause
from services.common.values.reading.parts import QUOTED_VALUE, Part, parts_of
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import DETERMINERS, verb_place
from services.common.values.reading.subjects import split_verbs, with_name, with_subjects
from services.common.values.restatement.frames import (
    has_another_value,
    is_at_another_part_of_day,
    is_stated_anew,
    takes_another_end,
)
from services.common.values.restatement.orders import as_order, in_plain_form, is_one_off, is_ordered_otherwise
from services.common.values.restatement.restated import gives_another_number
from services.common.values.restatement.roles import is_another_holder, is_of_one
from services.common.values.words.fields import CHANGED
from services.common.values.words.lexicon import AUXILIARIES, PRONOUNS
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma
from services.common.values.words.unsure import UNSURE

_CHARS_MAX: Final = 300
_PARTS_MAX: Final = 6
_PLACES_MAX: Final = 4
_SUBORDINATE: Final = re.compile(
    r"^(?:if|when|whenever|while|who|which|that|whose|where|unless|until|till|in\scase|as\slong\sas|like|than|to|"
    r"whether|although|though|even|not|no|without|for|at|on|in|during|every|near|under|inside|outside|because)\b",
    re.IGNORECASE,
)
"""Opens a part that says nothing by itself, or to which the next one is limited."""
_HEADING: Final = re.compile(
    r"^(?:right,?\s|ok(?:ay)?,?\s)?for\s(?:when\b|(?:the|your|my|our)\s[\w'\s-]{0,30}?(?:list|records?|form|file|diary|calendar|notes?|sums?|plan)$)",
    re.IGNORECASE,
)
"""Stands before a colon and says what for: "for your records: my number is 4711". It limits nothing."""
_LIMITS_BEFORE: Final = re.compile(
    r"^(?:only\s)?(?:if|unless|provided|assuming|supposing|maybe|perhaps|probably|possibly|hopefully|i\s(?:think|guess|hope|believe|suppose)|or\sso|who\sknows|not\ssure)\b",
    re.IGNORECASE,
)
"""Opens a part that makes the one before it unsure, or a condition of it."""
_LEAD: Final = re.compile(
    r"^(?:and\s|so\s|but\s)?(?:the\s(?:good|bad|big|best|great|sad)\snews\sis|(?:it\s)?turns\sout|(?:i'm\s|i\sam\s|we're\s)?(?:happy|glad|pleased|proud|sorry)"
    r"\sto\s(?:say|report|announce)|(?:just\s)?(?:so\s(?:that\s)?you|to\slet\syou)\sknow|for\sthe\srecord|guess\swhat|the\s(?:upshot|result|short\sversion|long\sand\sshort)"
    r"\sis|(?:this|that|which)\smeans|long\sstory\sshort|as\sit\sturns\sout)[\s,:]{1,2}(?:that\s)?(?=\w)",
    re.IGNORECASE,
)
"""Opens a part without saying more: "the good news is that"."""
_SINCE_THEN: Final = re.compile(
    r"^(?:since|from|after|as\sof|as\sfrom|following|starting|with|thanks\sto|due\sto|because\sof|owing\sto|now\sthat|"
    r"by\s(?:popular|common|unanimous|majority|general|mutual|order|decree|a)\b|as\s(?:we|they|was|already|just|i)\s(?:\w+\s)?(?:agreed|decided|announced|voted|told|said|planned|discussed|wrote)\b)(?:\s.{2,60})?$",
    re.IGNORECASE,
)
"""Stands before a subject and says since when or why: "with the baby [I don't sing at ten any more]"."""
_PLACED: Final = re.compile(r"^(?:on|in|at|under|near|inside)\b", re.IGNORECASE)
"""Opens what limits, or says where the speaker is by now: "on secondment in Ohio now, so [give me Fahrenheit]"."""
_FOR_NEW: Final = re.compile(r"^(?:(?:a|my|our)\s)?new\s[\w-]{2,20}[,:!]\s", re.IGNORECASE)
_FROM_NOW: Final = re.compile(
    r"^(?:from\s(?:now|today)(?:\son(?:wards?)?)?|starting\s(?:now|today)),?\s(?=[a-z]+\s)", re.IGNORECASE
)
_WITH_NEW: Final = re.compile(r"^with\s(?:the|my|our|a)\snew\s", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"\b(?:says?|said|thinks?|thought|claims?|claimed|tells?|told|heard|reckons?|believes?|asked|asks|jokes?|joked|dreamt|dreamed|imagine)\b",
    re.IGNORECASE,
)
_SAID_BY: Final = re.compile(
    r"^(?:(?:my|our|the)\s)?[\w.-]{2,20}(?:\s[A-Z][\w-]{1,20})?\s(?:said|says|told\s(?:me|us))\s(?:that\s)?(?=(?:the|my|our)\s)",
    re.IGNORECASE,
)
"""Who told what is corrected later: "the landlady said [the deposit is 1,200 pounds]"."""
_OCCASIONS: Final = re.compile(
    r"\b(?:weekends?|weekdays?|holidays|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|summers?|winters?|spring|autumn|"
    r"mornings?|afternoons?|evenings?|nights?)\b",
    re.IGNORECASE,
)
_SCOPED: Final = re.compile(
    r"\b(?:for(?!\s(?:good|ever|me|us)\b)|when|whenever|while|during|if|unless)\b", re.IGNORECASE
)
"""For what, or when, an order is given: "give me Fahrenheit for the recipes" leaves the order for the rest."""
_QUOTED: Final = re.compile(r"[\"\u201c\u201d]")
_BESIDE: Final = CachedPattern(
    r"\b(?:too(?!\s\w)|also|as\swell|besides|another|either|both|sometimes|once|twice)\b", re.IGNORECASE
)
_LIST_END: Final = re.compile(r"\s(?:and|or)\s|&", re.IGNORECASE)
_NO_LIST: Final = re.compile(
    r"^(?:rain\sor\sshine|more\sor\sless|now\sand\s(?:then|again)|give\sor\stake|day\s(?:and|or)\snight|win\sor\slose|(?:and\s)?so\son(?:\sand\sso\sforth)?|"
    r"year\sin,?\syear\sout|me\sand\s(?:the|my)\s\w+)$",
    re.IGNORECASE,
)
"""Remarks with "and" or "or" that are no end of a list."""
_WITH: Final = re.compile(r"^(?:with|without|because\sof|thanks\sto|since|after)\b", re.IGNORECASE)
_SINCE: Final = re.compile(
    r"(?<=\w)\s(?:ever\s)?since\s(?:the|my|our|that|his|her|their|a)\s[^,;]{2,60}$", re.IGNORECASE
)
"""Since when something is so: "doesn't speak to Arvo since the matter of the stove"."""
_FOR_WHAT_FIRST: Final = re.compile(
    r"^(?P<what>(?:for|on|in|with|at)\s(?:the\s|my\s|our\s)?[\w-]{2,20})\s(?P<who>i|we)\s(?P<rest>[a-z]+\s[\w\s'-]{2,60}?)(?P<end>\s(?:again|now))?$",
    re.IGNORECASE,
)
"""As in "for bread I take rye"."""
_PASSING: Final = CachedPattern(
    r"\b(?:trying|thinking|wondering|looking|planning|hoping|going|having|getting|struggling|considering|worried|will|shall)\b|'ll\b",
    re.IGNORECASE,
)
"""What the speaker does for an hour or a day, or will do."""
_NO_SUBJECTS: Final = frozenset(
    "btw fyi ps hey hi oh ok okay well yes yeah haha lol thanks please let look see wow so and but".split()  # noqa: SIM905
)
_NEGATORS: Final = frozenset({"not", "never", "no", "longer", "any", "more", "anymore", "now", "do", "can", "will"})
_ADVERB: Final = re.compile(
    r"^(?P<subject>(?:(?:the|my|our)\s)?[\w'-]+(?:\s[\w'-]+)??)\s(?:now|always|usually|normally|mostly|currently|generally)\s(?=[a-z])",
    re.IGNORECASE,
)
"""Stands between a subject and its verb: "the choir now sings on Fridays"."""
_DOES_NOT: Final = frozenset({"doesn't", "don't", "didn't", "doesnt", "dont"})
_CONTRACTED: Final = frozenset("i'm we're it's he's she's they're that's there's you're".split())  # noqa: SIM905
_LIGHT: Final = DETERMINERS | frozenset({"of", "on", "in", "at", "to", "for", "from", "by"})
_SPEAKER: Final = "i"
_ORDER: Final = "!"
_WITH_OBJECT: Final = re.compile(
    r"^(?:please\s|you\s(?:can|may|could)\s|yes,?\s)?[a-z]+\s(?:me|us|my|our|your|the|all|every|it|them|him|her|this|that|(?!is\b|was\b)[a-z]{3,20}s(?=\s(?:as|with|by|in|on|to|for|from)\b))\b",
    re.IGNORECASE,
)
"""The beginning of an order with an object: "give me", "make your"; not "keep going" or "sorry to hear"."""
_ENDS: Final = frozenset({Relation.UPDATE, Relation.CONTRADICT})


class Core(NamedTuple):
    """A part of a sentence with a subject and a verb of its own."""

    text: str
    opening: tuple[str, str]  # its subject, "i" and its verb, or "!" and the verb of an order
    is_new: bool  # says that it holds since lately; of what is not the speaker's deed also by giving a reason
    is_rest: bool  # whether something else stands in the sentence
    is_for_new: bool = False  # the sentence opens with something new: "new machine, order the fine grind"
    has_reason: bool = False  # it stands behind a reason or an event: "with the new baby I train in the evenings"


def is_said_otherwise(earlier: str, later: str, *, is_told: bool, is_other_day: bool) -> bool:
    """Returns whether a part of the later sentence takes the place of a part of the earlier one.

    Args:
        earlier: A sentence.
        later: A later one of the same speaker.
        is_told: Whether its turn announces a change.
        is_other_day: Whether it was said on a later day.
    """
    earlier, later = in_plain_form(_SAID_BY.sub("", earlier), later)
    last = cores(later)
    first = (*cores(earlier), *(core for b in last[:1] for core in _behind_an_opener(earlier, b)))
    if not first or _BESIDE.search(later):
        return False
    return any(
        _takes_the_place(a, b, is_told=is_told or _is_named_beside(a, b, later), is_other_day=is_other_day)
        for a in first
        for b in (*last, *_behind_an_opener(later, a))
        if _open_alike(a, b) and (a.is_rest or b.is_rest or a.opening[0] == _ORDER or is_of_one(a.text))
    )


def _is_named_beside(a: Core, b: Core, later: str) -> bool:
    """Whether another part of the later sentence says what has become of the place or thing that the earlier one names.

    As in "the yard is a bike shed now, staff park behind the church" after "staff park in the yard".
    """
    one, other = _clause(a.text), _clause(b.text)
    if one is None or other is None or b.opening[0] == _SPEAKER:
        return False
    old = nouns_of(" ".join(item for item in one.rest if isinstance(item, str))) - nouns_of(b.text)
    beside = [part.text for part in parts_of(later) if part.text != b.text and CHANGED.search(part.text)]
    return any(old & nouns_of(part) for part in beside)


def _open_alike(a: Core, b: Core) -> bool:
    """Whether two parts begin with one subject; "doesn't" stands for any verb."""
    if a.opening == b.opening:
        return True
    is_denied = any(_is_denying(core.text) for core in (a, b))
    return is_denied and a.opening[0] == b.opening[0] and "" in {a.opening[1], b.opening[1]}


def _is_denying(text: str) -> bool:
    """Whether "doesn't" or "does not" stands behind a subject of one or two words."""
    words = [word.casefold() for word in text.split()[1:4]]
    return bool(_DOES_NOT & {*words[:2]}) or any(
        one in {"does", "do", "did"} and other == "not" for one, other in pairwise(words)
    )


def _takes_the_place(a: Core, b: Core, *, is_told: bool, is_other_day: bool) -> bool:
    one, other = _clause(a.text), _clause(b.text)
    if one is None or other is None or one.past or one.historic or other.historic or other.temporary:
        return False
    if other.past and not other.perfect:
        return False
    if b.opening[0] == _SPEAKER and (one.perfect or any(_PASSING.search(core.text) for core in (a, b))):
        return False
    if b.opening[0] == _ORDER and _SCOPED.search(b.text) and not _SCOPED.search(a.text):
        return False
    b = b._replace(text=_with_article_of(a.text, b.text))
    is_told = is_told or b.is_for_new
    is_new = b.is_new or (is_told and b.opening[0] != _SPEAKER)
    told = f"{b.text} now" if is_new else b.text
    return (
        takes_another_end(a.text, b.text)
        or takes_another_end(a.text, told)
        or gives_another_number(a.text, b.text, is_told=is_new)
        or relation(a.text, told) in _ENDS
        or _is_denied(one, other)
        or (is_new and is_denied(one, other))
        or (is_new and is_replaced(one, _clause(told) or other, is_told=True))
        or (
            (is_new or (is_other_day and not is_one_off(b.text)))
            and a.opening[0] == b.opening[0] == _ORDER
            and is_ordered_otherwise(a.text, b.text)
        )
        or (
            is_other_day
            and (
                has_another_value(a.text, b.text)
                or is_stated_anew(a.text, b.text)
                or is_another_holder(a.text, b.text)
                or (b.has_reason and is_at_another_part_of_day(a.text, b.text))
            )
        )
    )


def _with_article_of(one: str, other: str) -> str:
    """The second text with the article of the first one: "our bus" and "the bus" are one to the same speaker."""
    first, second = one.split(maxsplit=1), other.split(maxsplit=1)
    are_articles = {first[0].casefold(), second[0].casefold()} <= {"the", "my", "our"}
    return f"{first[0]} {second[1]}" if are_articles and len(second) > 1 else other


def _is_denied(one: Clause, other: Clause) -> bool:
    """Whether the later one denies as a whole what the earlier one says with more words, or says what that denies.

    Who does not sing at the ten o'clock service does not sing there every Sunday.
    """
    if one.negated == other.negated or one.verb != other.verb or one.possessors != other.possessors:
        return False
    known = {lemma(word) for word in one.tokens}
    said = {lemma(word) for word in other.tokens} - _NEGATORS - _LIGHT
    return len(said) > 2 and said <= known and not (one.negated and known - _NEGATORS - _LIGHT - said)


@text_cache(4_096)
def _clause(text: str) -> Clause | None:
    """What a part says, where it is stated."""
    clauses = read_statement(text).clauses
    return clauses[0] if clauses and clauses[0].modality is Modality.STATED else None


@text_cache(4_096)
def cores(text: str) -> tuple[Core, ...]:
    """Returns the parts of a sentence that say something by themselves; none of a long one or of a quotation."""
    if len(text) > _CHARS_MAX or _QUOTED.search(QUOTED_VALUE.sub("", text)) or text.rstrip().endswith("?"):
        return ()
    parts = parts_of(text)
    if len(parts) > _PARTS_MAX:
        return ()
    whole = with_subjects(part.text for part in parts)
    parts = tuple(part._replace(text=one) for part, text in zip(parts, whole, strict=True) for one in split_verbs(text))
    parts += tuple(part._replace(text=one) for part in parts[1:] for one in with_name(parts[0].text, part.text))
    is_for_new = _FOR_NEW.match(text) is not None
    return tuple(core._replace(is_for_new=is_for_new) for core in _cores(parts))


def _cores(parts: Sequence[Part]) -> Iterator[Core]:
    for place, part in enumerate(parts):
        before = parts[place - 1].text if place else ""
        if before and _limits(before, part):
            continue
        if place + 1 < len(parts) and _LIMITS_BEFORE.match(parts[place + 1].text):
            continue
        if _is_list([part.text for part in parts[place:]]):
            continue
        core = _core(part.text, is_new=part.follows, is_rest=len(parts) > 1)
        if core is not None:
            yield core


def _limits(before: str, part: Part) -> bool:
    """Whether the part before is a condition ("if it rains, ...") or says who tells it ("Tom says, ...")."""
    if part.follows:
        is_reason = _PLACED.match(before) and CHANGED.search(before) and not _OCCASIONS.search(before)
        return _SUBORDINATE.match(before) is not None and _HEADING.match(before) is None and not is_reason
    return (_SUBORDINATE.match(before) is not None and _HEADING.match(before) is None) or _TOLD.search(
        before
    ) is not None


def _is_list(parts: Sequence[str]) -> bool:
    """Whether a part goes on as a list: "two cats, a dog and a hen"."""
    following: list[str] = []
    for part in parts[1:]:
        if _has_verb(part) or _NO_LIST.match(part):
            break
        if not following and _WITH.match(part):
            return False  # "in Taskly now, with colours and everything"
        following.append(part)
    return bool(following) and _LIST_END.search(f" {following[-1]} ") is not None


def _has_verb(part: str) -> bool:
    words = [word.casefold().strip(".,!") for word in part.split()]
    return verb_place(words) is not None or any(word in _CONTRACTED for word in words[:2])


def _core(part: str, *, is_new: bool, is_rest: bool) -> Core | None:
    ordered = _FROM_NOW.sub("", part)
    plain, is_dated = plainly(_SINCE.sub("", _LEAD.sub("", ordered)))
    plain = _ADVERB.sub(r"\g<subject> ", plain)
    is_dated = is_dated or ordered != part
    for_what = _FOR_WHAT_FIRST.match(plain)
    if for_what is not None:
        plain = f"{for_what['who']} {for_what['rest']} {for_what['what'].lower()}{for_what['end'] or ''}"
    if _SUBORDINATE.match(plain) or _TOLD.search(plain) or UNSURE.search(plain):
        return None
    opening = _opening(plain)
    if opening is None and _WITH_OBJECT.match(plain) and (order := as_order(plain)):
        plain, opening = order, (_ORDER, order.split(maxsplit=1)[0].casefold())
    if opening is None:
        return None
    if for_what is not None:
        opening = (f"{for_what['what'].casefold()} {opening[0]}", opening[1])
    is_new = (is_new and opening[0] != _SPEAKER) or is_dated or CHANGED.search(part) is not None
    return Core(plain, opening, is_new, is_rest or plain != part)


def _opening(plain: str) -> tuple[str, str] | None:
    """How a part begins: its subject of one or two words, or who speaks and the verb."""
    clause = _clause(plain)
    words = [word.casefold().strip(".,!") for word in plain.split()]
    if clause is None or not clause.verb or not clause.subject or len(words) < 3:
        return None
    if words[0] in {"the", "my", "our"}:
        return (words[1], _verb(words[2]))
    if clause.subject[0] in {"i", "we"}:
        return (_SPEAKER, clause.verb)
    if words[0] in PRONOUNS | DETERMINERS | _NO_SUBJECTS or clause.subject[0] in PRONOUNS:
        return None
    return (words[0], _verb(words[1]))


def _verb(word: str) -> str:
    """A word behind the first one of a subject, where it says more than "is" and "isn't"."""
    return "" if word in AUXILIARIES or word.removesuffix("n't") in AUXILIARIES else word


def _behind_an_opener(later: str, a: Core) -> Iterator[Core]:
    """The rest of a part of the later sentence from where it begins as the earlier one does.

    In "after knocking down a wall Villa Rosa has eleven rooms" no comma shows where the event ends.
    """
    head = a.text.split()[0]
    for part, _ in parts_of(later):
        places = re.finditer(rf"\s(?={re.escape(head)}\b)", part, re.IGNORECASE)
        for match, _ in zip(places, range(_PLACES_MAX), strict=False):
            if not _SINCE_THEN.match(part[: match.start()]):
                continue
            if part[:5].casefold() == "with " and CHANGED.search(part) is None and _WITH_NEW.match(part) is None:
                continue  # "with Ana I walk the dog at nine"
            core = _core(part[match.end() :], is_new=True, is_rest=True)
            if core is not None:
                yield core._replace(has_reason=True)
