# ruff: noqa: E501 - a pattern reads best on one line
"""What somebody likes, plans, does and did."""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction.rule import BE, GOT, HAVE, PROPER, TOPIC, Rule, rule

TASTES: Final[tuple[Rule, ...]] = (
    rule(
        "dislikes",
        rf"(?:(?:do|does) not (?:really |particularly |much )?(?:like|enjoy|love|care for)(?: the taste of)?|can not (?:stand|bear|abide)|can't stand|hates?|dislikes?|detests?|loathes?|despises?|{BE} (?:not (?:really )?(?:an? )?(?:big |huge )?(?:fan of|into|keen on|fond of)|sick of|tired of|fed up with)|{HAVE} gone off|went off|{HAVE} never liked|never liked|{HAVE} had enough of) "
        + TOPIC,
        of_others=True,
    ),
    rule(
        "dislikes",
        rf"{BE} not (?:really )?(?:an?|much of an?) (?:big )?(?P<obj>[\w-]+(?: [\w-]+)?) (?:person|fan|drinker|eater)$",
        of_others=True,
    ),
    rule(
        "prefers",
        rf"(?:(?:much |would |far |strongly |generally |usually )*prefers?|{HAVE} always preferred) (?P<obj>(?!it\b|this\b|that\b|if\b|you\b|not\b).{{2,120}})$",
        of_others=True,
    ),
    rule(
        "likes",
        rf"(?:loves?|(?<!would )likes?|enjoys?|adores?|{BE} (?:into|keen on|fond of|obsessed with|crazy about|mad about|addicted to|passionate about|an? (?:big |huge |massive |real |lifelong )?(?:fan|lover) of)|{HAVE} (?:always )?(?:loved|liked|enjoyed)|(?:have |has )?(?:fallen|fell) in love with|can not (?:live|do|get by|start (?:a|the|my) day) without|always enjoys?) "
        + TOPIC,
        of_others=True,
    ),
    rule(
        "likes",
        rf"{BE} (?:an? |such an? |more of an? |very much an? )(?:big |huge |real |total |massive )?(?P<obj>(?!people|good|bad|nice|great|very|busy|new|big|huge|massive|real|total|different|night out|kind|happy|grown)[\w-]+(?: [\w-]+)?) (?:person|lover|fan|addict|enthusiast|fanatic|nerd|geek|buff)$",
        of_others=True,
    ),
)
PLANS: Final[tuple[Rule, ...]] = (
    rule(
        "signed_up_for",
        rf"(?:{HAVE} )?(?:signed up|registered|enrolled|entered|{HAVE} a place|got a place|enrolled myself) (?:for|in|on|to)? ?(?P<obj>(?!it\b|this\b|that\b|to\b|into\b|them\b|the (?:password|code|command|wrong|correct|following)).{{3,120}})$",
        looks_ahead=True,
    ),
    rule(
        "has_appointment",
        rf"(?:{GOT}|{BE} having|{BE} getting|{BE} due|had) (?P<obj>(?:an?|my|our|the|his|her|their) (?:[\w'-]+ ){{0,4}}?(?:appointment|interview|exam|operation|surgery|meeting|deadline|presentation|flight|viewing|check-?up|scan|test|reservation|party|concert|wedding|date|race|competition|tournament|audition|hearing|new knee|new hip|conference|recital|review|call|demo|match|driving test|stall|reunion|graduation|ceremony|show)\b.{{0,80}})$",
        of_others=True,
        needs_future=True,
    ),
    rule(
        "plans_to",
        rf"(?:{BE} (?:planning|hoping|aiming|thinking) (?:to|on|of|about)|{BE} planning(?= an? | my | our )|{BE} due to|plans? (?:to|on)|intends? to|(?:have |has )decided (?:to|on)|decided (?:to|on)|{HAVE} (?:booked|arranged|organised|organized|scheduled|planned)|booked|{BE} saving (?:up )?for|{BE} looking forward to) (?P<obj>(?!it\b|this\b|that\b|them\b|you\b|not (?:sure|do)\b|what\b|whether\b|how\b|go with\b|see\b|hear(?:ing)?\b|seeing it\b).{{3,140}})$",
        of_others=True,
        looks_ahead=True,
    ),
    rule(
        "plans_to",
        rf"(?:{BE} going to|will be|will) (?P<obj>(?=\w+ (?!tomorrow|tonight|today|then|next|this|on|in)\w)(?!be (?:fine|ok|okay|back|right|there|honest|able|sure|happy|glad)\b|need\b|have to\b|try\b|let\b|see\b|check\b|ask\b|assume\b|pretend\b|never\b|say\b|admit\b|probably\b|think\b|take that\b).{{3,140}})$",
        needs_future=True,
        of_others=True,
    ),
    rule(
        "plans_to",
        rf"{BE} going to (?P<obj>be an? (?:aunt|uncle|father|mother|dad|mum|mom|parent|grand\w+|godmother|godfather|best man|bridesmaid))\b",
    ),
    rule("start_date", r"starts?(?: work| there| work there)?(?= on | next | in | this | tomorrow)", needs_future=True),
    rule(
        "plans_to",
        rf"{BE} going to (?P<obj>(?:learn|study|run|visit|travel|start|open|build|write|buy|sell|move|take up|volunteer|train|launch|publish|apply|adopt|propose|retire|become|climb|cycle|hike|perform|compete)\b.{{3,120}})$",
        of_others=True,
    ),
    rule(
        "plans_to",
        rf"(?:{BE} (?P<obj>(?:flying|travelling|traveling|going|visiting|moving|starting(?! to\b)|seeing|meeting|running|attending|hosting|taking|leaving|driving|performing|playing|presenting|speaking|coming|staying|hiking|having|celebrating|launching|returning|competing|graduating|retiring|throwing|doing|opening|volunteering|getting|applying)\b.{{3,120}}))$",
        needs_future=True,
        of_others=True,
    ),
    rule(
        "plans_to",
        r"(?P<obj>(?:fly|flies|leave|leaves|start|starts|begin|begins|travel|travels|return|returns|arrive|arrives|get into|gets into|graduate|graduates|retire|move|moves)\b.{3,120})$",
        needs_future=True,
        of_others=True,
    ),
    rule(
        "must",
        rf"(?:needs? to|must|{HAVE}(?: got)? to|{BE} supposed to) (?P<obj>.{{3,120}})$",
        needs_future=True,
        of_others=True,
    ),
    rule("promised", r"(?:promised?|swore|swear|have promised|vowed) (?P<obj>(?!you\b|me\b|it\b).{4,120})$"),
    rule(
        "wants_to",
        r"(?:wants? to|would (?:love|like) to|dreams? of|have always wanted to|has always wanted to|hopes? to|always wanted to) (?P<obj>(?:learn|become|visit|travel|write|run|open|start|buy|move|study|build|get better|improve|lose|quit|climb|go to|take up|retire|adopt|have (?:kids|children)|live in|own|play|publish)\b.{3,120})$",
        of_others=True,
    ),
)
LIFE: Final[tuple[Rule, ...]] = (
    rule(
        "used_to",
        r"used to (?P<obj>(?!it\b|that\b|this\b)(?:have|own|play|love|like|hate|do|run|swim|go|smoke|drink|eat|collect|sing|dance|teach|study|ride|practi[cs]e|volunteer|write|paint|work|be|live|speak|compete|train)\b.{3,120})$",
        of_others=True,
    ),
    rule(
        "trains_for",
        rf"(?:{BE} (?:in )?training for|{HAVE} been training for|trains? for) (?P<obj>.{{3,100}})$",
        of_others=True,
    ),
    rule(
        "working_on",
        rf"(?:{BE} (?:working on|building|developing|writing|leading|running|renovating|restoring|designing|launching|organi[sz]ing|creating|setting up)|{HAVE} been (?:working on|building|developing|writing|renovating|designing|restoring)) (?P<obj>(?:an?|my|our|the) (?!(?:function|script|query|regex|loop|test|unit test|method|class|bug|same|following|error|wrong|right|mistake|change|error|fuss|note|list|joke|best|most|time|lunch|dinner|tea|cake)\b).{{3,120}})$",
        of_others=True,
    ),
    rule(
        "learning",
        rf"(?:{BE} (?:learning|teaching myself|taking (?!a (?:look|break|nap|shower)\b)(?=.*(?:lessons|course|class))|trying to learn|studying for)|{HAVE} been (?:learning|studying)|{HAVE} (?:started|taken up|begun) (?:learning )?|took up|started learning) (?P<obj>(?!a lot\b|that\b|it\b|so much\b|more about\b|to (?:feel|think|notice|see|get|wonder)\b)[\w' ,&-]{{3,80}})$",
        of_others=True,
    ),
    rule(
        "plays",
        r"plays? (?P<obj>(?:the )?(?:piano|guitar|violin|cello|drums|flute|bass|saxophone|trumpet|clarinet|ukulele|harp|chess|tennis|football|soccer|rugby|cricket|basketball|volleyball|badminton|squash|golf|hockey|padel|netball|bridge|poker|go|banjo|accordion|viola|oboe)\b.{0,60})$",
        of_others=True,
    ),
    rule(
        "goal",
        r"(?:am|is|are) (?:trying|aiming|working hard) to (?P<obj>(?:lose|gain|save|quit|give up|stop smoking|eat (?:less|more|better)|get (?:fit|in shape|better at|pregnant)|improve my|run|exercise|sleep|drink less|read more|build up|learn|become)\b.{0,80})$",
    ),
    rule(
        "habit",
        r"(?P<obj>(?:(?:go|goes) (?!(?:every|once|twice|three|four|on|each|daily|a few|several|\w+ times|\w+ mornings))|run|runs|swim|swims|cycle|cycles|hike|hikes|walk|walks|cook|cooks|bake|bakes|meditate|meditates|read|reads|train|trains|volunteer|volunteers|practi[cs]e|practi[cs]es|get up|gets up|wake up|wakes up|garden|climb|climbs|write|paint|knit|sing|dance|drink|drinks|eat|eats|commute|commutes|play|plays|call|calls|visit|visits|work|works)\b.{0,80}?\b(?:every (?:single )?(?:\w+ )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|\w+day)s?|(?:once|twice|three times|four times|five times|a few times|several times|\w+ (?:mornings|evenings|days|nights|times)) (?:a|per) (?:day|week|month|year)|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|at weekends|on weekends|each (?:day|morning|week|year|night))\b.{0,40})$",
        of_others=True,
    ),
    rule(
        "owns",
        rf"(?:owns?|{GOT}|drives?|runs?|rents?) (?P<obj>an? (?:[\w'-]+ ){{0,4}}?(?:car|van|campervan|motorbike|motorcycle|bike|bicycle|boat|house|flat|apartment|cottage|cabin|farm|garden|allotment|bakery|shop|store|café|cafe|restaurant|business|company|startup|start-up|studio|podcast|blog|newsletter|channel|piano|guitar|violin|telescope|vineyard|gallery|bookshop|tesla|electric car|motorhome|caravan|greenhouse|salon|bookstore|practice|ranch)\b(?! (?:accident|crash|problem|issue|park)).{{0,60}})$",
        of_others=True,
    ),
    rule(
        "bought",
        rf"(?:{HAVE} )?(?:bought|purchased|ordered|acquired) (?P<obj>(?:an?|my|our|the|two|three|new|some|\d)\b.{{3,100}})$",
        of_others=True,
    ),
    rule("sold", rf"(?:{HAVE} )?sold (?P<obj>(?:an?|my|our|the|his|her|their)\b.{{3,80}})$", of_others=True),
    rule(
        "applied_for",
        rf"(?:{HAVE} )?applied (?:for|to) (?P<obj>(?!it\b|this\b|that\b|the (?:fix|patch|change|migration|same)).{{3,100}})$",
        of_others=True,
    ),
    rule(
        "visited",
        rf"(?:{HAVE} )?(?:visited|went (?:with .{{2,30}} )?to|travelled to|traveled to|flew to|been to|{HAVE} been to|got back from|came back from|drove to|spent .{{3,30}} in|{HAVE} come back from|returned from|took a trip to) (?P<obj>{PROPER}\b.{{0,80}})$",
        of_others=True,
    ),
    rule(
        "attended",
        r"(?:went (?:with .{2,30} )?to|attended|have been to|saw) (?P<obj>(?:an?|the|my|our|his|her|their) (?:[\w'-]+ ){0,5}?(?:concert|wedding|conference|festival|workshop|funeral|exhibition|play|musical|party|lecture|meetup|class|ceremony|retreat|shelter|gig|parade|museum|clinic|reunion|graduation|support group)\b.{0,80})$",
        of_others=True,
    ),
    rule(
        "injured",
        rf"(?:{HAVE} )?(?:sprained|broke|twisted|tore|injured|hurt|fractured|dislocated|pulled|{HAVE} (?:broken|torn|hurt|injured)) (?P<obj>(?:my|his|her|their|an?) (?:[\w'-]+ )?(?:ankle|leg|arm|wrist|knee|shoulder|back|foot|toe|finger|hip|collarbone|rib|ribs|hand|hamstring|ligament|muscle|elbow|thumb|neck|calf|achilles)\b.{{0,60}})$",
        of_others=True,
    ),
    rule(
        "achieved",
        rf"(?:{HAVE} )?(?:won|ran|completed|passed|finished|published|graduated|launched|climbed|released|founded|started|opened|retired|got promoted|{HAVE} run) (?P<obj>(?:an?|my|our|the|his|her)?(?: ?[\w'-]+){{0,5}}? ?(?:marathon|half marathon|10k|5k|race|degree|phd|master's|thesis|exam|exams|driving test|award|prize|medal|competition|tournament|scholarship|grant|book|novel|album|business|company|startup|shop|bakery|restaurant|podcast|blog|channel|course|bootcamp|match|championship|triathlon|mountain|expedition|certification|support group|charity)\b.{{0,80}})$",
        of_others=True,
    ),
    rule(
        "event",
        rf"(?:{HAVE} )?(?:had|{HAVE} had|got|underwent|recovered from|survived) (?P<obj>(?:an? |my |our |his |her )?(?:[\w-]+ ){{0,2}}?(?:surgery|operation|accident|miscarriage|heart attack|stroke|car crash|burglary|promotion|pay rise|raise|new job|scholarship|visa|green card|citizenship|citizen|licence|license|diploma|tattoo|braces)\b.{{0,60}})$",
        of_others=True,
    ),
)
DATED: Final[tuple[Rule, ...]] = (
    rule("event", rf"(?:{HAVE} )?(?:got|been|was|were) (?P<obj>promoted)\b.{{0,60}}$", of_others=True),
    rule(
        "event",
        r"(?P<obj>(?:went|took|met|made|saw|got|had|started|signed|scored|won|lost|finished|gave|held|hosted|celebrated|painted|baked|cooked|hiked|"
        r"camped|swam|played|performed|spoke|drove|flew|found|received|donated|volunteered|helped|organi[sz]ed|graduated|fell|raised|spent|came|left|watched|"
        r"built|began|launched|opened|passed|failed|ran|walked|travelled|traveled|stayed|ate|tried|taught|sent|swapped|planted|saved|auditioned|interviewed|"
        r"learned|learnt|quit|visited|joined|attended|adopted|hurt|broke|moved(?! to (?-i:[A-Z]))|married|proposed|retired|enrolled|registered|applied|bought|sold|brought)\b"
        r"(?! (?:it|that|this|so|the (?:same|following|error|command|code|tests?|script|query))\b).{6,140})$",
        needs_date=True,
        of_others=True,
    ),
)
