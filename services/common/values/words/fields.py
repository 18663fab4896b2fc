"""Fields of life of which a person has one state at a time, and the words that say that it has changed."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.words.patterns import CachedPattern


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words.split())})(?![\w-])", re.IGNORECASE)


FIELDS: Final[dict[str, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    name: (_pattern(before), _pattern(after))
    for name, before, after in (
        (
            "job",
            (
                "(?:i'm|am|as|is|works?)\\s+(?:[\\w-]+\\s+){0,3}(?:nurse|teacher|engineer|developer|designer|waiter|waitress|cook|chef|"
                "driver|clerk|accountant|lawyer|analyst|manager|consultant|cashier|barista|mechanic|electrician|plumber|editor|"
                "journalist|librarian|pharmacist|baker|carpenter) "
                "works?\\s+(?:as|at|for|in|with|on|from|nights?|shifts?|part|full|the|here|there) my\\s+job employed "
                "intern apprentice trainee (?:night|day|early|late|morning|evening)\\s+shifts? "
                "(?:i'm|am|work|working|as)\\s+(?:an?\\s+)?(?:[\\w-]+\\s+)?freelanc(?:e|er|ing)(?!\\s+\\w) unemployed"
            ),
            (
                "quit resigned retire retired badge resignation teach teaches job hired promoted freelance freelancing "
                "laid\\s+off fired notice employer contract apron office (?:work|works|working)\\s+as\\s+an?"
            ),
        ),
        (
            "home",
            (
                "live lives living rent renting landlord lodger studio "
                "(?:my|our)\\s+(?:address|neighbourhood|flat|apartment|house) "
                "(?:own|have|share|got|in)\\s+an?\\s+(?:[\\w-]+\\s+){0,2}(?:flat|apartment|house|room)"
            ),
            (
                "(?:moved|move|moving)(?!\\s+(?:the|my|our|an?|his|her|their|it|them|some)\\b) "
                "unpacked boxes keys settled\\s+(?:in|into|down) relocated sold\\s+ours "
                "bought\\s+a\\s+(?:house|flat|apartment) new\\s+flat new\\s+place new\\s+apartment "
                "new\\s+home new\\s+house new\\s+address "
                "closed\\s+on\\s+the first\\s+night\\s+in slept\\s+(?:there|here) "
                "(?:house|flat|apartment|place|cottage|home)\\b.{0,40}\\bis\\s+(?:ours|mine)"
            ),
        ),
        (
            "school",
            "school primary kindergarten nursery year grade class college university student",
            "school high college university uniform blazer campus kindergarten graduated enrolled",
        ),
        (
            "pair",
            "single boyfriend girlfriend dating engaged fiance fiancee married husband wife partner",
            (
                "engaged wedding married divorce divorced split broke\\s+up separated proposed said\\s+yes "
                "(?:a|his|her|engagement)\\s+ring single tied\\s+the\\s+knot eloped"
            ),
        ),
        ("child", "expecting pregnant due trimester", "born baby gave\\s+birth newborn delivered miscarriage"),
        (
            "system",
            "windows linux macos debian ubuntu fedora android iphone mac",
            "windows linux macos debian ubuntu fedora android iphone mac",
        ),
        (
            "hair",
            "hair blond blonde brunette curls ponytail braids fringe",
            "haircut pixie bob buzzed shaved dyed bleached platinum buzz\\s+cut cut\\s+it\\s+off",
        ),
        (
            "diet",
            "vegetarian vegan meat pescatarian gluten dairy keto",
            "vegetarian vegan meat steak bacon burger ham sausage chicken cheese",
        ),
        (
            "vehicle",
            "drive drives car van motorbike scooter estate hatchback",
            (
                "sold(?!\\s+(?:the|my|our|an?)\\s+(?:\\w+\\s+)?(?:bike|bicycle|house|flat|boat|tent)\\b) scrapped "
                "traded\\s+in leased new\\s+car bike cargo\\s+bike cycle tram"
            ),
        ),
        (
            "workplace",
            "(?:from|in|into|at)\\s+the\\s+office commute on-?site remote remotely (?:from|at)\\s+home",
            "remote remotely (?:work|working)\\s+(?:from|at)\\s+home back\\s+in\\s+the\\s+office",
        ),
        ("smoke", "smoke smokes smoker cigarettes", "quit\\s+smoking smoke-free patches last\\s+cigarette non-smoker"),
        (
            "alcohol",
            (
                "(?:i|we)\\s+drink\\s+(?:\\w+\\s+){0,3}(?:wine|beer|whisky|gin) "
                "glass\\s+of\\s+wine (?:wine|beer)\\s+drinker"
            ),
            "sober teetotal alcohol-free stopped\\s+drinking off\\s+the\\s+booze",
        ),
        (
            "licence",
            "(?:don't|can't|cannot|not)\\s+drive driving\\s+lessons learner no\\s+licen[cs]e learning\\s+to\\s+drive",
            "passed\\s+(?:my|the)\\s+(?:driving\\s+)?test (?:my|the|a)\\s+(?:driving\\s+|driver's\\s+)?licen[cs]e",
        ),
        (
            "eyes",
            "(?:wear|wears|need|needs)\\s+(?:glasses|contacts)",
            "lasik laser\\s+(?:surgery|operation) without\\s+glasses",
        ),
        (
            "debt",
            "(?:student\\s+)?loan mortgage overdraft in\\s+debt owe owes",
            (
                "paid\\s+off(?!\\s+(?:my|the|our)\\s+(?:phone|car|laptop|bike|tv|bill|bills|sofa)\\b) "
                "paid\\s+back(?!\\s+the\\s+\\w+\\s+(?:pounds|euros|dollars|quid)\\b) debt-free "
                "last\\s+instalment last\\s+installment"
            ),
        ),
        (
            "beard",
            "beard moustache",
            "clean-shaven shaved\\s+it\\s+off shaved\\s+my razor",
        ),
        (
            "address",
            "formally formal surname title first\\s+name nickname informally",
            "formally formal surname first\\s+name nickname informally",
        ),
        (
            "instrument",
            "piano violin viola guitar cello bass harp flute clarinet oboe drums trumpet trombone saxophone organ",
            "piano violin viola guitar cello bass harp flute clarinet oboe drums trumpet trombone saxophone organ",
        ),
    )
}
"""By name: words of the earlier state, and words of the later one."""

CHANGED: Final = CachedPattern(
    r"\b(?:now|nowadays|these\s+days|no\s+longer|any\s?more|finally|at\s+last|for\s+good|instead|again|after\s+all|from\s+(?:now|today|"
    r"this|next|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|starting|last\s+day|first\s+(?:day|morning|week|night|time)|"
    r"passed|paid\s+(?:off|back)|(?:is|are)\s+(?:ours|mine)|goodbye\s+to|done\s+with|behind\s+(?:me|us)|launched|opened|"
    r"handed\s+in|gave\s+up|given\s+up|got\s+rid|sold|bought|wiped|put\b.{1,40}\bon|switched|swapped|replaced|changed|"
    r"moved|quit|resigned|signed|traded|dropped|became|become|turned|picked\s+up\s+the\s+keys|did\s+it|"
    r"we\s+got|i\s+got|was\s+born|is\s+born|tied\s+the\s+knot|eloped|got\s+(?:engaged|married|divorced)|broke\s+up|split\s+up)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Words that say that something is not as it was."""

