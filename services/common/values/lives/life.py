"""Changes in a life that are told by an event, without naming what was before: a divorce, a last shift, a degree.

Each field names what a speaker says of themselves ("I'm married") and the events that end it. Pure functions.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import AUXILIARIES, MONTHS, PRONOUNS, STOP, VERBS, WEEKDAYS
from services.common.values.words.tokens import lemma, tokenize

_I: Final = r"\b(?:i|we)(?:'m|'re|'ve|\s+am|\s+are|\s+have)?\s+(?:(?:still|also|currently|now|just|really)\s+)?"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)


_FIELDS: Final[tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]] = (
    (  # alone
        _any(
            r"single", r"unattached", r"live\s+alone", r"looking\s+for\s+(?:love|a\s+(?:partner|girlfriend|boyfriend))"
        ),
        _any(
            r"(?:and|&)\s+(?:i|me)\s+(?:are\s+|got\s+|have\s+been\s+)?(?:\w+ly\s+)?(?:an?\s+)?(?:couple|together|item|engaged|married|hitched)",
            r"we(?:'re|\s+are|\s+got)\s+(?:\w+ly\s+)?(?:an?\s+)?(?:couple|together|item|engaged|married|hitched)",
            r"said\s+(?:yes|i\s+do)",
            r"(?:have|'ve\s+got|got)\s+a\s+(?:boyfriend|girlfriend|fianc\w{1,2})",
            r"(?:my|our)\s+(?:wedding|honeymoon)",
            r"tied\s+the\s+knot",
            r"eloped",
        ),
    ),
    (  # a couple
        _any(
            rf"{_I}(?:married|engaged|dating|seeing|together\s+with|in\s+a\s+relationship)",
            r"my\s+(?:husband|wife|partner|boyfriend|girlfriend|fianc\w{1,2})(?:'s\s+name)?\s+is",
        ),
        _any(
            r"divorce\s+(?:came\s+through|is\s+final|went\s+through|papers)",
            r"signed\s+the\s+divorce",
            r"divorced",
            r"(?:i'm|am)\s+single",
            r"(?:split|broke|broken)\s+up",
            r"separated",
            r"(?:it's|is)\s+over\s+between",
            r"separate\s+ways",
            r"single\s+again",
            r"called\s+off\s+(?:the|our)\s+(?:wedding|engagement)",
            r"widow(?:ed|er)?",
            r"left\s+me",
        ),
    ),
    (  # tobacco
        _any(
            rf"{_I}smok(?:e|er|ing)",
            r"(?:i'm|am)\s+a\s+(?:\w+\s+)?smoker",
            r"pack(?:et)?s?\s+a\s+(?:day|week)",
            r"cigarettes\s+a\s+day",
        ),
        _any(
            r"last\s+(?:cigarette|fag|smoke|pack|cigar)",
            r"non-?smoker",
            r"(?:days?|weeks?|months?|years?)\s+(?:today\s+|now\s+)?without\s+(?:an?\s+|any\s+|one\s+)?(?:single\s+)?(?:cigarette|smoke|fag|cig)s?",
            r"smoke-?free",
            r"nicotine\s+(?:patches|gum|free)",
            r"(?:quit|stopped|gave\s+up|given\s+up|packed\s+in|kicked|off)\s+(?:the\s+)?(?:smoking|smokes|cigarettes|fags|ciggies|tobacco|cigs)",
            r"(?:haven't|have\s+not|not)\s+(?:touched|smoked|had|lit)\s+(?:an?|one|any|a\s+single)\s+(?:cigarette|fag|smoke|cig)",
        ),
    ),
    (  # alcohol
        _any(
            r"(?:bottles?|glass(?:es)?|pints?|cans?)\s+(?:of\s+\w+\s+)?(?:a|every|each|per)\s+(?:day|night|evening|week)",
            r"(?:wine|beer|gin|whisky)\s+(?:drinker|every\s+(?:evening|night|day))",
            rf"{_I}drink\s+(?:too\s+much|a\s+lot|alcohol|wine|beer)",
        ),
        _any(
            r"sober",
            r"teetotal(?:ler)?",
            r"on\s+the\s+wagon",
            r"alcohol-?free",
            r"(?:haven't|have\s+not)\s+(?:touched|had)\s+a\s+(?:drop|drink)",
            r"(?:quit|stopped|gave\s+up|given\s+up|off)\s+(?:the\s+)?(?:drinking|drink|alcohol|booze|bottle)",
        ),
    ),
    (  # a bank
        _any(rf"{_I}bank\s+with", r"(?:my|our)\s+(?:bank|accounts?)\s+(?:is|are)(?:\s+(?:with|at))?"),
        _any(
            r"accounts?\s+(?:have\s+|has\s+|was\s+|were\s+)?(?:all\s+)?(?:went|gone|moved|been\s+moved|transferred|switched)(?:\s+over)?\s+to",
            r"(?:moved|switched|transferred|took)\s+(?:all\s+)?(?:my|our|the)\s+(?:money|accounts?|savings)\s+(?:over\s+)?to",
            r"(?:switched|changed)\s+banks?",
            r"(?:left|dumped|ditched)\s+(?:my|our|the)\s+(?:old\s+)?bank",
        ),
    ),
    (  # a supplier of the household
        _any(
            r"(?:get|gets)\s+(?:my|our)\s+(?:internet|broadband|power|electricity|gas|energy)",
            r"(?:my|our)\s+(?:internet|broadband|electricity|energy|"
            r"phone\s+contract|mobile\s+contract|provider|supplier|insurance)\s+(?:is|comes)",
        ),
        _any(
            r"(?:switched|changed|new)\s+(?:\w+\s+)?(?:providers?|suppliers?|insurers?|tariffs?|carriers?)",
            r"(?:router|line|contract|fibre|meter)\s+from\s+\w+\s+(?:was|is|has|went|arrived)",
        ),
    ),
    (  # learning
        _any(
            r"student",
            rf"{_I}study(?:ing)?",
            r"phd",
            r"thesis",
            r"(?:first|second|third|fourth|final|last)\s+(?:year|semester)",
            r"at\s+uni(?:versity)?",
            r"undergrad(?:uate)?",
            r"apprentice(?:ship)?",
            r"trainee",
        ),
        _any(
            r"(?:got|have|received|picked\s+up|collected)\s+my\s+(?:degree|diploma|bachelor\S*|master\S*|doctorate|certificate)",
            r"graduat(?:ed|ion)",
            r"defended(?:\s+my\s+thesis)?",
            r"dropped\s+out",
            r"finished\s+(?:uni\w*|my\s+(?:degree|phd|studies|apprenticeship|training|thesis))",
            r"no\s+more\s+(?:lectures|exams|classes|seminars)",
            r"passed\s+my\s+(?:finals|viva|final\s+exams?)",
            r"call\s+me\s+doctor",
            r"qualified\s+as",
        ),
    ),
    (  # work
        _any(
            r"(?:i'm|am|work(?:ing)?)\s+(?:as\s+)?(?:an?|the)\s+(?:\w+\s+){0,2}(?:postman|postwoman|builder|painter|roofer|tailor|butcher|"
            r"florist|farmer|fisherman|pilot|steward|stewardess|janitor|caretaker|midwife|paramedic|doctor|dentist|vet|surgeon|"
            r"scientist|researcher|professor|architect|photographer|musician|actor|writer|banker|welder|technician|officer|"
            r"inspector|warden|ranger|judge|waiter|waitress|barista|bartender|cook|chef|baker|cashier|clerk|"
            r"receptionist|nurse|carer|teacher|tutor|lecturer|driver|courier|accountant|bookkeeper|lawyer|paralegal|engineer|developer|programmer|"
            r"designer|analyst|manager|consultant|mechanic|electrician|plumber|carpenter|gardener|librarian|pharmacist|editor|journalist|"
            r"policeman|policewoman|firefighter|soldier|salesman|saleswoman|secretary|intern|freelancer|translator|hairdresser|cleaner|guard)",
            rf"{_I}(?:run|own|keep)\s+an?\s+(?:\w+\s+)?(?:café|cafe|shop|restaurant|bar|pub|farm|business|company|agency|studio|bakery|garage)",
            r"work\s+(?:at|for|in)\s+(?:the\s+)?[A-Z]\w+",
            r"(?:looking|searching|hunting)\s+for\s+(?:a\s+(?:new\s+)?job|work)",
            r"unemployed",
            r"between\s+jobs",
            r"jobless",
            r"out\s+of\s+work",
            r"job\s+hunting",
        ),
        _any(
            r"(?:my|the)\s+last\s+(?:shift|day|working\s+day)(?:\s+(?:at|as|in)\s+\w+)?",
            r"last\s+(?:shift|round|patient|customer|lesson|working\s+day)\b",
            r"handed\s+in\s+my\s+(?:notice|badge|resignation|keys|uniform|apron)",
            r"(?:first|1st)\s+(?:day|shift|week)\s+(?:(?:survived|done|over|finished|behind\s+me)\s+)?(?:at|as|in)\s+(?:the|my|an?)",
            r"signed\s+(?:the|my|a)\s+(?:\w+\s+)?(?:contract|offer)(?!\s+for)",
            r"(?:start|started|starting|begin|began|beginning)\s+as\s+an?",
            r"(?:i|we)\s+now\s+work\s+as\s+an?",
            r"got\s+the\s+job",
            r"(?:i'm|am)\s+(?:now\s+)?(?:retired|a\s+pensioner|self-employed)",
            r"(?:i|i've|i\s+have)\s+retired",
            r"laid\s+off",
            r"made\s+redundant",
            r"got\s+(?:the\s+sack|sacked|fired|hired|promoted)",
            r"handed\s+(?:the|my|our)\s+\w+\s+(?:over\s+)?to(?!\s+(?:(?:the|my|our|a)\s+)?(?:neighbou?rs?|friends?|kids|children|wife|husband|sister|brother|mother|father|mum|mom|dad|son|daughter|girl|boy|him|her|me|us|them|you)\b)",
            r"sold\s+(?:the|my|our)\s+(?:business|shop|company|café|cafe|restaurant|bar|pub|farm)",
        ),
    ),
    (  # a home
        _any(
            rf"{_I}(?:live|living|rent|renting|lodge|lodging)\s+(?:in|on|with|at|an?)",
            r"(?:share|sharing)\s+an?\s+(?:flat|house|apartment|room)",
            r"(?:my|our)\s+(?:flat|house|apartment|room|studio)\s+is",
        ),
        _any(
            r"(?:picked\s+up|got|have|collected)\s+the\s+keys",
            r"keys\s+to\s+(?:our|my|a|the)\s+(?:own|new|house|flat|place|home|apartment|cottage)",
            r"moved\s+(?:out|house|home)",
            r"removal\s+van",
            r"first\s+night\s+in\s+(?:the|our|my)\s+(?:new|own)",
            r"(?:my|our)\s+own\s+(?:four\s+walls|place|front\s+door)",
            r"house-?warming",
            r"signed\s+the\s+lease",
            r"(?:gave|handed)\s+(?:back\s+|in\s+)?(?:the|my|our)\s+keys(?:\s+(?:back|in))?",
        ),
    ),
    (  # a child to come
        _any(rf"{_I}(?:\w+\s+)?(?:pregnant|expecting)", r"baby\s+is\s+due", r"due\s+(?:in|on)\s+\w+", r"trimester"),
        _any(
            r"(?:arrived|came\s+into\s+the\s+world|was\s+born|were\s+born|is\s+here|are\s+here)",
            r"gave\s+birth",
            r"delivered\s+(?:our|my|a)",
            r"miscarriage",
            r"lost\s+the\s+baby",
        ),
    ),
    (  # hair and beard
        _any(
            r"my\s+hair\s+is",
            r"(?:have|has|wear)\s+(?:\w+\s+){0,2}(?:hair|curls|braids|dreads|dreadlocks|ponytail|plaits)",
        ),
        _any(
            r"(?:chopped|cut|buzzed|shaved|lopped)\s+(?:it|my\s+hair|them)(?:\s+all)?(?:\s+off)?",
            r"haircut",
            r"pixie(?:\s+cut)?",
            r"buzz\s?cut",
            r"(?:dyed|bleached|coloured|colored)\s+(?:it|my\s+hair)",
            r"bald",
        ),
    ),
    (
        _any(r"(?:have|wear|grow|growing)\s+a\s+(?:\w+\s+)?(?:beard|moustache|mustache)", r"my\s+beard"),
        _any(r"clean-?shaven", r"shaved(?!\s+(?:my\s+(?:legs|head)|the\s+dog))"),
    ),
    (  # eyes
        _any(
            r"(?:wear|wears|need|needs)\s+(?:\w+\s+)?(?:glasses|contacts|contact\s+lenses)",
            r"short-?sighted",
            r"my\s+glasses",
        ),
        _any(
            r"(?:eyes?\s+(?:lasered|operated|done|fixed)|lasik|laser\s+(?:surgery|operation))",
            r"lasered",
            r"without\s+(?:my\s+)?glasses",
            r"no\s+more\s+glasses",
        ),
    ),
    (  # a way of eating
        _any(rf"{_I}(?:eat\s+(?:meat|everything)|(?:an?\s+)?(?:meat-eater|carnivore|omnivore))"),
        _any(
            r"(?:gone|went|turned|become|became)\s+(?:vegetarian|vegan|veggie|plant-based)",
            r"(?:i'm|am)\s+(?:now\s+)?an?\s+(?:vegetarian|vegan)",
        ),
    ),
    (
        _any(rf"{_I}(?:an?\s+)?(?:vegetarian|vegan|veggie|pescatarian)"),
        _any(
            r"(?:had|ate|eat|eating|enjoyed)\s+(?:an?|my\s+first|some|meat|fish|chicken)\s?(?:steak|burger|bacon|meat|chicken|sausage|ham|again|now)",
            r"(?:bacon|steak|burger|sausage|ham|chicken)\s+(?:sandwich|roll|for\s+(?:lunch|dinner|breakfast)|yesterday|again)",
            r"back\s+to\s+(?:eating\s+)?meat",
            r"eat(?:ing)?\s+meat\s+(?:again|now)",
            r"no\s+longer\s+(?:vegetarian|vegan)",
        ),
    ),
    (  # learning to drive
        _any(
            r"learning\s+to\s+drive",
            r"driving\s+lessons",
            r"learner",
            r"no\s+(?:driving\s+)?licen[cs]e",
            r"(?:can't|don't|cannot)\s+drive",
        ),
        _any(
            r"passed\s+(?:my|the)\s+(?:driving\s+)?test",
            r"(?:got|have|received)\s+(?:my|a|the)\s+(?:driving\s+|driver's\s+)?licen[cs]e",
        ),
    ),
    (  # debts
        _any(
            r"(?:have|paying\s+off|with)\s+an?\s+(?:\w+\s+)?(?:loan|mortgage|overdraft)",
            r"(?:in|have)\s+debts?",
            r"mortgage",
            r"student\s+loan",
        ),
        _any(
            r"last\s+(?:instal?ment|rate|repayment)",
            r"paid\s+(?:off|back)\s+(?:the|my|our)\s+(?:\w+\s+)?(?:loan|mortgage|debts?|bank|overdraft)",
            r"debt-?free",
        ),
    ),
    (  # a team
        _any(rf"{_I}(?:play|sing|row|skate|swim|drive|race|dance)\s+(?:for|in|with)\s+the", r"member\s+of\s+the"),
        _any(
            r"(?:signed|transferred|moved)\s+(?:with|for|to)\s+the",
            r"handed\s+in\s+my\s+resignation",
            r"(?:left|quit)\s+the\s+(?:team|club|choir|band|squad)",
            r"cancelled\s+my\s+membership",
        ),
    ),
    (  # time off
        _any(r"on\s+(?:parental|maternity|paternity|sick|study)\s+leave", r"on\s+(?:a\s+)?sabbatical"),
        _any(
            r"first\s+(?:day|week)\s+back(?!\s+for\b)",
            r"back\s+(?:at|to)\s+work",
            r"back\s+in\s+the\s+office",
        ),
    ),
    (  # getting about
        _any(r"public\s+transport", r"(?:don't|do\s+not)\s+(?:have|own)\s+a\s+car", r"(?:have|own)\s+no\s+car"),
        _any(r"(?:bought|got|have|picked\s+up)\s+(?:a|my|our)\s+(?:\w+\s+)?(?:car|van|scooter|motorbike)"),
    ),
    (  # an employer
        _any(rf"{_I}work\s+(?:for|at|with)\s+\w+"),
        _any(
            r"(?:started|founded|set\s+up|opened|launched)\s+my\s+own\s+(?:company|business|firm|practice|studio|shop|agency)",
            r"went\s+(?:freelance|self-employed|solo)",
        ),
    ),
    (  # without children, without pets
        _any(r"(?:no|don't\s+have\s+any|without)\s+(?:children|kids)", r"childless"),
        _any(
            r"became\s+a\s+(?:father|mother|dad|mum|mom|parent)",
            r"(?:i'm|am)\s+a\s+(?:father|mother|dad|mum|mom|parent)",
        ),
    ),
    (
        _any(r"(?:no|don't\s+have\s+any|without)\s+pets?"),
        _any(
            r"(?:adopted|got|bought|have|took\s+in)\s+an?\s+(?:\w+\s+)?(?:puppy|kitten|dog|cat|rabbit|hamster|parrot)"
        ),
    ),
    (  # hours of work
        _any(r"(?:work|working|on)\s+(?:the\s+)?nights?(?:\s+shifts?)?"),
        _any(r"(?:on|work|working)\s+(?:the\s+)?(?:days|earlies|lates|day\s+shifts?|early\s+shifts?|late\s+shifts?)"),
    ),
    (
        _any(r"(?:work|working|on)\s+(?:the\s+)?(?:days|earlies|lates|day\s+shifts?|early\s+shifts?|late\s+shifts?)"),
        _any(r"(?:on|work|working)\s+(?:the\s+)?nights?(?:\s+shifts?)?"),
    ),
)
"""What was said, and what ends it."""
_BIRTH: Final = next(place for place, (pattern, _) in enumerate(_FIELDS) if pattern.search("I'm expecting"))
_OTHER_ARRIVAL: Final = re.compile(
    r"(?:the|a|an|my|our|your)\s(?!(?:\w+\s)?(?:baby|babies|twins?|girl|boy|son|daughter|triplets|little|bundle|newborn)\b)\w+\s(?:\w+\s)?(?:is|are|arrived)\b",
    re.IGNORECASE,
)
"""Somebody or something else that is here: "the midwife is here"."""
_ONCE: Final = re.compile(
    r"\b(?:just\s+(?:this\s+)?once|exception|cheat|almost|nearly|dream\w*|film|movie|book|novel|series|show|want\s+to|hope|"
    r"going\s+to|would|could|should|ready\s+to|anniversary|ago\s+(?:today|this))\b",
    re.IGNORECASE,
)
"""Makes an event none, or one of another day."""
_DENIED: Final = re.compile(r"(?:\b(?:not|never|no|without|yet)|n't)\s+(?:\w+\s+)?$", re.IGNORECASE)
_AGO: Final = re.compile(r"\b(?:\d+|two|three|four|five|ten|many|some|several)\s+years\s+ago\b", re.IGNORECASE)
_PLACING: Final = frozenset({"in", "at", "to", "from", "near", "of"})
"""Behind these a name is mostly one of a place."""
_CALENDAR: Final = WEEKDAYS | frozenset(MONTHS)
_CHARS_MAX: Final = 250


def turns_a_life(earlier: str, later: str, *, is_own: bool) -> bool:
    """Returns whether an event that the later statement tells ends what the speaker had said of themselves.

    Args:
        earlier: A statement of the speaker about themselves.
        later: Another one of the same speaker.
        is_own: Whether the later one is in the first person; where it is not it must name nobody, a birth aside.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _ONCE.search(later) or _AGO.search(later):
        return False
    shared = _before(earlier) & _after(later)
    if _OTHER_ARRIVAL.match(later):
        shared -= {_BIRTH}
    return any(is_own or place == _BIRTH or _names_nobody(later, _FIELDS[place][1]) for place in shared)


