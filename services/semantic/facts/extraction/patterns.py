# ruff: noqa: E501 - a pattern reads best on one line
"""The patterns of statements. Each is matched at the beginning of what follows a clause's subject.

A pattern's group `obj` is the object, `place` and `role` are parts of some. Parts marked `(?-i:...)` must begin with a
capital: names of places and companies do, and what else follows "moved to" does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from services.semantic.facts.extraction.clauses import PETS, RELATIVES

_BE: Final = r"(?:am|is|are)"
_HAVE: Final = r"(?:have|has)"
_GOT: Final = rf"{_HAVE}(?: got)?"
_PROPER: Final = r"(?-i:(?:the )?[A-Z][\w.'&-]*(?:,? (?:(?:of|upon|de|la|le|and|&) )?[A-Z&][\w.'&-]*){0,5})"
_PLACE: Final = rf"(?P<obj>{_PROPER})(?=\s|,|$)"
_COMPANY: Final = rf"(?P<obj>{_PROPER}|(?:an?|the|my|our) [\w&' -]{{3,60}}?)(?= as an? | since | for (?:the|over|about|almost|\d|a) | in (?-i:[A-Z])| now$| on |,|$)"
_ROLE: Final = r"(?:as )?(?:an?|the) (?P<role>[\w' /-]{3,50}?)(?= at | for | in | with | on |,|$)"
_ANY: Final = r"(?P<obj>.{2,140})$"
_JOB: Final = (
    r"(?P<role>(?:[\w-]+ ){0,4}?(?:[\w-]*(?:nurse|chef|cook|teacher|engineer|developer|designer|doctor|lawyer|manager|baker|writer|"
    r"consultant|analyst|scientist|programmer|architect|accountant|carpenter|electrician|plumber|journalist|photographer|"
    r"musician|artist|student|pharmacist|dentist|therapist|physio|physiotherapist|psychologist|professor|lecturer|researcher|pilot|driver|farmer|"
    r"librarian|translator|editor|producer|director|paramedic|firefighter|officer|freelancer|entrepreneur|founder|biologist|"
    r"chemist|physicist|mechanic|hairdresser|barista|waiter|waitress|bartender|gardener|surgeon|vet|veterinarian|solicitor|"
    r"barrister|midwife|tutor|administrator|technician|recruiter|economist|sommelier|actor|actress|dancer|singer|"
    r"painter|sculptor|novelist|postdoc|intern|apprentice|trainee|cashier|receptionist|secretary|civil servant|social worker|"
    r"ceo|cto|cfo))(?: (?:at|for|in|with) .{2,60})?)$"
)
_TOPIC: Final = r"(?P<obj>(?!it\b|this\b|that\b|these\b|those\b|them\b|you\b|your\b|him\b|her\b|how\b|when\b|what\b|where\b|why\b|to (?:think|say|know|see)\b|the (?:idea|sound|fact|look|way|part|one)\b).{2,120})$"
_RELATIVE: Final = rf"(?:{'|'.join(RELATIVES)}|kid|children|wife|twins?|families)s?"
_PET: Final = rf"(?:{'|'.join(PETS)})"
_TIME_AGO: Final = r"(?:for|since) "


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means."""

    predicate: str
    pattern: re.Pattern[str]
    of_others: bool = False  # also said of a relative or of somebody by name
    needs_future: bool = False  # only with a date to come
    needs_date: bool = False  # only with a date
    object_from: str = "obj"  # group that holds the object
    looks_ahead: bool = False  # dates in it lie ahead whatever the tense: "I've booked a flight on Friday"


def _rule(predicate: str, pattern: str, **options: bool | str) -> Rule:
    return Rule(predicate, re.compile(pattern, re.IGNORECASE), **options)  # type: ignore[arg-type]