ANNOUNCED: Final = re.compile(
    r"\b(?:changed\s+my\s+mind|change\s+of\s+(?:plan|plans|mind|heart)|(?:on|having)\s+second\s+thoughts?|new\s+(?:rule|policy|routine|arrangement)(?=[.,:!])|mistake|correction|i\s+was\s+wrong|rebooked|rescheduled|changed\s+one\s+thing|one\s+thing\s+(?:has\s+)?changed|"
    r"postponed|adapted|adjusted|updated?|replaced|renewed|new\b.{1,30}\bfrom|moved|news|actually|scratch\s+that|"
    r"wrong\s+(?:number|date|day|time)|sorry|oops|called\s+in\s+sick|did\s+it|renamed|too\s+expensive|had\s+enough|fed\s+up|storm\s+warning|cancelled|canceled|raised|lowered|"
    r"went\s+(?:up|down)|turned|birthday|party|measured|checked|rang|reorganisation|reorganization|promoted|extended|(?:a\s+)?new\s+(?:timetable|term|schedule|season|semester|school\s+year|rota|evening|rules)(?=[.,:!])|"
    r"(?:has|have|'s)\s+(?:retired|resigned|quit|emigrated)|(?:doubled|tripled)\s+(?:the|their|its)\s+prices?|went\s+(?:bust|bankrupt)|sold\s+up|burnt\s+down|burned\s+down|"
    r"shut\s+down|double[\s-]booked|new\s+(?:owner|landlord|management|boss|teacher|coach)|swapped\s+with|shuffled|reshuffled|"
    r"you\s+win)\b",
    re.IGNORECASE,
)
"""Words of a turn that announce that something in it replaces what was said before."""

