# ruff: noqa: E501 - a pattern reads best on one line
"""Who somebody is, their people, and their limits."""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction.rule import (
    BE,
    COMPANY,
    GOT,
    HAVE,
    JOB,
    PET,
    PLACE,
    PROPER,
    RELATIVE,
    ROLE,
    Rule,
    rule,
)

SELF: Final[tuple[Rule, ...]] = (
    rule("has_pronouns", r"use (?P<obj>(?:she|he|they)(?:/\w+){1,2}) pronouns"),
    rule("preferred_name", rf"(?:{BE} called|go by|{BE} known as) (?P<obj>(?-i:[A-Z][\w'-]+))$"),
    rule(
        "age",
        rf"(?:{BE}|turned|{HAVE} (?:just )?turned|{HAVE} (?:just )?become) (?P<obj>1?\d{{1,2}})(?:$| years? old\b| now$| (?:today|yesterday|last \w+|this \w+)$)",
        of_others=True,
    ),
    rule("event_on", rf"{BE} (?:turning|going to be) (?P<obj>1?\d{{1,2}})(?= |$)", of_others=True),
    rule("born_in", rf"(?:was|were) born (?:and raised |and bred )?in {PLACE}", of_others=True),
    rule("birthday", r"(?:was|were) born (?:on|in) (?P<obj>.{4,40})$", of_others=True, needs_date=True),
    rule("comes_from", rf"(?:{BE} |come |comes )(?:originally )?from {PLACE}", of_others=True),
    rule(
        "comes_from",
        rf"(?:grew up|was raised|were raised) in (?P<obj>{PROPER}|an? .{{3,60}})(?=\s|,|$)",
        of_others=True,
    ),
    rule(
        "nationality",
        rf"{BE} (?:half[- ])?(?P<obj>(?-i:[A-Z][a-z]+(?:ian|ish|ese|ch|an|ic|i)))(?:$| and half)",
        of_others=True,
    ),
    rule(
        "speaks",
        r"(?:can )?speaks? (?:fluent |some |a little |a bit of )?(?P<obj>(?-i:[A-Z][a-z]+)(?:(?:, | and |, and )(?:a bit of |some )?(?-i:[A-Z][a-z]+)){0,5})",
        of_others=True,
    ),
    rule(
        "moving_to",
        rf"(?:{BE} (?:moving|relocating|going to move|planning to move)|will move|will be moving|plan to move) (?:back )?(?:from .{{2,40}} )?to {PLACE}",
        of_others=True,
    ),
    rule(
        "moved",
        rf"(?:{HAVE} )?(?:moved|relocated) (?:back )?(?:here )?(?:from (?P<origin>{PROPER}) )?(?:over |down |up |back )?to {PLACE}",
        of_others=True,
    ),
    rule(
        "moved",
        rf"(?:{HAVE} )?(?:moved|relocated) (?:back )?(?:over |down |up |back )?to {PLACE} from (?P<origin>{PROPER})",
        of_others=True,
    ),
    rule("lived_in", rf"(?:used to live|lived|was living|were living) in {PLACE}", of_others=True),
    rule(
        "lives_in",
        rf"(?:lives?|{BE} living|{BE} based|{HAVE} lived|{HAVE} been living|settled|{HAVE} settled) (?:\w+ ){{0,2}}?(?:in|near|on) {PLACE}",
        of_others=True,
    ),
    rule(
        "home_is",
        r"(?:live|lives|am living|are living|is living) (?:in|on|with|near|at) (?P<obj>(?:an?|the|my|our|two|three) .{3,80})$",
        of_others=True,
    ),
    rule(
        "left_job",
        r"(?:(?:have |has )?(?:quit|left|resigned from|retired from|stopped working (?:at|for))|was (?:laid off|fired|made redundant) (?:from|by)|got (?:laid off|fired|made redundant) (?:from|by)|no longer works? (?:at|for)|(?:do|does) not work (?:at|for)) (?:my (?:old |previous )?(?:job|position|role) (?:at|with|as) )?"
        + COMPANY.replace("my|our", "(?!)")
        + r"(?: anymore| any more)?",
        of_others=True,
    ),
    rule(
        "left_job",
        r"(?:have |has )?(?:quit|left|lost|resigned from|(?:have |has )?handed in my notice|gave (?:in )?my notice|got (?:laid off|fired|made redundant)|was (?:laid off|fired|made redundant))(?P<obj>(?: (?:my|his|her|their) (?:old |day |previous )?job(?: as an? [\w -]{3,40}| at .{3,40})?)?)(?=$| on | in | last | yesterday| today| this | at the )",
        of_others=True,
    ),
    rule("retired", r"(?:(?:have |has )?retired|am retired|is retired|are retired)\b"),
    rule(
        "starts_job",
        rf"(?:{BE} joining|{BE} starting (?:work |a (?:new )?job )?at|will join|will start at|start (?:work )?at) {COMPANY}(?: {ROLE})?",
        of_others=True,
    ),
    rule(
        "works_at",
        rf"(?:{HAVE} (?:got|landed|accepted|taken|started) an? (?:new |dream )?(?:job|position|role|offer)|got an? (?:new |dream )?(?:job|position|role)|started an? new job|landed an? (?:new )?(?:job|role)|accepted an? (?:job|offer|role|position)) (?:{ROLE} )?(?:at|with|from|for) {COMPANY}(?: {ROLE.replace('role', 'role2')})?",
        of_others=True,
    ),
    rule(
        "works_at",
        rf"(?:started (?:working |work )(?:at|for)|started at|{HAVE} started (?:at|working at|working for)) {COMPANY}(?: {ROLE})?",
        of_others=True,
    ),
    rule("works_at", rf"(?:joined|{HAVE} joined) (?P<obj>{PROPER}) {ROLE}", of_others=True),
    rule(
        "member_of",
        rf"(?:joined|{HAVE} joined|{BE} (?:now )?an? (?:proud |active )?member of) (?P<obj>(?:an?|the|my|our) [\w&' -]{{3,80}}|{PROPER})",
        of_others=True,
    ),
    rule("worked_at", rf"(?:used to work|worked|was working) (?:at|for) {COMPANY}(?: {ROLE})?", of_others=True),
    rule(
        "worked_as",
        r"(?:used to work|worked|used to be|was working) (?:as )?an? (?P<obj>[\w' -]{3,50}?)(?= at | for | in | until | before |,|$)",
        of_others=True,
    ),
    rule(
        "works_at",
        rf"(?:works?|{BE} working|{HAVE} been working|{HAVE} worked|{BE} employed|consults?|interns?) {ROLE} (?:at|for) {COMPANY}",
        of_others=True,
    ),
    rule(
        "works_at",
        rf"(?:works?|{BE} working|{HAVE} been working|{HAVE} worked|{BE} employed|{BE} interning|intern|consult) (?:full[- ]time |part[- ]time |remotely )?(?:at|for|by) {COMPANY}(?: {ROLE})?",
        of_others=True,
    ),
    rule(
        "works_as",
        rf"(?:works?|{BE} working|{HAVE} been working|{HAVE} worked|{BE} employed) (?:full[- ]time |part[- ]time )?{ROLE}",
        of_others=True,
        object_from="role",
    ),
    rule(
        "volunteers_at",
        rf"(?:volunteers?|{BE} volunteering|{HAVE} been volunteering) (?:at|for|with) (?P<obj>.{{3,80}})$",
        of_others=True,
    ),
    rule("teaches", r"teach(?:es)? (?P<obj>(?!you\b|them\b|him\b|her\b|it\b|that\b)[\w' ,-]{3,80})$", of_others=True),
    rule(
        "works_in",
        rf"(?:works?|{BE} working|{HAVE} worked|{HAVE} been working) in (?P<obj>(?!an? (?:loop|branch|way)|the (?:same|background))[\w' &-]{{3,50}})$",
        of_others=True,
    ),
    rule("works_from", r"works? (?:remotely )?from (?P<obj>home.{0,50}|my .{3,50})$"),
    rule(
        "works_as",
        r"(?P<role>(?:design|make|teach|write|build|sell|repair|fix|paint|grow|bake|train|sing|drive|clean|edit|translate|coach|run)\b.{3,60}) for a living$",
        object_from="role",
    ),
    rule(
        "works_as",
        rf"(?:{BE}|{HAVE} (?:just )?become|became|{BE} now|work as) (?:an? |the |now an? )(?:new )?{JOB}",
        of_others=True,
        object_from="role",
    ),
    rule(
        "works_as",
        r"(?:(?:have |has )?(?:just )?(?:been|got) promoted|(?:have|has) been made|was promoted) (?:to )?(?:an? |the )?(?P<role>(?!at |in |on |last |again|this )[\w' -]{3,50}?)(?= at | on | last |,|$)",
        of_others=True,
        object_from="role",
    ),
    rule(
        "studies_at",
        rf"(?:{BE} (?:an? )?(?:[\w-]+ ){{0,3}}student|study|studies|{BE} studying|{BE} doing (?:my|an?) [\w' -]{{2,30}}) at {PLACE}",
        of_others=True,
    ),
    rule(
        "studies",
        rf"(?:study|studies|{BE} studying|major in|{BE} majoring in|{BE} doing (?:my|an?) (?:phd|master's|masters|bachelor's|degree|mba|doctorate) (?:in|on)) (?P<obj>(?!for |the |this |that |hard|how )[\w' &-]{{3,60}}?)(?= at |,|$)",
        of_others=True,
    ),
    rule(
        "graduated_from",
        rf"(?:{HAVE} )?graduated (?:from|at) (?P<obj>{PROPER}|\w+ school|university|college)",
        of_others=True,
    ),
    rule(
        "has_degree",
        rf"{GOT} an? (?P<obj>(?:phd|master's|masters|bachelor's|degree|mba|doctorate|diploma)\b.{{0,60}})$",
        of_others=True,
    ),
)
PEOPLE: Final[tuple[Rule, ...]] = (
    rule(
        "relationship_status",
        rf"(?:{BE} (?:happily |recently |newly )?|got |{HAVE} got(?:ten)? |{HAVE} been )(?P<obj>married|engaged|divorced|separated|widowed|single)(?: to (?!do\b|have\b|be\b).{{2,60}})?(?=$| in | on | last | for | since | now| yesterday| this |,)",
        of_others=True,
    ),
    rule(
        "getting_married",
        rf"(?:{BE} (?:getting|going to get)|will get) (?P<obj>married|engaged)\b.{{0,80}}$",
        of_others=True,
    ),
    rule(
        "expecting",
        rf"{BE} (?P<obj>pregnant\b.{{0,60}}|expecting(?: (?:a|our|my|their|twins)\b.{{0,60}})?|having (?:a baby|twins)\b.{{0,40}})$",
        of_others=True,
    ),
    rule(
        "event",
        r"(?:had|have had|has had) (?P<obj>(?:an? |our (?:first |second |third )?)(?:baby|son|daughter|girl|boy|child)\b.{0,60})$",
        of_others=True,
    ),
    rule(
        "pet",
        rf"(?:{HAVE} )?(?:adopted|rescued|got|bought|took in|{GOT}|{HAVE} adopted|{HAVE} bought) (?P<obj>(?:an?|two|three|four|my|our)(?: (?!and\b)[\w-]+){{0,4}}? {PET}s?(?:\b.{{0,50}})?)$",
    ),
    rule(
        "family",
        rf"{GOT} (?P<obj>(?:an?|one|two|three|four|five|six|no|\d)(?: (?:older|younger|little|big|twin|small|grown-up|grown|young|beautiful|lovely|best|close|good|great|amazing))* (?P<kin>{RELATIVE})(?!'s|-| (?:appointment|visit|meeting|interview|problem|issue|call|party|shower)\b)(?:\b.{{0,80}})?)$",
        of_others=True,
    ),
    rule("lost_relative", r"lost my (?P<obj>[\w -]{3,40}?)(?= to | in | last | when |$)"),
    rule(
        "about_relative",
        r"(?P<obj>died|passed away|(?:has|have) died|(?:has|have) passed away)\b.{0,60}$",
        of_others=True,
    ),
)
LIMITS: Final[tuple[Rule, ...]] = (
    rule(
        "allergic_to",
        rf"{BE} (?:(?:badly|severely|very|mildly|deathly|highly|terribly|a bit|slightly) )?allergic to (?P<obj>.{{2,80}})$",
        of_others=True,
    ),
    rule("allergic_to", rf"{GOT} (?:an? )?(?:\w+ )?allergy to (?P<obj>.{{2,80}})$", of_others=True),
    rule(
        "allergic_to",
        rf"{GOT} (?:an? )?(?:(?:severe|bad|mild|serious|nasty) )?(?P<obj>[\w-]+(?: and [\w-]+)?) allerg(?:y|ies)\b",
        of_others=True,
    ),
    rule(
        "intolerant_to",
        rf"{BE} (?P<obj>(?:lactose|gluten|fructose|histamine|dairy)(?:-| )intolerant)\b",
        of_others=True,
    ),
    rule("intolerant_to", rf"{BE} intolerant (?:to|of) (?P<obj>.{{2,60}})$", of_others=True),
    rule(
        "follows_diet",
        rf"(?:{BE}|{HAVE} become|became|{HAVE} gone|went|{HAVE} been|{BE} going|turned|{HAVE} turned) (?:an? )?(?:strict |strictly |mostly |lifelong )?(?P<obj>vegetarian|vegan|pescatarian|pescetarian|flexitarian|keto|gluten[- ]free|dairy[- ]free|teetotal|sober)\b",
        of_others=True,
    ),
    rule(
        "follows_diet",
        r"(?:eat|keep|follow|eats|keeps|follows) (?:an? )?(?P<obj>halal|kosher|vegetarian|vegan|plant-based|gluten[- ]free|low-carb|keto)(?: diet| food)?\b",
        of_others=True,
    ),
    rule(
        "has_condition",
        rf"(?:{GOT}|suffer from|suffers from|(?:was|were|{HAVE} been|got) diagnosed with|live with) (?P<obj>(?:type [12] |chronic |mild |severe |an? )?(?:asthma|diabetes|celiac(?: disease)?|coeliac(?: disease)?|epilepsy|adhd|autism|dyslexia|arthritis|migraines?|insomnia|anxiety|depression|ibs|hay fever|eczema|a heart condition|high blood pressure|tinnitus|dyscalculia|cancer|psoriasis|endometriosis|anaemia|anemia|vertigo|back problems|a bad back|a bad knee)\b.{{0,40}})$",
        of_others=True,
    ),
    rule(
        "has_condition",
        rf"{BE} (?P<obj>diabetic|asthmatic|epileptic|dyslexic|autistic|colou?r[- ]?blind|deaf|blind|claustrophobic|coeliac|celiac|afraid of .{{3,40}}|scared of .{{3,40}}|terrified of .{{3,40}})(?=$|,| in | since | and )",
        of_others=True,
    ),
    rule(
        "carries_medication",
        rf"(?:{HAVE}(?: got)? to carry|carry|carries|take|takes|{BE} on) (?P<obj>(?:.{{0,20}})(?:adrenaline pens?|epipens?|insulin|inhaler|antihistamines|blood thinners|antidepressants|beta blockers|statins)\b.{{0,40}})$",
        of_others=True,
    ),
    rule(
        "does_not_eat",
        rf"(?:(?:do|does|did|can|may) not eat|never eats?|{HAVE} (?:stopped|quit|given up) eating|stopped eating|gave up eating|no longer eats?|{BE} not eating|{HAVE} not eaten) (?P<obj>.{{2,80}})$",
        of_others=True,
    ),
    rule(
        "does_not_drink",
        rf"(?:(?:do|does|can) not drink|never drinks?|{HAVE} (?:stopped|quit|given up) drinking|stopped drinking|gave up drinking|no longer drinks?|{BE} not drinking)(?P<obj>(?: .{{2,60}})?)$",
        of_others=True,
    ),
    rule(
        "does_not_smoke",
        rf"(?:(?:do|does) not smoke|{HAVE} (?:stopped|quit|given up) smoking|(?:stopped|quit|gave up) smoking|no longer smokes?)(?P<obj>)\b",
        of_others=True,
    ),
    rule(
        "avoids",
        rf"(?:(?:try to |have to |need to )?avoids?|{BE} avoiding|{HAVE} (?:given up|cut out|stopped buying)|gave up|steer clear of) (?P<obj>(?!it\b|this\b|that\b|the\b|using\b|having\b)[\w' ,&-]{{3,60}})$",
    ),
    rule(
        "has_budget", rf"(?:{GOT}|{BE} on) (?P<obj>an? (?:tight |small |monthly |total |limited )*budget\b.{{0,60}})$"
    ),
    rule(
        "has_budget",
        r"(?:can not|do not want to|can only) (?:spend|afford|pay) (?:to pay |to spend )?(?P<obj>(?:more than |over |up to |at most )?[£$€]?\d.{0,60})$",
    ),
    rule(
        "availability",
        rf"{BE} (?P<obj>(?:not |never |only |usually )?(?:available|free|busy) (?:on|after|before|until|from|between|during|at|every|in the) .{{3,60}})$",
    ),
    rule(
        "cannot",
        r"can not (?P<obj>(?:drive|swim|cook|ride a bike|read music|fly|climb stairs|lift .{3,30}|hear .{3,30}|work (?:on|after|before|past) .{3,40}|do (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|mornings|evenings|weekends))\b.{0,40})$",
        of_others=True,
    ),
)