@text_cache(4_096)
def _before(text: str) -> frozenset[int]:
    return frozenset(
        place
        for place, (pattern, _) in enumerate(_FIELDS)
        if (match := pattern.search(text)) is not None and not _DENIED.search(text[: match.start()])
    )


@text_cache(4_096)
def _after(text: str) -> frozenset[int]:
    return frozenset(
        place
        for place, (_, pattern) in enumerate(_FIELDS)
        if (match := pattern.search(text)) is not None and not _DENIED.search(text[: match.start()])
    )


def life_fields(text: str) -> frozenset[int]:
    """Returns the fields that a statement says something of, by number: so are statements about one found."""
    return _before(text) | _after(text) if len(text) <= _CHARS_MAX else frozenset()


def _names_nobody(text: str, event: re.Pattern[str]) -> bool:
    """Whether no name stands in a statement: no capital but those of days, months, and of the event's first word."""
    tokens = tokenize(text)
    match = event.search(text)
    is_opened = match is not None and not match.start()
    is_subject = len(tokens) > 1 and (tokens[1].lower in AUXILIARIES or lemma(tokens[1].lower) in VERBS)
    if is_subject and not is_opened and tokens[0].lower not in STOP | PRONOUNS | DETERMINERS:
        return False
    return not any(
        token.text[:1].isupper() and token.lower not in _CALENDAR and token.lower not in {"i", "i'm", "i've"}
        for before, token in pairwise(tokens)
        if before.lower not in _PLACING
    )