ENDED: Final = CachedPattern(
    r"\b(?:dropped(?!\s+(?:(?:my|our|the)\s+)?\w+\s+(?:off\s+at|at\s+(?:school|nursery|work|training|practice|the\s+(?:station|airport|school)))\b)(?!\s+(?:on(?!\s+\w+day\b)|onto|into|to|by)\b)|withdrawn|withdrew|packed\s+it\s+in|quit|stopped(?!\s+(?:at|by|for|in|off|on|to|and)\b)|struck\s+off|took\s+off|taken\s+off|crossed\s+off|removed|cancelled|canceled|called\s+off|"
    r"gave\s+up|given\s+up|sold|scrapped|returned|died|passed\s+away|put\s+down|let\b.{1,20}\bgo|split\s+up|broke\s+up|"
    r"separated|lifted|switched\s+off|shut\s+down|closed\s+down|retired(?!\s+(?:early|hurt|to\s+(?:bed|my|his|her))\b)|decommissioned|expired|ended|is\s+over|are\s+over|"
    r"(?:is|are)\s+gone(?!\s+(?:to|out|home|into|for\s+an?)\b)|fell\s+through|moved\s+out|got\s+rid\s+of|deleted|uninstalled|traded|swapped|stolen|wrecked|shaved\s+off|threw\s+(?:away|out)|thrown\s+(?:away|out)|unsubscribed\s+from|lost|"
    r"found\s+a\s+new\s+(?:owner|home)|crossed\s+the\s+rainbow\s+bridge|put\s+to\s+sleep|sa(?:y|id)\s+goodbye\s+to|no\s+longer\s+with\s+us|no\s+more(?!\s+than\b)|(?:threw|chucked|binned|tossed)(?=\s+(?:the|my|our)\b)|came\s+off|ran\s+away|burn(?:ed|t)\s+down|torn\s+down|demolished|healed|wore\s+off|cleared\s+up|dissolved|disbanded|"
    r"terminated|(?:has|have|had)\s+left(?!\s+for\s+(?:lunch|dinner|work|school|the\s+(?:day|night|weekend|week|station|airport)|an?\b|today|now))|donated|gave\s+away|given\s+away|(?<!\bis\s)(?<!\bare\s)(?<!\bbe\s)finished|no\s+longer|(?:is|are)\s+off(?!\s+(?:sick|ill|work|duty|school|for|until|till|today|tomorrow|this|next|on|to|at|with|his|her|their|my|our)\b)|discontinued)\b",
    re.IGNORECASE,
)
"""Verbs after which what they are about is no more."""

EVENTS: Final = re.compile(
    r"\b(?:got\s+divorced|divorced|divorce\s+came\s+through|broke\s+up|split\s+up|separated|left|quit|resigned|retired|graduated|"
    r"dropped\s+out|laid\s+off|fired|sacked|made\s+redundant|handed\s+in|moved\s+(?:out|away|house)|"
    r"(?:bought|got)\s+(?:a|our\s+own|my\s+own)\s+(?:house|flat|cottage|place)|no\s+\w+\s+any\s?more|no\s+longer)\b",
    re.IGNORECASE,
)
"""What ends a job, a home or a relationship, whether it says the next one or not."""

OPPOSED: Final = tuple(
    (_pattern(one), _pattern(other))
    for one, other in (
        ("hold keep", "forward(?=\\s+(?:the|all|any|my|our|them|it)\\b) release send"),
        ("mute silence", "unmute"),
        ("enable activate", "disable deactivate"),
        ("disable deactivate", "enable activate"),
        ("add include", "remove exclude leave\\s+out"),
        ("remove exclude", "add include"),
        ("lock", "unlock"),
        ("accept", "decline"),
    )
)
"""Orders that take each other back, where they are about the same thing."""