_SELF: Final = (
    _rule("has_pronouns", r"use (?P<obj>(?:she|he|they)(?:/\w+){1,2}) pronouns"),
    _rule("preferred_name", rf"(?:{_BE} called|go by|{_BE} known as) (?P<obj>(?-i:[A-Z][\w'-]+))$"),
    _rule(
        "age",
        rf"(?:{_BE}|turned|{_HAVE} (?:just )?turned|{_HAVE} (?:just )?become) (?P<obj>1?\d{{1,2}})(?:$| years? old\b| now$| (?:today|yesterday|last \w+|this \w+)$)",
        of_others=True,
    ),
    _rule("event_on", rf"{_BE} (?:turning|going to be) (?P<obj>1?\d{{1,2}})(?= |$)", of_others=True),
    _rule("born_in", rf"(?:was|were) born (?:and raised |and bred )?in {_PLACE}", of_others=True),
    _rule("birthday", r"(?:was|were) born (?:on|in) (?P<obj>.{4,40})$", of_others=True, needs_date=True),
    _rule("comes_from", rf"(?:{_BE} |come |comes )(?:originally )?from {_PLACE}", of_others=True),
    _rule(
        "comes_from",
        rf"(?:grew up|was raised|were raised) in (?P<obj>{_PROPER}|an? .{{3,60}})(?=\s|,|$)",
        of_others=True,
    ),
    _rule(
        "nationality",
        rf"{_BE} (?:half[- ])?(?P<obj>(?-i:[A-Z][a-z]+(?:ian|ish|ese|ch|an|ic|i)))(?:$| and half)",
        of_others=True,
    ),
    _rule(
        "speaks",
        r"(?:can )?speaks? (?:fluent |some |a little |a bit of )?(?P<obj>(?-i:[A-Z][a-z]+)(?:(?:, | and |, and )(?:a bit of |some )?(?-i:[A-Z][a-z]+)){0,5})",
        of_others=True,
    ),
    _rule(
        "moving_to",
        rf"(?:{_BE} (?:moving|relocating|going to move|planning to move)|will move|will be moving|plan to move) (?:back )?(?:from .{{2,40}} )?to {_PLACE}",
        of_others=True,
    ),
    _rule(
        "moved",
        rf"(?:{_HAVE} )?(?:moved|relocated) (?:back )?(?:here )?(?:from (?P<origin>{_PROPER}) )?(?:over |down |up |back )?to {_PLACE}",
        of_others=True,
    ),
    _rule(
        "moved",
        rf"(?:{_HAVE} )?(?:moved|relocated) (?:back )?(?:over |down |up |back )?to {_PLACE} from (?P<origin>{_PROPER})",
        of_others=True,
    ),
    _rule("lived_in", rf"(?:used to live|lived|was living|were living) in {_PLACE}", of_others=True),
    _rule(
        "lives_in",
        rf"(?:lives?|{_BE} living|{_BE} based|{_HAVE} lived|{_HAVE} been living|settled|{_HAVE} settled) (?:\w+ ){{0,2}}?(?:in|near|on) {_PLACE}",
        of_others=True,
    ),
    _rule(
        "home_is",
        r"(?:live|lives|am living|are living|is living) (?:in|on|with|near|at) (?P<obj>(?:an?|the|my|our|two|three) .{3,80})$",
        of_others=True,
    ),
    _rule(
        "left_job",
        r"(?:(?:have |has )?(?:quit|left|resigned from|retired from|stopped working (?:at|for))|was (?:laid off|fired|made redundant) (?:from|by)|got (?:laid off|fired|made redundant) (?:from|by)|no longer works? (?:at|for)|(?:do|does) not work (?:at|for)) (?:my (?:old |previous )?(?:job|position|role) (?:at|with|as) )?"
        + _COMPANY.replace("my|our", "(?!)")
        + r"(?: anymore| any more)?",
        of_others=True,
    ),
    _rule(
        "left_job",
        r"(?:have |has )?(?:quit|left|lost|resigned from|(?:have |has )?handed in my notice|gave (?:in )?my notice|got (?:laid off|fired|made redundant)|was (?:laid off|fired|made redundant))(?P<obj>(?: (?:my|his|her|their) (?:old |day |previous )?job(?: as an? [\w -]{3,40}| at .{3,40})?)?)(?=$| on | in | last | yesterday| today| this | at the )",
        of_others=True,
    ),
    _rule("retired", r"(?:(?:have |has )?retired|am retired|is retired|are retired)\b"),
    _rule(
        "starts_job",
        rf"(?:{_BE} joining|{_BE} starting (?:work |a (?:new )?job )?at|will join|will start at|start (?:work )?at) {_COMPANY}(?: {_ROLE})?",
        of_others=True,
    ),
    _rule(
        "works_at",
        rf"(?:{_HAVE} (?:got|landed|accepted|taken|started) an? (?:new |dream )?(?:job|position|role|offer)|got an? (?:new |dream )?(?:job|position|role)|started an? new job|landed an? (?:new )?(?:job|role)|accepted an? (?:job|offer|role|position)) (?:{_ROLE} )?(?:at|with|from|for) {_COMPANY}(?: {_ROLE.replace('role', 'role2')})?",
        of_others=True,
    ),
    _rule(
        "works_at",
        rf"(?:started (?:working |work )(?:at|for)|started at|{_HAVE} started (?:at|working at|working for)) {_COMPANY}(?: {_ROLE})?",
        of_others=True,
    ),
    _rule("works_at", rf"(?:joined|{_HAVE} joined) (?P<obj>{_PROPER}) {_ROLE}", of_others=True),
    _rule(
        "member_of",
        rf"(?:joined|{_HAVE} joined|{_BE} (?:now )?an? (?:proud |active )?member of) (?P<obj>(?:an?|the|my|our) [\w&' -]{{3,80}}|{_PROPER})",
        of_others=True,
    ),
    _rule("worked_at", rf"(?:used to work|worked|was working) (?:at|for) {_COMPANY}(?: {_ROLE})?", of_others=True),
    _rule(
        "worked_as",
        r"(?:used to work|worked|used to be|was working) (?:as )?an? (?P<obj>[\w' -]{3,50}?)(?= at | for | in | until | before |,|$)",
        of_others=True,
    ),
    _rule(
        "works_at",
        rf"(?:works?|{_BE} working|{_HAVE} been working|{_HAVE} worked|{_BE} employed|consults?|interns?) {_ROLE} (?:at|for) {_COMPANY}",
        of_others=True,
    ),
    _rule(
        "works_at",
        rf"(?:works?|{_BE} working|{_HAVE} been working|{_HAVE} worked|{_BE} employed|{_BE} interning|intern|consult) (?:full[- ]time |part[- ]time |remotely )?(?:at|for|by) {_COMPANY}(?: {_ROLE})?",
        of_others=True,
    ),
    _rule(
        "works_as",
        rf"(?:works?|{_BE} working|{_HAVE} been working|{_HAVE} worked|{_BE} employed) (?:full[- ]time |part[- ]time )?{_ROLE}",
        of_others=True,
        object_from="role",
    ),
    _rule(
        "volunteers_at",
        rf"(?:volunteers?|{_BE} volunteering|{_HAVE} been volunteering) (?:at|for|with) (?P<obj>.{{3,80}})$",
        of_others=True,
    ),
    _rule("teaches", r"teach(?:es)? (?P<obj>(?!you\b|them\b|him\b|her\b|it\b|that\b)[\w' ,-]{3,80})$", of_others=True),
    _rule(
        "works_in",
        rf"(?:works?|{_BE} working|{_HAVE} worked|{_HAVE} been working) in (?P<obj>(?!an? (?:loop|branch|way)|the (?:same|background))[\w' &-]{{3,50}})$",
        of_others=True,
    ),
    _rule("works_from", r"works? (?:remotely )?from (?P<obj>home.{0,50}|my .{3,50})$"),
    _rule(
        "works_as",
        r"(?P<role>(?:design|make|teach|write|build|sell|repair|fix|paint|grow|bake|train|sing|drive|clean|edit|translate|coach|run)\b.{3,60}) for a living$",
        object_from="role",
    ),
    _rule(
        "works_as",
        rf"(?:{_BE}|{_HAVE} (?:just )?become|became|{_BE} now|work as) (?:an? |the |now an? )(?:new )?{_JOB}",
        of_others=True,
        object_from="role",
    ),
    _rule(
        "works_as",
        r"(?:(?:have |has )?(?:just )?(?:been|got) promoted|(?:have|has) been made|was promoted) (?:to )?(?:an? |the )?(?P<role>(?!at |in |on |last |again|this )[\w' -]{3,50}?)(?= at | on | last |,|$)",
        of_others=True,
        object_from="role",
    ),
    _rule(
        "studies_at",
        rf"(?:{_BE} (?:an? )?(?:[\w-]+ ){{0,3}}student|study|studies|{_BE} studying|{_BE} doing (?:my|an?) [\w' -]{{2,30}}) at {_PLACE}",
        of_others=True,
    ),
    _rule(
        "studies",
        rf"(?:study|studies|{_BE} studying|major in|{_BE} majoring in|{_BE} doing (?:my|an?) (?:phd|master's|masters|bachelor's|degree|mba|doctorate) (?:in|on)) (?P<obj>(?!for |the |this |that |hard|how )[\w' &-]{{3,60}}?)(?= at |,|$)",
        of_others=True,
    ),
    _rule(
        "graduated_from",
        rf"(?:{_HAVE} )?graduated (?:from|at) (?P<obj>{_PROPER}|\w+ school|university|college)",
        of_others=True,
    ),
    _rule(
        "has_degree",
        rf"{_GOT} an? (?P<obj>(?:phd|master's|masters|bachelor's|degree|mba|doctorate|diploma)\b.{{0,60}})$",
        of_others=True,
    ),
)
_PEOPLE: Final = (
    _rule(
        "relationship_status",
        rf"(?:{_BE} (?:happily |recently |newly )?|got |{_HAVE} got(?:ten)? |{_HAVE} been )(?P<obj>married|engaged|divorced|separated|widowed|single)(?: to (?!do\b|have\b|be\b).{{2,60}})?(?=$| in | on | last | for | since | now| yesterday| this |,)",
        of_others=True,
    ),
    _rule(
        "getting_married",
        rf"(?:{_BE} (?:getting|going to get)|will get) (?P<obj>married|engaged)\b.{{0,80}}$",
        of_others=True,
    ),
    _rule(
        "expecting",
        rf"{_BE} (?P<obj>pregnant\b.{{0,60}}|expecting(?: (?:a|our|my|their|twins)\b.{{0,60}})?|having (?:a baby|twins)\b.{{0,40}})$",
        of_others=True,
    ),
    _rule(
        "event",
        r"(?:had|have had|has had) (?P<obj>(?:an? |our (?:first |second |third )?)(?:baby|son|daughter|girl|boy|child)\b.{0,60})$",
        of_others=True,
    ),
    _rule(
        "pet",
        rf"(?:{_HAVE} )?(?:adopted|rescued|got|bought|took in|{_GOT}|{_HAVE} adopted|{_HAVE} bought) (?P<obj>(?:an?|two|three|four|my|our)(?: (?!and\b)[\w-]+){{0,4}}? {_PET}s?(?:\b.{{0,50}})?)$",
    ),
    _rule(
        "family",
        rf"{_GOT} (?P<obj>(?:an?|one|two|three|four|five|six|no|\d)(?: (?:older|younger|little|big|twin|small|grown-up|grown|young|beautiful|lovely|best|close|good|great|amazing))* (?P<kin>{_RELATIVE})(?!'s|-| (?:appointment|visit|meeting|interview|problem|issue|call|party|shower)\b)(?:\b.{{0,80}})?)$",
        of_others=True,
    ),
    _rule("lost_relative", r"lost my (?P<obj>[\w -]{3,40}?)(?= to | in | last | when |$)"),
    _rule(
        "about_relative",
        r"(?P<obj>died|passed away|(?:has|have) died|(?:has|have) passed away)\b.{0,60}$",
        of_others=True,
    ),
)
_LIMITS: Final = (
    _rule(
        "allergic_to",
        rf"{_BE} (?:(?:badly|severely|very|mildly|deathly|highly|terribly|a bit|slightly) )?allergic to (?P<obj>.{{2,80}})$",
        of_others=True,
    ),
    _rule("allergic_to", rf"{_GOT} (?:an? )?(?:\w+ )?allergy to (?P<obj>.{{2,80}})$", of_others=True),
    _rule(
        "allergic_to",
        rf"{_GOT} (?:an? )?(?:(?:severe|bad|mild|serious|nasty) )?(?P<obj>[\w-]+(?: and [\w-]+)?) allerg(?:y|ies)\b",
        of_others=True,
    ),
    _rule(
        "intolerant_to",
        rf"{_BE} (?P<obj>(?:lactose|gluten|fructose|histamine|dairy)(?:-| )intolerant)\b",
        of_others=True,
    ),
    _rule("intolerant_to", rf"{_BE} intolerant (?:to|of) (?P<obj>.{{2,60}})$", of_others=True),
    _rule(
        "follows_diet",
        rf"(?:{_BE}|{_HAVE} become|became|{_HAVE} gone|went|{_HAVE} been|{_BE} going|turned|{_HAVE} turned) (?:an? )?(?:strict |strictly |mostly |lifelong )?(?P<obj>vegetarian|vegan|pescatarian|pescetarian|flexitarian|keto|gluten[- ]free|dairy[- ]free|teetotal|sober)\b",
        of_others=True,
    ),
    _rule(
        "follows_diet",
        r"(?:eat|keep|follow|eats|keeps|follows) (?:an? )?(?P<obj>halal|kosher|vegetarian|vegan|plant-based|gluten[- ]free|low-carb|keto)(?: diet| food)?\b",
        of_others=True,
    ),
    _rule(
        "has_condition",
        rf"(?:{_GOT}|suffer from|suffers from|(?:was|were|{_HAVE} been|got) diagnosed with|live with) (?P<obj>(?:type [12] |chronic |mild |severe |an? )?(?:asthma|diabetes|celiac(?: disease)?|coeliac(?: disease)?|epilepsy|adhd|autism|dyslexia|arthritis|migraines?|insomnia|anxiety|depression|ibs|hay fever|eczema|a heart condition|high blood pressure|tinnitus|dyscalculia|cancer|psoriasis|endometriosis|anaemia|anemia|vertigo|back problems|a bad back|a bad knee)\b.{{0,40}})$",
        of_others=True,
    ),
    _rule(
        "has_condition",
        rf"{_BE} (?P<obj>diabetic|asthmatic|epileptic|dyslexic|autistic|colou?r[- ]?blind|deaf|blind|claustrophobic|coeliac|celiac|afraid of .{{3,40}}|scared of .{{3,40}}|terrified of .{{3,40}})(?=$|,| in | since | and )",
        of_others=True,
    ),
    _rule(
        "carries_medication",
        rf"(?:{_HAVE}(?: got)? to carry|carry|carries|take|takes|{_BE} on) (?P<obj>(?:.{{0,20}})(?:adrenaline pens?|epipens?|insulin|inhaler|antihistamines|blood thinners|antidepressants|beta blockers|statins)\b.{{0,40}})$",
        of_others=True,
    ),
    _rule(
        "does_not_eat",
        rf"(?:(?:do|does|did|can|may) not eat|never eats?|{_HAVE} (?:stopped|quit|given up) eating|stopped eating|gave up eating|no longer eats?|{_BE} not eating|{_HAVE} not eaten) (?P<obj>.{{2,80}})$",
        of_others=True,
    ),
    _rule(
        "does_not_drink",
        rf"(?:(?:do|does|can) not drink|never drinks?|{_HAVE} (?:stopped|quit|given up) drinking|stopped drinking|gave up drinking|no longer drinks?|{_BE} not drinking)(?P<obj>(?: .{{2,60}})?)$",
        of_others=True,
    ),
    _rule(
        "does_not_smoke",
        rf"(?:(?:do|does) not smoke|{_HAVE} (?:stopped|quit|given up) smoking|(?:stopped|quit|gave up) smoking|no longer smokes?)(?P<obj>)\b",
        of_others=True,
    ),
    _rule(
        "avoids",
        rf"(?:(?:try to |have to |need to )?avoids?|{_BE} avoiding|{_HAVE} (?:given up|cut out|stopped buying)|gave up|steer clear of) (?P<obj>(?!it\b|this\b|that\b|the\b|using\b|having\b)[\w' ,&-]{{3,60}})$",
    ),
    _rule(
        "has_budget", rf"(?:{_GOT}|{_BE} on) (?P<obj>an? (?:tight |small |monthly |total |limited )*budget\b.{{0,60}})$"
    ),
    _rule(
        "has_budget",
        r"(?:can not|do not want to|can only) (?:spend|afford|pay) (?:to pay |to spend )?(?P<obj>(?:more than |over |up to |at most )?[£$€]?\d.{0,60})$",
    ),
    _rule(
        "availability",
        rf"{_BE} (?P<obj>(?:not |never |only |usually )?(?:available|free|busy) (?:on|after|before|until|from|between|during|at|every|in the) .{{3,60}})$",
    ),
    _rule(
        "cannot",
        r"can not (?P<obj>(?:drive|swim|cook|ride a bike|read music|fly|climb stairs|lift .{3,30}|hear .{3,30}|work (?:on|after|before|past) .{3,40}|do (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|mornings|evenings|weekends))\b.{0,40})$",
        of_others=True,
    ),
)
_TASTES: Final = (
    _rule(
        "dislikes",
        rf"(?:(?:do|does) not (?:really |particularly |much )?(?:like|enjoy|love|care for)(?: the taste of)?|can not (?:stand|bear|abide)|can't stand|hates?|dislikes?|detests?|loathes?|despises?|{_BE} (?:not (?:really )?(?:an? )?(?:big |huge )?(?:fan of|into|keen on|fond of)|sick of|tired of|fed up with)|{_HAVE} gone off|went off|{_HAVE} never liked|never liked|{_HAVE} had enough of) "
        + _TOPIC,
        of_others=True,
    ),
    _rule(
        "dislikes",
        rf"{_BE} not (?:really )?(?:an?|much of an?) (?:big )?(?P<obj>[\w-]+(?: [\w-]+)?) (?:person|fan|drinker|eater)$",
        of_others=True,
    ),
    _rule(
        "prefers",
        rf"(?:(?:much |would |far |strongly |generally |usually )*prefers?|{_HAVE} always preferred) (?P<obj>(?!it\b|this\b|that\b|if\b|you\b|not\b).{{2,120}})$",
        of_others=True,
    ),
    _rule(
        "likes",
        rf"(?:loves?|(?<!would )likes?|enjoys?|adores?|{_BE} (?:into|keen on|fond of|obsessed with|crazy about|mad about|addicted to|passionate about|an? (?:big |huge |massive |real |lifelong )?(?:fan|lover) of)|{_HAVE} (?:always )?(?:loved|liked|enjoyed)|(?:have |has )?(?:fallen|fell) in love with|can not (?:live|do|get by|start (?:a|the|my) day) without|always enjoys?) "
        + _TOPIC,
        of_others=True,
    ),
    _rule(
        "likes",
        rf"{_BE} (?:an? |such an? |more of an? |very much an? )(?:big |huge |real |total |massive )?(?P<obj>(?!people|good|bad|nice|great|very|busy|new|big|huge|massive|real|total|different|night out|kind|happy|grown)[\w-]+(?: [\w-]+)?) (?:person|lover|fan|addict|enthusiast|fanatic|nerd|geek|buff)$",
        of_others=True,
    ),
)
_PLANS: Final = (
    _rule(
        "signed_up_for",
        rf"(?:{_HAVE} )?(?:signed up|registered|enrolled|entered|{_HAVE} a place|got a place|enrolled myself) (?:for|in|on|to)? ?(?P<obj>(?!it\b|this\b|that\b|to\b|into\b|them\b|the (?:password|code|command|wrong|correct|following)).{{3,120}})$",
        looks_ahead=True,
    ),
    _rule(
        "has_appointment",
        rf"(?:{_GOT}|{_BE} having|{_BE} getting|{_BE} due|had) (?P<obj>(?:an?|my|our|the|his|her|their) (?:[\w'-]+ ){{0,4}}?(?:appointment|interview|exam|operation|surgery|meeting|deadline|presentation|flight|viewing|check-?up|scan|test|reservation|party|concert|wedding|date|race|competition|tournament|audition|hearing|new knee|new hip|conference|recital|review|call|demo|match|driving test|stall|reunion|graduation|ceremony|show)\b.{{0,80}})$",
        of_others=True,
        needs_future=True,
    ),
    _rule(
        "plans_to",
        rf"(?:{_BE} (?:planning|hoping|aiming|thinking) (?:to|on|of|about)|{_BE} planning(?= an? | my | our )|{_BE} due to|plans? (?:to|on)|intends? to|(?:have |has )decided (?:to|on)|decided (?:to|on)|{_HAVE} (?:booked|arranged|organised|organized|scheduled|planned)|booked|{_BE} saving (?:up )?for|{_BE} looking forward to) (?P<obj>(?!it\b|this\b|that\b|them\b|you\b|not (?:sure|do)\b|what\b|whether\b|how\b|go with\b|see\b|hear(?:ing)?\b|seeing it\b).{{3,140}})$",
        of_others=True,
        looks_ahead=True,
    ),
    _rule(
        "plans_to",
        rf"(?:{_BE} going to|will be|will) (?P<obj>(?=\w+ (?!tomorrow|tonight|today|then|next|this|on|in)\w)(?!be (?:fine|ok|okay|back|right|there|honest|able|sure|happy|glad)\b|need\b|have to\b|try\b|let\b|see\b|check\b|ask\b|assume\b|pretend\b|never\b|say\b|admit\b|probably\b|think\b|take that\b).{{3,140}})$",
        needs_future=True,
        of_others=True,
    ),
    _rule(
        "plans_to",
        rf"{_BE} going to (?P<obj>be an? (?:aunt|uncle|father|mother|dad|mum|mom|parent|grand\w+|godmother|godfather|best man|bridesmaid))\b",
    ),
    _rule(
        "start_date", r"starts?(?: work| there| work there)?(?= on | next | in | this | tomorrow)", needs_future=True
    ),
    _rule(
        "plans_to",
        rf"{_BE} going to (?P<obj>(?:learn|study|run|visit|travel|start|open|build|write|buy|sell|move|take up|volunteer|train|launch|publish|apply|adopt|propose|retire|become|climb|cycle|hike|perform|compete)\b.{{3,120}})$",
        of_others=True,
    ),
    _rule(
        "plans_to",
        rf"(?:{_BE} (?P<obj>(?:flying|travelling|traveling|going|visiting|moving|starting(?! to\b)|seeing|meeting|running|attending|hosting|taking|leaving|driving|performing|playing|presenting|speaking|coming|staying|hiking|having|celebrating|launching|returning|competing|graduating|retiring|throwing|doing|opening|volunteering|getting|applying)\b.{{3,120}}))$",
        needs_future=True,
        of_others=True,
    ),
    _rule(
        "plans_to",
        r"(?P<obj>(?:fly|flies|leave|leaves|start|starts|begin|begins|travel|travels|return|returns|arrive|arrives|get into|gets into|graduate|graduates|retire|move|moves)\b.{3,120})$",
        needs_future=True,
        of_others=True,
    ),
    _rule(
        "must",
        rf"(?:needs? to|must|{_HAVE}(?: got)? to|{_BE} supposed to) (?P<obj>.{{3,120}})$",
        needs_future=True,
        of_others=True,
    ),
    _rule("promised", r"(?:promised?|swore|swear|have promised|vowed) (?P<obj>(?!you\b|me\b|it\b).{4,120})$"),
    _rule(
        "wants_to",
        r"(?:wants? to|would (?:love|like) to|dreams? of|have always wanted to|has always wanted to|hopes? to|always wanted to) (?P<obj>(?:learn|become|visit|travel|write|run|open|start|buy|move|study|build|get better|improve|lose|quit|climb|go to|take up|retire|adopt|have (?:kids|children)|live in|own|play|publish)\b.{3,120})$",
        of_others=True,
    ),
)
_LIFE: Final = (
    _rule(
        "used_to",
        r"used to (?P<obj>(?!it\b|that\b|this\b)(?:have|own|play|love|like|hate|do|run|swim|go|smoke|drink|eat|collect|sing|dance|teach|study|ride|practi[cs]e|volunteer|write|paint|work|be|live|speak|compete|train)\b.{3,120})$",
        of_others=True,
    ),
    _rule(
        "trains_for",
        rf"(?:{_BE} (?:in )?training for|{_HAVE} been training for|trains? for) (?P<obj>.{{3,100}})$",
        of_others=True,
    ),
    _rule(
        "working_on",
        rf"(?:{_BE} (?:working on|building|developing|writing|leading|running|renovating|restoring|designing|launching|organi[sz]ing|creating|setting up)|{_HAVE} been (?:working on|building|developing|writing|renovating|designing|restoring)) (?P<obj>(?:an?|my|our|the) (?!(?:function|script|query|regex|loop|test|unit test|method|class|bug|same|following|error|wrong|right|mistake|change|error|fuss|note|list|joke|best|most|time|lunch|dinner|tea|cake)\b).{{3,120}})$",
        of_others=True,
    ),
    _rule(
        "learning",
        rf"(?:{_BE} (?:learning|teaching myself|taking (?!a (?:look|break|nap|shower)\b)(?=.*(?:lessons|course|class))|trying to learn|studying for)|{_HAVE} been (?:learning|studying)|{_HAVE} (?:started|taken up|begun) (?:learning )?|took up|started learning) (?P<obj>(?!a lot\b|that\b|it\b|so much\b|more about\b|to (?:feel|think|notice|see|get|wonder)\b)[\w' ,&-]{{3,80}})$",
        of_others=True,
    ),
    _rule(
        "plays",
        r"plays? (?P<obj>(?:the )?(?:piano|guitar|violin|cello|drums|flute|bass|saxophone|trumpet|clarinet|ukulele|harp|chess|tennis|football|soccer|rugby|cricket|basketball|volleyball|badminton|squash|golf|hockey|padel|netball|bridge|poker|go|banjo|accordion|viola|oboe)\b.{0,60})$",
        of_others=True,
    ),
    _rule(
        "goal",
        r"(?:am|is|are) (?:trying|aiming|working hard) to (?P<obj>(?:lose|gain|save|quit|give up|stop smoking|eat (?:less|more|better)|get (?:fit|in shape|better at|pregnant)|improve my|run|exercise|sleep|drink less|read more|build up|learn|become)\b.{0,80})$",
    ),
    _rule(
        "habit",
        r"(?P<obj>(?:(?:go|goes) (?!(?:every|once|twice|three|four|on|each|daily|a few|several|\w+ times|\w+ mornings))|run|runs|swim|swims|cycle|cycles|hike|hikes|walk|walks|cook|cooks|bake|bakes|meditate|meditates|read|reads|train|trains|volunteer|volunteers|practi[cs]e|practi[cs]es|get up|gets up|wake up|wakes up|garden|climb|climbs|write|paint|knit|sing|dance|do|does|drink|drinks|eat|eats|have|has|commute|commutes|play|plays|call|calls|visit|visits|work|works)\b.{0,80}?\b(?:every (?:single )?(?:\w+ )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|\w+day)s?|(?:once|twice|three times|four times|five times|a few times|several times|\w+ (?:mornings|evenings|days|nights|times)) (?:a|per) (?:day|week|month|year)|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|at weekends|on weekends|each (?:day|morning|week|year|night))\b.{0,40})$",
        of_others=True,
    ),
    _rule(
        "owns",
        rf"(?:owns?|{_GOT}|drives?|runs?|rents?) (?P<obj>an? (?:[\w'-]+ ){{0,4}}?(?:car|van|campervan|motorbike|motorcycle|bike|bicycle|boat|house|flat|apartment|cottage|cabin|farm|garden|allotment|bakery|shop|store|café|cafe|restaurant|business|company|startup|start-up|studio|podcast|blog|newsletter|channel|piano|guitar|violin|telescope|vineyard|gallery|bookshop|tesla|electric car|motorhome|caravan|greenhouse|salon|bookstore|practice|ranch)\b(?! (?:accident|crash|problem|issue|park)).{{0,60}})$",
        of_others=True,
    ),
    _rule(
        "bought",
        rf"(?:{_HAVE} )?(?:bought|purchased|ordered|acquired) (?P<obj>(?:an?|my|our|the|two|three|new|some|\d)\b.{{3,100}})$",
        of_others=True,
    ),
    _rule("sold", rf"(?:{_HAVE} )?sold (?P<obj>(?:an?|my|our|the|his|her|their)\b.{{3,80}})$", of_others=True),
    _rule(
        "applied_for",
        rf"(?:{_HAVE} )?applied (?:for|to) (?P<obj>(?!it\b|this\b|that\b|the (?:fix|patch|change|migration|same)).{{3,100}})$",
        of_others=True,
    ),
    _rule(
        "visited",
        rf"(?:{_HAVE} )?(?:visited|went (?:with .{{2,30}} )?to|travelled to|traveled to|flew to|been to|{_HAVE} been to|got back from|came back from|drove to|spent .{{3,30}} in|{_HAVE} come back from|returned from|took a trip to) (?P<obj>{_PROPER}\b.{{0,80}})$",
        of_others=True,
    ),
    _rule(
        "attended",
        r"(?:went (?:with .{2,30} )?to|attended|have been to|saw) (?P<obj>(?:an?|the|my|our|his|her|their) (?:[\w'-]+ ){0,5}?(?:concert|wedding|conference|festival|workshop|funeral|exhibition|play|musical|party|lecture|meetup|class|ceremony|retreat|shelter|gig|parade|museum|clinic|reunion|graduation|support group)\b.{0,80})$",
        of_others=True,
    ),
    _rule(
        "injured",
        rf"(?:{_HAVE} )?(?:sprained|broke|twisted|tore|injured|hurt|fractured|dislocated|pulled|{_HAVE} (?:broken|torn|hurt|injured)) (?P<obj>(?:my|his|her|their|an?) (?:[\w'-]+ )?(?:ankle|leg|arm|wrist|knee|shoulder|back|foot|toe|finger|hip|collarbone|rib|ribs|hand|hamstring|ligament|muscle|elbow|thumb|neck|calf|achilles)\b.{{0,60}})$",
        of_others=True,
    ),
    _rule(
        "achieved",
        rf"(?:{_HAVE} )?(?:won|ran|completed|passed|finished|published|graduated|launched|climbed|released|founded|started|opened|retired|got promoted|{_HAVE} run) (?P<obj>(?:an?|my|our|the|his|her)?(?: ?[\w'-]+){{0,5}}? ?(?:marathon|half marathon|10k|5k|race|degree|phd|master's|thesis|exam|exams|driving test|award|prize|medal|competition|tournament|scholarship|grant|book|novel|album|business|company|startup|shop|bakery|restaurant|podcast|blog|channel|course|bootcamp|match|championship|triathlon|mountain|expedition|certification|support group|charity)\b.{{0,80}})$",
        of_others=True,
    ),
    _rule(
        "event",
        rf"(?:{_HAVE} )?(?:had|{_HAVE} had|got|underwent|recovered from|survived) (?P<obj>(?:an? |my |our |his |her )?(?:[\w-]+ ){{0,2}}?(?:surgery|operation|accident|miscarriage|heart attack|stroke|car crash|burglary|promotion|pay rise|raise|new job|scholarship|visa|green card|citizenship|citizen|licence|license|diploma|tattoo|braces)\b.{{0,60}})$",
        of_others=True,
    ),
)
_DATED: Final = (
    _rule("event", rf"(?:{_HAVE} )?(?:got|been|was|were) (?P<obj>promoted)\b.{{0,60}}$", of_others=True),
    _rule(
        "event",
        r"(?P<obj>(?:went|took|met|made|saw|got|had|started|signed|scored|won|lost|finished|gave|held|hosted|celebrated|painted|baked|cooked|hiked|"
        r"camped|swam|played|performed|spoke|drove|flew|found|received|donated|volunteered|helped|organi[sz]ed|graduated|fell|raised|spent|came|left|watched|"
        r"built|began|launched|opened|passed|failed|ran|walked|travelled|traveled|stayed|ate|tried|taught|sent|swapped|planted|saved|auditioned|interviewed|"
        r"learned|learnt|quit|visited|joined|attended|adopted|hurt|broke|moved|married|proposed|retired|enrolled|registered|applied|bought|sold|brought)\b"
        r"(?! (?:it|that|this|so|the (?:same|following|error|command|code|tests?|script|query))\b).{6,140})$",
        needs_date=True,
        of_others=True,
    ),
)
SPEAKER_RULES: Final[tuple[Rule, ...]] = (*_SELF, *_PEOPLE, *_LIMITS, *_PLANS, *_TASTES, *_LIFE, *_DATED)
"""What is said of oneself, the more specific first."""

OTHERS_RULES: Final[tuple[Rule, ...]] = tuple(rule for rule in SPEAKER_RULES if rule.of_others)
"""What is also taken of a relative."""

NAMED_RULES: Final[tuple[Rule, ...]] = tuple(
    rule
    for rule in OTHERS_RULES
    if rule.predicate
    in {
        "getting_married",
        "expecting",
        "relationship_status",
        "lives_in",
        "works_at",
        "moved",
        "moving_to",
        "age",
        "works_as",
        "starts_job",
        "allergic_to",
        "about_relative",
    }  # fmt: skip
)
"""What is taken of somebody by name alone: little, since a capital at the start of a clause says little."""
